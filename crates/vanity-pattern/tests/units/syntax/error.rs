use regex_syntax::hir::{Class, HirKind};

use vanity_pattern::internals::quoted;

/// Characters of these categories can control a terminal.
#[test]
fn a_quoted_character_cannot_control_a_terminal() {
    assert_eq!(['ö', '\'', '\\', '"'].map(quoted), ["'ö'", "'''", r"'\'", "'\"'"]);
    let class = regex_syntax::parse(r"[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]").unwrap();
    let HirKind::Class(Class::Unicode(class)) = class.kind() else { panic!("{class:?}") };
    for char in class.iter().flat_map(|range| range.start()..=range.end()) {
        assert!(quoted(char).starts_with(r"'\"), "{char:?}");
    }
}
