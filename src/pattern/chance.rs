//! The exact chance of literals, of one or of any of many, without an automaton for each.
//!
//! A body is read from the left. The *clear* mass of a prefix of the literal, at some position, is the chance that the
//! body ends in this prefix there and has not shown the literal so far. One position on, the clear mass of a prefix
//! becomes that of the prefix one longer, times the share of the symbols that its last character may be. What arrives
//! at the whole literal is shown for the first time; it is clear no longer, and is taken off every prefix that the
//! literal ends with (its *borders*), the empty prefix among them. All that was taken off is the chance.
//!
//! Of many literals the prefixes form a trie, whose failure links lead through the borders. A literal that contains
//! another one adds nothing and is left out; of the others no two are shown first at one position.
//!
//! Subtracting does no harm here. A clear mass is computed to some units in the last place of the chance that the
//! prefix stands there at all. Such an error travels on as a mass does, and no more than all of it is ever shown; so
//! the result is wrong by some units in the last place of the mean number of positions at which a literal ends. As
//! there are 43 positions, that is at most 43 times the chance.
//!
//! The cost: 0.4 microseconds for a literal of 4 to 8 characters, where its automaton takes 75. For 10,000 words
//! together it is 12 ms, for 100,000 it is 140, and twice as much with every core busy.
//!
//! Sources: Aho and Corasick, "Efficient string matching" (1975), for the trie and its links; Guibas and Odlyzko,
//! "String overlaps, pattern matching, and nontransitive games" (1981), for the equation.

use std::ops::Range;

use crate::wire::{self, Symbols};

/// A literal as its odds see it: the symbols that each character may be, and where it may stand.
#[derive(Clone, Copy)]
pub(super) struct Shape<'a> {
    /// At least one set.
    pub(super) symbols: &'a [Symbols],
    pub(super) place: Place,
}

/// Where in the body a literal may stand. A word stands anywhere, and its delimiters are characters of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    Anywhere,
    Start,
    End,
}

/// The exact chance that a body with these symbols at its positions (43 at most, each drawn evenly) shows the literal.
///
/// `None` where the literal may overlap itself with some symbols and not with others: "ill" with `--leet`, as 1 is both
/// its first and its last character, and a word such as "+a", as `+` also delimits it.
pub(super) fn of(shape: &Shape, positions: &[Symbols]) -> Option<f64> {
    let len = shape.symbols.len();
    let Some(last) = positions.len().checked_sub(len) else { return Some(0.0) };
    match shape.place {
        Place::Anywhere => anywhere(shape.symbols, positions),
        Place::Start => Some(at_once(shape.symbols, positions)),
        Place::End => Some(at_once(shape.symbols, &positions[last..])),
    }
}

/// The chance that each symbol is in its set.
fn at_once(symbols: &[Symbols], positions: &[Symbols]) -> f64 {
    symbols.iter().zip(positions).map(|(set, allowed)| share(*set, *allowed)).product()
}

/// The chance that a symbol drawn evenly from `allowed` is in `set`.
fn share(set: Symbols, allowed: Symbols) -> f64 {
    f64::from(set.and(allowed).len()) / f64::from(allowed.len())
}

fn anywhere(symbols: &[Symbols], positions: &[Symbols]) -> Option<f64> {
    let len = symbols.len();
    let mut borders = [0; wire::BODY_LEN];
    let mut count = 0;
    for border in 0..len {
        if is_border(symbols, border)? {
            borders[count] = border;
            count += 1;
        }
    }
    // The clear mass of the first so many characters.
    let mut clear = [0.0; wire::BODY_LEN + 1];
    clear[0] = 1.0;
    let mut shares = [0.0; wire::BODY_LEN];
    let mut before = Symbols::default();
    let mut shown = 0.0;
    for &allowed in positions {
        if allowed != before {
            for (share, set) in shares.iter_mut().zip(symbols) {
                *share = self::share(*set, allowed);
            }
            before = allowed;
        }
        for at in (0..len).rev() {
            clear[at + 1] = clear[at] * shares[at];
        }
        let first = clear[len];
        shown += first;
        for &border in &borders[..count] {
            clear[border] -= first;
        }
        clear[0] = 1.0 - shown;
    }
    Some(shown)
}

