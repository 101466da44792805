//! Compares the chances of literals with automata and with enumeration.

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng as _, SeedableRng as _};
use regex_syntax::hir::Hir;

use vanity_pattern::internals::{Automaton, Literal, MOST_CHARACTERS, Place, Shape, of_any, of_one};
use vanity_pattern::wire::{self, Symbols, Target};
use vanity_pattern::{Kind, MatchOptions};

const KINDS: [(Kind, Place); 4] = [
    (Kind::Anywhere, Place::Anywhere),
    (Kind::Word, Place::Anywhere),
    (Kind::Prefix, Place::Start),
    (Kind::Suffix, Place::End),
];

/// A literal, with the symbols and the place that its shape borrows.
struct Typed {
    text: String,
    options: MatchOptions,
    symbols: Vec<Symbols>,
    place: Place,
}

impl Typed {
    fn new(text: &str, (kind, place): (Kind, Place), case_sensitive: bool, leet: bool) -> Option<Self> {
        let options = MatchOptions { kind, case_sensitive, leet, target: Target::Key };
        let symbols = Literal::new(text, options).ok()?.characters();
        Some(Self { text: text.to_owned(), options, symbols, place })
    }

    fn shape(&self) -> Shape<'_> {
        Shape { symbols: &self.symbols, place: self.place }
    }
}

fn typed(text: &str, place: Place) -> Typed {
    let kind = KINDS.into_iter().rfind(|(_, of_kind)| *of_kind == place).unwrap().0;
    let kind = if kind == Kind::Word { Kind::Anywhere } else { kind };
    Typed::new(text, (kind, place), false, false).unwrap_or_else(|| panic!("{text} is refused"))
}

fn chance_of(text: &str, place: Place) -> f64 {
    of_one(&typed(text, place).shape(), &Target::Key.positions()).unwrap()
}

fn chance_of_any(list: &[Typed], positions: &[Symbols]) -> Option<f64> {
    of_any(list.iter().map(Typed::shape), positions)
}

/// Returns the positions of a body, whole and cut short, and positions that are restricted
/// elsewhere.
fn position_sets() -> Vec<Vec<Symbols>> {
    let body = Target::Key.positions().to_vec();
    let mut last = vec![Symbols::ALL; wire::BODY_LEN];
    last[wire::BODY_LEN - 1] = Symbols(0x1111_1111_1111_1111);
    let mut several = body.clone();
    several[7] = Symbols(0xffff_ffff << 20);
    several[8] = several[7];
    several[30] = Symbols(0b111 << 26);
    vec![body.clone(), body[..1].to_vec(), body[..9].to_vec(), last, several]
}

/// The automaton of a list has an error of up to 1e-13, where rational numbers agree with
/// [`of_any`] to 2e-16.
fn assert_close(found: f64, exact: f64, what: &str) {
    assert!((found - exact).abs() <= 1e-12 * exact, "{what}: {found:e} is not {exact:e}");
}

fn random_text(random: &mut ChaCha8Rng, letters: &[u8], len: usize) -> String {
    (0..len).map(|_| char::from(letters[random.next_u32() as usize % letters.len()])).collect()
}

/// Compares the chance of a text with that of its automaton, at all sets of positions.
fn assert_exact(text: &str, case_sensitive: bool, leet: bool) -> usize {
    let mut compared = 0;
    for typed in KINDS.iter().filter_map(|kind| Typed::new(text, *kind, case_sensitive, leet)) {
        let automaton = Automaton::of(&Literal::of(&typed.text, typed.options).hir()).unwrap();
        for positions in position_sets() {
            let exact = automaton.chance(&positions);
            match of_one(&typed.shape(), &positions) {
                Some(chance) => {
                    assert_close(chance, exact, text);
                    compared += 1;
                }
                None => assert!(leet || text.contains('+'), "{text} is declined"),
            }
            if let Some(chance) = chance_of_any(std::slice::from_ref(&typed), &positions) {
                assert_close(chance, exact, text);
            }
        }
    }
    compared
}

