use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng as _, SeedableRng as _};

use vanity_pattern::internals::Literal;
use vanity_pattern::wire::{self, BODY_LEN, Bytes};
use vanity_pattern::{Kind, MatchOptions};

/// Returns whether a body shows the text at `start`, by the definition of the options.
fn is_shown(text: &str, options: MatchOptions, body: &str, start: usize) -> bool {
    let fits = |(typed, seen): (char, char)| {
        let as_digit = "a4 b8 e3 g9 i1 l1 o0 s5 t7 z2"
            .split(' ')
            .any(|pair| pair.starts_with(typed.to_ascii_lowercase()) && pair.ends_with(seen));
        let other_case = !options.case_sensitive && typed.eq_ignore_ascii_case(&seen);
        typed == seen || other_case || options.leet && as_digit
    };
    let (before, rest) = body.split_at(start);
    let Some((shown, after)) = rest.split_at_checked(text.len()) else { return false };
    let stands = match options.kind {
        Kind::Prefix => before.is_empty(),
        Kind::Suffix => after.is_empty(),
        Kind::Word => before.ends_with(['+', '/']) && after.starts_with(['+', '/']),
        _ => true,
    };
    stands && text.chars().zip(shown.chars()).all(fits)
}

#[test]
fn a_text_is_found_at_the_first_place_that_shows_it() {
    let mut random = ChaCha8Rng::from_seed([4; 32]);
    let mut below = |end: usize| random.next_u32() as usize % end;
    let mut shown = 0;
    for text in ["A", "x", "xA", "ax7", "+x", "s4+"] {
        for kind in [Kind::Anywhere, Kind::Prefix, Kind::Suffix, Kind::Word] {
            for reading in 0..4 {
                let options = MatchOptions {
                    kind,
                    case_sensitive: reading & 1 == 1,
                    leet: reading & 2 == 2,
                    ..MatchOptions::default()
                };
                let literal = Literal::of(text, options);
                for _ in 0..100 {
                    // The bodies have so few different characters that they often show a text,
                    // at the ends as well.
                    let body: String = std::iter::once('A')
                        .chain((1..BODY_LEN).map(|_| char::from(b"xXaAsS457+/"[below(11)])))
                        .collect();
                    let blob = STANDARD_NO_PAD.decode([wire::FIXED, &body].concat()).unwrap();
                    let bytes: &Bytes = blob.last_chunk().unwrap();
                    let starts: Vec<usize> =
                        (0..BODY_LEN).filter(|start| is_shown(text, options, &body, *start)).collect();
                    for start in 0..BODY_LEN {
                        let expected = starts.contains(&start);
                        assert_eq!(
                            literal.stands(bytes, start),
                            expected,
                            "{text} {options:?} at {start} of {body}"
                        );
                    }
                    let first = starts.first().map(|start| *start..start + text.len());
                    assert_eq!(literal.find(body.as_bytes()), first, "{text} {options:?} in {body}");
                    shown += starts.len();
                }
            }
        }
    }
    assert!(shown > 5000, "{shown}");
}