/// Whether the last `len` characters are the first ones as well; `None` where only some of their symbols agree.
fn is_border(symbols: &[Symbols], len: usize) -> Option<bool> {
    let mut pairs = symbols.iter().zip(&symbols[symbols.len() - len..]);
    if pairs.clone().any(|(left, right)| left.and(*right).is_empty()) {
        return Some(false);
    }
    pairs.all(|(left, right)| left == right).then_some(true)
}

/// The most characters of all literals together whose common chance is computed: 120,000 words, in 0.36 s with
/// every core busy.
pub(super) const MOST_CHARACTERS: usize = 800_000;

/// The edges of a body, as two more symbols beside the 64: one is read before the body and one after it.
const START: u8 = 64;
const END: u8 = 65;
const WITH_EDGES: usize = 66;

/// The exact chance that a body with these symbols at its positions (each drawn evenly) shows at least one of the
/// literals.
///
/// `None` where they have more than [`MOST_CHARACTERS`], or two characters that share some symbols but not all.
pub(super) fn of_any<'a>(
    shapes: impl Iterator<Item = Shape<'a>> + Clone,
    positions: &[Symbols],
) -> Option<f64> {
    let characters = shapes.clone().try_fold(0, |sum, shape| {
        let sum = sum + shape.symbols.len() + usize::from(shape.place != Place::Anywhere);
        (sum <= MOST_CHARACTERS).then_some(sum)
    })?;
    let mut alphabet = Alphabet([Symbols::default(); 64]);
    let mut literals = shapes.map(|shape| alphabet.spell(&shape)).collect::<Option<Vec<_>>>()?;
    literals.sort_unstable();
    literals.dedup();

    let body = positions.iter().map(|allowed| alphabet.shares(*allowed));
    let edge =
        |edge: u8| std::iter::once(std::array::from_fn(|letter| f64::from(letter == usize::from(edge))));
    Some(Trie::new(&literals, characters).chance(edge(START).chain(body).chain(edge(END))))
}

/// Sets of symbols that have none in common, as letters to spell literals with. A set's letter is the value of its
/// lowest symbol.
struct Alphabet([Symbols; 64]);

impl Alphabet {
    /// The literal in letters and edges.
    fn spell(&mut self, shape: &Shape) -> Option<Vec<u8>> {
        let mut spelled = Vec::with_capacity(shape.symbols.len() + 1);
        spelled.extend((shape.place == Place::Start).then_some(START));
        for &set in shape.symbols {
            spelled.push(self.letter(set)?);
        }
        spelled.extend((shape.place == Place::End).then_some(END));
        Some(spelled)
    }

    /// The letter of a set; `None` if it is empty, or shares some symbols with another one.
    fn letter(&mut self, set: Symbols) -> Option<u8> {
        let letter = set.0.trailing_zeros();
        let known = *self.0.get(letter as usize)?;
        if known.is_empty() && self.0.iter().all(|other| other.and(set).is_empty()) {
            self.0[letter as usize] = set;
        } else if known != set {
            return None;
        }
        Some(letter as u8)
    }

    /// The chance of each letter where these symbols are drawn evenly; neither edge is among them.
    fn shares(&self, allowed: Symbols) -> [f64; WITH_EDGES] {
        let letter = |letter: usize| self.0.get(letter).map_or(0.0, |set| share(*set, allowed));
        std::array::from_fn(letter)
    }
}

/// The prefixes of many literals.
struct Trie {
    /// The shorter ones first, and those of one length in the order of their letters.
    nodes: Vec<Node>,
    /// The nodes of the literals that contain no other.
    ends: Vec<u32>,
}