#[test]
fn words_that_overlap_themselves_are_exact() {
    for len in 1..=wire::BODY_LEN {
        for unit in ["a", "A", "ab", "aab", "abcab", "aabaaab", "+", "a+", "abracadabra"] {
            let text: String = unit.chars().cycle().take(len).collect();
            assert_exact(&text, false, false);
            assert_exact(&text, true, false);
        }
    }
}

#[test]
fn random_literals_of_all_styles_are_exact() {
    let mut random = ChaCha8Rng::from_seed([1; 32]);
    let mut compared = 0;
    for round in 0..300 {
        let letters: &[u8] = [b"ab".as_slice(), b"aAbB+", b"il1oL0", wire::ALPHABET][round % 4];
        let len = 1 + random.next_u32() as usize % [3, 10, wire::BODY_LEN][round % 3];
        let text = random_text(&mut random, letters, len);
        for (case_sensitive, leet) in [(false, false), (true, false), (false, true), (true, true)] {
            compared += assert_exact(&text, case_sensitive, leet);
        }
    }
    assert!(compared > 10_000, "{compared} comparisons");
}

/// Returns the share of all bodies that show one of `list`. Tries every body.
fn enumerated(list: &[Typed], positions: &[Symbols]) -> f64 {
    let mut bodies = vec![Vec::new()];
    for allowed in positions {
        let longer = |body: Vec<u8>| allowed.bytes().map(move |symbol| [&body[..], &[symbol]].concat());
        bodies = bodies.into_iter().flat_map(longer).collect();
    }
    let shown = bodies
        .iter()
        .filter(|body| list.iter().any(|typed| Literal::of(&typed.text, typed.options).find(body).is_some()));
    shown.count() as f64 / bodies.len() as f64
}

#[test]
fn every_short_body_is_counted() {
    let last = [Symbols::ALL, Symbols::ALL, Symbols(0x1111_1111_1111_1111)];
    let lists: [&[&str]; 9] = [
        &["a"],
        &["aa"],
        &["Q"],
        &["aba"],
        &["ab", "ba"],
        &["a", "ab", "bab"],
        &["aab", "ab", "b8"],
        &["AAA", "p", "Qx"],
        &["e", "x", "ee", "m"],
    ];
    let mut compared = 0;
    for list in lists {
        for rotation in 0..KINDS.len() {
            let kinds = KINDS.iter().cycle().skip(rotation);
            let list: Vec<Typed> = list
                .iter()
                .zip(kinds)
                .filter_map(|(text, kind)| Typed::new(text, *kind, false, false))
                .collect();
            for positions in [
                &Target::Key.positions()[..1],
                &Target::Key.positions()[..2],
                &Target::Key.positions()[..3],
                &last[1..],
                &last,
            ] {
                let exact = enumerated(&list, positions);
                assert_close(chance_of_any(&list, positions).unwrap(), exact, "together");
                if let [one] = &list[..] {
                    assert_close(of_one(&one.shape(), positions).unwrap(), exact, "alone");
                }
                compared += 1;
            }
        }
    }
    assert_eq!(compared, 9 * 4 * 5);
}

#[test]
fn lists_are_exact() {
    let mut random = ChaCha8Rng::from_seed([2; 32]);
    let mut compared = 0;
    for round in 0..200 {
        let letters: &[u8] = [b"ab".as_slice(), b"abc1", &wire::ALPHABET[..62]][round % 3];
        let mut list = Vec::new();
        for _ in 0..1 + round % 32 {
            let len = 1 + random.next_u32() as usize % 9;
            let text = random_text(&mut random, letters, len);
            let kind = KINDS[random.next_u32() as usize % KINDS.len()];
            list.extend(Typed::new(&text, kind, round % 2 == 0, false));
        }
        let union = Hir::alternation(
            list.iter().map(|typed| Literal::of(&typed.text, typed.options).hir()).collect(),
        );
        let Ok(automaton) = Automaton::of(&union) else { continue };
        for positions in position_sets() {
            let found = chance_of_any(&list, &positions).unwrap();
            assert_close(found, automaton.chance(&positions), &format!("list {round}"));
            compared += 1;
        }
    }
    assert!(compared > 500, "{compared} comparisons");
}

