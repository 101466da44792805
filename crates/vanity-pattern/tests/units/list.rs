use vanity_pattern::{Kind, Lines, MatchOptions, Pattern, firsts};

/// Returns the kind and the pattern of a line, with `--suffix` on the command line.
fn read(line: &str) -> Option<(Kind, &str)> {
    let options = MatchOptions { kind: Kind::Suffix, ..MatchOptions::default() };
    let mut lines = Lines::new(line, options);
    let read = lines.next().map(|line| (line.options.kind, line.pattern));
    assert!(lines.next().is_none());
    read
}

#[test]
fn a_line_can_name_its_kind() {
    assert_eq!(read("abc"), Some((Kind::Suffix, "abc")));
    assert_eq!(read("  prefix:abc\r"), Some((Kind::Prefix, "abc")));
    assert_eq!(read("anywhere: abc"), Some((Kind::Anywhere, "abc")));
    assert_eq!(read("regex:a:b"), Some((Kind::Regex, "a:b")));
    assert_eq!(read("word:"), Some((Kind::Word, "")));
    assert_eq!(read("prefix:suffix:abc"), Some((Kind::Prefix, "suffix:abc")));
    for other in ["Prefix:abc", "prefix :abc", "sufix:abc", "a:b", ":", "prefix"] {
        assert_eq!(read(other), Some((Kind::Suffix, other)));
    }
    for nothing in ["", " \t\r", "#", "  # prefix:abc"] {
        assert_eq!(read(nothing), None);
    }
}

#[test]
fn a_list_numbers_its_lines() {
    let lines = Lines::new("\u{feff}ab\n\n# c\r\n  word:d \n", MatchOptions::default());
    let lines: Vec<_> =
        lines.map(|line| (line.number, line.written, line.pattern, line.names_kind)).collect();
    assert_eq!(lines, [(1, "ab", "ab", false), (4, "  word:d", "d", true)]);
}

#[test]
fn the_first_of_equal_patterns_stands_for_them() {
    let patterns =
        ["ab", "c", "aB", "C", "ab"].map(|text| Pattern::new(text, MatchOptions::default()).unwrap());
    assert_eq!(firsts(&patterns), [0, 1, 0, 1, 0]);
}