#[derive(Clone, Copy, Default)]
struct Node {
    /// The prefix one shorter.
    parent: u32,
    /// The letter it lacks.
    letter: u8,
    /// The failure link: the longest node that this one ends with, itself excepted.
    fail: u32,
}

/// The empty prefix.
const ROOT: u32 = 0;

/// How many terms are added up at a time, so that the rounding errors of a million do not pile up.
const TERMS: usize = 1024;

impl Trie {
    /// The trie of sorted literals with no two alike, which have so many characters.
    fn new(literals: &[Vec<u8>], characters: usize) -> Self {
        let mut nodes = Vec::with_capacity(characters + 1);
        nodes.push(Node::default());
        // Where each literal has arrived.
        let mut at = vec![ROOT; literals.len()];
        for depth in 0..literals.iter().map(Vec::len).max().unwrap_or(0) {
            let shorter = nodes.len();
            for (literal, at) in literals.iter().zip(&mut at) {
                let Some(&letter) = literal.get(depth) else { continue };
                let known =
                    nodes[shorter..].last().is_some_and(|last| (last.parent, last.letter) == (*at, letter));
                if !known {
                    nodes.push(Node { parent: *at, letter, fail: ROOT });
                }
                *at = (nodes.len() - 1) as u32;
            }
        }
        let mut trie = Self { nodes, ends: at };
        trie.link();
        trie.leave_out_containing();
        trie
    }

    /// Sets the failure links, those of shorter nodes first.
    fn link(&mut self) {
        // The children of a node stand side by side.
        let mut children: Vec<Range<usize>> = vec![0..0; self.nodes.len()];
        for (index, node) in self.nodes.iter().enumerate().skip(1) {
            let children = &mut children[node.parent as usize];
            let first = if children.end == 0 { index } else { children.start };
            *children = first..index + 1;
        }
        for index in 1..self.nodes.len() {
            let Node { parent, letter, .. } = self.nodes[index];
            let mut at = parent;
            while at != ROOT {
                at = self.nodes[at as usize].fail;
                let children = children[at as usize].clone();
                let child = self.nodes[children.clone()].binary_search_by_key(&letter, |child| child.letter);
                if let Ok(child) = child {
                    self.nodes[index].fail = (children.start + child) as u32;
                    break;
                }
            }
        }
    }

    /// Leaves out the literals that contain another one.
    fn leave_out_containing(&mut self) {
        // Whether a literal is in the node, which then is that literal or has it in its parent or its failure link.
        let mut holds = vec![false; self.nodes.len()];
        for &end in &self.ends {
            holds[end as usize] = true;
        }
        for (index, node) in self.nodes.iter().enumerate().skip(1) {
            holds[index] |= holds[node.parent as usize] | holds[node.fail as usize];
        }
        self.ends.retain(|&end| {
            let Node { parent, fail, .. } = self.nodes[end as usize];
            !holds[parent as usize] && !holds[fail as usize]
        });
    }