/// Compares with inclusion and exclusion where that is short, and with runs of letters counted by
/// length.
#[test]
fn closed_forms() {
    let any = |list: &[(&str, Place)]| {
        let list: Vec<Typed> = list.iter().map(|(text, place)| typed(text, *place)).collect();
        chance_of_any(&list, &Target::Key.positions()).unwrap()
    };
    let (start, end) = (1.0 / 16.0 / 32.0, 32f64.powi(-2));
    let disjoint = [("ab", Place::Start), ("xy", Place::End)];
    assert_close(any(&disjoint), start + end - start * end, "a prefix and a suffix");
    let a = chance_of("a", Place::Anywhere);
    assert_close(a, 1.0 - 15.0 / 16.0 * (31f64 / 32.0).powi(42), "one letter");
    let containing =
        [("xa", Place::Anywhere), ("a", Place::Anywhere), ("ab", Place::Start), ("a", Place::End)];
    assert_close(any(&containing), a, "a letter and words with it");
    assert_close(any(&[("aba", Place::End), ("aba", Place::End)]), 32f64.powi(-3), "the same twice");
    assert_close(any(&[]), 0.0, "nothing");

    let letters = || (b'a'..=b'z').map(char::from);
    let pairs = || letters().flat_map(move |first| letters().map(move |second| format!("{first}{second}")));
    let triples = || pairs().flat_map(move |pair| letters().map(move |third| format!("{pair}{third}")));
    let list: Vec<Typed> = triples().map(|text| typed(&text, Place::Anywhere)).collect();
    // The chance that the body ends with 0, 1 or 2 letters in a row, and has not shown three.
    let mut run = [1.0, 0.0, 0.0];
    for position in 0..wire::BODY_LEN {
        let letter = if position == 0 { 1.0 } else { 52.0 / 64.0 };
        run = [run.iter().sum::<f64>() * (1.0 - letter), run[0] * letter, run[1] * letter];
    }
    let exact = 1.0 - run.iter().sum::<f64>();
    assert_close(chance_of_any(&list, &Target::Key.positions()).unwrap(), exact, "three letters");
    let list: Vec<Typed> =
        triples().filter(|text| text.as_bytes()[0] <= b'p').map(|text| typed(&text, Place::Start)).collect();
    let exact = (52f64 / 64.0).powi(2);
    assert_close(
        chance_of_any(&list, &Target::Key.positions()).unwrap(),
        exact,
        "three letters to begin with",
    );
}

#[test]
fn a_literal_longer_than_the_body_is_never_shown() {
    let symbols = [Symbols::of(b'A'); wire::BODY_LEN + 1];
    for place in [Place::Anywhere, Place::Start, Place::End] {
        let shape = || Shape { symbols: &symbols, place };
        assert_eq!(of_one(&shape(), &Target::Key.positions()), Some(0.0));
        assert_eq!(of_any(std::iter::once(shape()), &Target::Key.positions()), Some(0.0));
    }
}

#[test]
fn sets_that_overlap_in_part_have_no_chance() {
    let leet = |text| Typed::new(text, KINDS[0], false, true).unwrap();
    let of_leet = |text| of_one(&leet(text).shape(), &Target::Key.positions());
    assert_eq!(of_leet("ill"), None);
    assert!(of_leet("will").is_some(), "no two ends of it agree");
    assert!(of_leet("lol").is_some(), "its ends agree wholly");
    assert_eq!(chance_of_any(&[leet("will")], &Target::Key.positions()), None);
    assert_eq!(chance_of_any(&[leet("lot"), leet("1")], &Target::Key.positions()), None);
    let sensitive = Typed::new("a", KINDS[0], true, false).unwrap();
    assert_eq!(chance_of_any(&[sensitive, typed("a", Place::End)], &Target::Key.positions()), None);
}

#[test]
fn too_many_characters_are_declined() {
    let symbols = [Symbols::of(b'A'); 8];
    let many = |len| (0..len).map(|_| Shape { symbols: &symbols, place: Place::Anywhere });
    assert!(of_any(many(MOST_CHARACTERS / 8), &Target::Key.positions()).is_some());
    assert_eq!(of_any(many(MOST_CHARACTERS / 8 + 1), &Target::Key.positions()), None);
    assert_eq!(of_any(many(usize::MAX), &Target::Key.positions()), None);
}
