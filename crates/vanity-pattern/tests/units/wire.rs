use vanity_pattern::wire::*;

#[test]
fn the_fixed_characters_come_from_the_header() {
    let lowest = text(&[0; KEY_LEN]);
    let highest = text(&[0xff; KEY_LEN]);
    assert_eq!(&lowest[..FIXED.len()], FIXED.as_bytes());
    assert_eq!(&highest[..FIXED.len()], FIXED.as_bytes());
    assert_eq!(body(&lowest), &[b'A'; BODY_LEN]);
    assert_eq!(body(&highest)[0], b'P');
    assert_eq!(&body(&highest)[1..], &[b'/'; BODY_LEN - 1]);
}

/// The key is that of RFC 8032, section 7.1, test 1. The text is from ssh-keygen.
#[test]
fn the_key_of_rfc_8032_has_the_text_of_ssh_keygen() {
    let key = [
        0xd7, 0x5a, 0x98, 0x01, 0x82, 0xb1, 0x0a, 0xb7, 0xd5, 0x4b, 0xfe, 0xd3, 0xc9, 0x64, 0x07, 0x3a, 0x0e,
        0xe1, 0x72, 0xf3, 0xda, 0xa6, 0x23, 0x25, 0xaf, 0x02, 0x1a, 0x68, 0xf7, 0x07, 0x51, 0x1a,
    ];
    let known = "AAAAC3NzaC1lZDI1NTE5AAAAINdamAGCsQq31Uv+08lkBzoO4XLz2qYjJa8CGmj3B1Ea";
    assert_eq!(std::str::from_utf8(&text(&key)), Ok(known));
}

#[test]
fn each_position_shows_exactly_its_symbols() {
    for position in 0..BODY_LEN {
        let mut seen = Symbols::default();
        for value in 0..64u8 {
            let mut key = [0; KEY_LEN];
            for bit in 0..6 {
                // Body character 0 begins two bits before the key.
                let Some(at) = (6 * position + bit).checked_sub(2) else { continue };
                key[at / 8] |= (value >> (5 - bit) & 1) << (7 - at % 8);
            }
            seen = seen.or(Symbols::of(body(&text(&key))[position]));
        }
        assert_eq!(seen, Target::Key.symbols(position), "body position {position}");
    }
}

#[test]
fn windows_and_quads_are_the_values_of_the_characters() {
    let bytes: Bytes = std::array::from_fn(|at| (at as u8).wrapping_mul(0x9d).wrapping_add(0x35));
    for (target, bytes) in [Target::Key, Target::Fingerprint]
        .into_iter()
        .flat_map(|target| [(target, bytes), (target, bytes.map(|byte| !byte))])
    {
        let body = target.body(&bytes);
        let value = |position: usize| {
            let symbol = body.get(position).map_or(Symbols(1), |byte| Symbols::of(*byte));
            assert!(!symbol.and(target.symbols(position)).is_empty());
            u64::from(symbol.first().unwrap())
        };
        for start in 0..BODY_LEN {
            for count in 1..=8 {
                let expected = (start..start + count).fold(0, |window, at| window << 6 | value(at));
                assert_eq!(target.window(&bytes, start, count), expected, "{count} from {start}");
            }
        }
        for (number, quad) in target.quads(&bytes).into_iter().enumerate() {
            assert_eq!(u64::from(quad), target.window(&bytes, 4 * number, 4));
        }
    }
}

#[test]
fn the_last_character_of_a_fingerprint_has_four_bits() {
    assert_eq!(Target::Fingerprint.symbols(BODY_LEN - 1).bytes().collect::<Vec<_>>(), b"AEIMQUYcgkosw048");
    for fill in [0, 0xff, 0x5a] {
        let body = Target::Fingerprint.body(&[fill; KEY_LEN]);
        let last = Symbols::of(body[BODY_LEN - 1]);
        assert!(!last.and(Target::Fingerprint.symbols(BODY_LEN - 1)).is_empty());
    }
}

#[test]
fn the_sign_bit_changes_one_symbol() {
    for fill in 0..=0x7f {
        let clear = [fill; KEY_LEN];
        let set = with_sign(clear);
        let mut expected = *body(&text(&clear));
        let value = Symbols::of(expected[SIGN_POSITION]).first().unwrap() | SIGN_VALUE;
        expected[SIGN_POSITION] = ALPHABET[usize::from(value)];
        assert_eq!(*body(&text(&set)), expected);
        assert_eq!(with_sign(set), set);
    }
}

#[test]
fn symbols_are_listed_in_order() {
    assert_eq!(Target::Key.symbols(0).bytes().collect::<Vec<_>>(), b"ABCDEFGHIJKLMNOP");
    assert_eq!(Symbols::ALL.len(), 64);
    assert!(Symbols::of(b'=').is_empty());
    assert!(Symbols::of(b'Q').and(Target::Key.symbols(0)).is_empty());
    assert_eq!(Symbols::of(b'B').first(), Some(1));
    assert_eq!(Symbols(0).first(), None);
    assert!(Symbols::of(b'/').has(63) && !Symbols::of(b'/').has(62));
}