    /// The chance that one of the literals is shown by letters of these chances.
    fn chance(&self, positions: impl Iterator<Item = [f64; WITH_EDGES]>) -> f64 {
        let mut clear = vec![0.0; self.nodes.len()];
        clear[0] = 1.0;
        let mut shown = 0.0;
        for shares in positions {
            for (index, node) in self.nodes.iter().enumerate().skip(1).rev() {
                clear[index] = clear[node.parent as usize] * shares[usize::from(node.letter)];
            }
            for ends in self.ends.chunks(TERMS) {
                let mut sum = 0.0;
                for &end in ends {
                    let first = clear[end as usize];
                    sum += first;
                    let mut border = self.nodes[end as usize].fail;
                    while border != ROOT {
                        clear[border as usize] -= first;
                        border = self.nodes[border as usize].fail;
                    }
                }
                shown += sum;
            }
            clear[0] = 1.0 - shown;
        }
        shown
    }
}

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha8Rng;
    use rand_core::{Rng as _, SeedableRng as _};
    use regex_syntax::hir::Hir;

    use super::*;
    use crate::pattern::literal::Literal;
    use crate::pattern::{Automaton, Kind, Style};
    use crate::wire::Subject;

    const KINDS: [(Kind, Place); 4] = [
        (Kind::Anywhere, Place::Anywhere),
        (Kind::Word, Place::Anywhere),
        (Kind::Prefix, Place::Start),
        (Kind::Suffix, Place::End),
    ];

    /// A literal, and the symbols and the place that its shape borrows.
    struct Typed {
        text: String,
        style: Style,
        symbols: Vec<Symbols>,
        place: Place,
    }

    impl Typed {
        fn new(text: &str, (kind, place): (Kind, Place), case_sensitive: bool, leet: bool) -> Option<Self> {
            let style = Style { kind, case_sensitive, leet, subject: Subject::Key };
            let symbols = Literal::new(text, style).ok()?.characters();
            Some(Self { text: text.to_owned(), style, symbols, place })
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
        of(&typed(text, place).shape(), &Subject::Key.positions()).unwrap()
    }

    fn chance_of_any(list: &[Typed], positions: &[Symbols]) -> Option<f64> {
        of_any(list.iter().map(Typed::shape), positions)
    }

    /// Bodies, whole and cut short, and texts that are restricted elsewhere.
    fn position_sets() -> Vec<Vec<Symbols>> {
        let body = Subject::Key.positions().to_vec();
        let mut last = vec![Symbols::ALL; wire::BODY_LEN];
        last[wire::BODY_LEN - 1] = Symbols(0x1111_1111_1111_1111);
        let mut several = body.clone();
        several[7] = Symbols(0xffff_ffff << 20);
        several[8] = several[7];
        several[30] = Symbols(0b111 << 26);
        vec![body.clone(), body[..1].to_vec(), body[..9].to_vec(), last, several]
    }

    /// Of lists the automaton itself is wrong by up to 1e-13, where rational numbers agree with [`of_any`] to 2e-16.
    fn assert_close(found: f64, exact: f64, what: &str) {
        assert!((found - exact).abs() <= 1e-12 * exact, "{what}: {found:e} is not {exact:e}");
    }

    fn random_text(random: &mut ChaCha8Rng, letters: &[u8], len: usize) -> String {
        (0..len).map(|_| char::from(letters[random.next_u32() as usize % letters.len()])).collect()
    }

    /// Compares with the automaton, at all sets of positions.
    fn assert_exact(text: &str, case_sensitive: bool, leet: bool) -> usize {
        let mut compared = 0;
        for typed in KINDS.iter().filter_map(|kind| Typed::new(text, *kind, case_sensitive, leet)) {
            let automaton = Automaton::of(&Literal::of(&typed.text, typed.style).hir()).unwrap();
            for positions in position_sets() {
                let exact = automaton.chance(&positions);
                match of(&typed.shape(), &positions) {
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

    /// The share of all bodies that show one of `list`, by trying every one of them.
    fn enumerated(list: &[Typed], positions: &[Symbols]) -> f64 {
        let mut bodies = vec![Vec::new()];
        for allowed in positions {
            let longer = |body: Vec<u8>| allowed.bytes().map(move |symbol| [&body[..], &[symbol]].concat());
            bodies = bodies.into_iter().flat_map(longer).collect();
        }
        let shown = bodies.iter().filter(|body| {
            list.iter().any(|typed| Literal::of(&typed.text, typed.style).find(body).is_some())
        });
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
                    &Subject::Key.positions()[..1],
                    &Subject::Key.positions()[..2],
                    &Subject::Key.positions()[..3],
                    &last[1..],
                    &last,
                ] {
                    let exact = enumerated(&list, positions);
                    assert_close(chance_of_any(&list, positions).unwrap(), exact, "together");
                    if let [one] = &list[..] {
                        assert_close(of(&one.shape(), positions).unwrap(), exact, "alone");
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
                list.iter().map(|typed| Literal::of(&typed.text, typed.style).hir()).collect(),
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

    /// Inclusion and exclusion where it is short, and runs of letters counted by their length.
    #[test]
    fn closed_forms() {
        let any = |list: &[(&str, Place)]| {
            let list: Vec<Typed> = list.iter().map(|(text, place)| typed(text, *place)).collect();
            chance_of_any(&list, &Subject::Key.positions()).unwrap()
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
        let pairs =
            || letters().flat_map(move |first| letters().map(move |second| format!("{first}{second}")));
        let triples = || pairs().flat_map(move |pair| letters().map(move |third| format!("{pair}{third}")));
        let list: Vec<Typed> = triples().map(|text| typed(&text, Place::Anywhere)).collect();
        // The chance to have seen 0, 1 or 2 letters in succession, and no three.
        let mut run = [1.0, 0.0, 0.0];
        for position in 0..wire::BODY_LEN {
            let letter = if position == 0 { 1.0 } else { 52.0 / 64.0 };
            run = [run.iter().sum::<f64>() * (1.0 - letter), run[0] * letter, run[1] * letter];
        }
        let exact = 1.0 - run.iter().sum::<f64>();
        assert_close(chance_of_any(&list, &Subject::Key.positions()).unwrap(), exact, "three letters");
        let list: Vec<Typed> = triples()
            .filter(|text| text.as_bytes()[0] <= b'p')
            .map(|text| typed(&text, Place::Start))
            .collect();
        let exact = (52f64 / 64.0).powi(2);
        assert_close(
            chance_of_any(&list, &Subject::Key.positions()).unwrap(),
            exact,
            "three letters to begin with",
        );
    }

    #[test]
    fn what_is_longer_than_the_body_never_shows() {
        let symbols = [Symbols::of(b'A'); wire::BODY_LEN + 1];
        for place in [Place::Anywhere, Place::Start, Place::End] {
            let shape = || Shape { symbols: &symbols, place };
            assert_eq!(of(&shape(), &Subject::Key.positions()), Some(0.0));
            assert_eq!(of_any(std::iter::once(shape()), &Subject::Key.positions()), Some(0.0));
        }
    }

    #[test]
    fn sets_that_overlap_in_part_are_declined() {
        let leet = |text| Typed::new(text, KINDS[0], false, true).unwrap();
        let of_leet = |text| of(&leet(text).shape(), &Subject::Key.positions());
        assert_eq!(of_leet("ill"), None);
        assert!(of_leet("will").is_some(), "no two ends of it agree");
        assert!(of_leet("lol").is_some(), "its ends agree wholly");
        assert_eq!(chance_of_any(&[leet("will")], &Subject::Key.positions()), None);
        assert_eq!(chance_of_any(&[leet("lot"), leet("1")], &Subject::Key.positions()), None);
        let sensitive = Typed::new("a", KINDS[0], true, false).unwrap();
        assert_eq!(chance_of_any(&[sensitive, typed("a", Place::End)], &Subject::Key.positions()), None);
    }

    #[test]
    fn too_many_characters_are_declined() {
        let symbols = [Symbols::of(b'A'); 8];
        let many = |len| (0..len).map(|_| Shape { symbols: &symbols, place: Place::Anywhere });
        assert!(of_any(many(MOST_CHARACTERS / 8), &Subject::Key.positions()).is_some());
        assert_eq!(of_any(many(MOST_CHARACTERS / 8 + 1), &Subject::Key.positions()), None);
        assert_eq!(of_any(many(usize::MAX), &Subject::Key.positions()), None);
    }
}
