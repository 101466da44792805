//! Words of sentences: numbers, lists, and lines that are broken between words.

use console::measure_text_width;

use crate::wire;

/// Returns a number and its noun: `1 key`, `2 keys`, `1,000 keys`. `one` is the singular.
#[must_use]
pub fn counted(number: u64, one: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{} {one}s", grouped(number)) }
}

/// Returns `is` after one thing, and `are` after any other number of things.
#[must_use]
pub fn are(number: u64) -> &'static str {
    if number == 1 { "is" } else { "are" }
}

/// Returns a whole number with commas between groups of three digits.
#[must_use]
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Returns a list in words: `ann, bob and eve`. `last` is the word before the last one.
#[must_use]
pub fn listed(names: &[String], last: &str) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [others @ .., name] => format!("{} {last} {name}", others.join(", ")),
    }
}

/// The fewest columns for which lines are broken.
const LEAST_WIDTH: usize = 40;

/// Returns text whose lines are broken between words, so that none is wider than `width` if its words
/// allow it. Lines that people copy stay whole: indented ones, and the text of keys.
#[must_use]
pub fn broken(text: &str, width: Option<usize>) -> String {
    let is_whole = |line: &str| line.starts_with([' ', '-']) || line.starts_with(wire::ALGORITHM);
    let break_line = |line: &str| match width {
        Some(width) if width >= LEAST_WIDTH && !is_whole(line) && measure_text_width(line) > width => {
            let mut rows: Vec<String> = Vec::new();
            for word in line.split(' ') {
                match rows.last_mut() {
                    Some(row) if measure_text_width(row) + 1 + measure_text_width(word) <= width => {
                        *row += " ";
                        *row += word;
                    }
                    _ => rows.push(word.to_owned()),
                }
            }
            rows.join("\n")
        }
        _ => line.to_owned(),
    };
    let lines: Vec<String> = text.split('\n').map(break_line).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_and_counted() {
        let numbers = [0, 7, 999, 1000, 12_345, 1_234_567].map(grouped);
        assert_eq!(numbers, ["0", "7", "999", "1,000", "12,345", "1,234,567"]);
        assert_eq!(
            [0, 1, 2, 1000].map(|number| counted(number, "key")),
            ["0 keys", "1 key", "2 keys", "1,000 keys"]
        );
    }

    #[test]
    fn names_are_listed_in_words() {
        let names = ["ann", "bob", "eve"].map(str::to_owned);
        assert_eq!(
            [0, 1, 2, 3].map(|number| listed(&names[..number], "and")),
            ["", "ann", "ann and bob", "ann, bob and eve"]
        );
    }

    #[test]
    fn lines_are_broken_between_words() {
        let bold = format!("{}: {}", "\x1b[1mabc\x1b[0m", "a ".repeat(17));
        let key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5 a b c d e f g";
        for (text, width, expected) in [
            (
                "hint: use fewer threads, or a smaller table\nab\n",
                Some(40),
                "hint: use fewer threads, or a smaller\ntable\nab\n",
            ),
            (&format!("{} b", "a".repeat(50)), Some(40), &format!("{}\nb", "a".repeat(50))),
            (&format!("  {} b", "a".repeat(50)), Some(40), &format!("  {} b", "a".repeat(50))),
            (key, Some(40), key),
            ("a b c", Some(2), "a b c"),
            ("a b c", None, "a b c"),
            (&bold, Some(40), &bold),
        ] {
            assert_eq!(broken(text, width), expected);
        }
    }
}
