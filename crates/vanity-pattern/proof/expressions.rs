//! The stages of regular expressions, by decisions on their automata.
//!
//! *Needles.* A product of the expression's automaton with one that follows all needles at once is
//! searched for a text of 43 characters that matches and shows no needle where it may begin. There
//! must be none. *Walks.* The table that is walked has the automaton's successors. Then texts that
//! take every edge of every automaton, at every position, are given to the matcher, alone and in
//! lists.

use std::collections::{HashMap, HashSet};

use vanity_pattern::internals::dfa_scan::DfaScan;
use vanity_pattern::internals::needle::Needle;
use vanity_pattern::internals::required_literals::{literal, needles};
use vanity_pattern::internals::{Automaton, DEAD, MATCHED, Regex, START};

use super::*;

/// Expressions with needles, and without.
const EXPRESSIONS: [&str; 34] = [
    "abc",
    "^Abc",
    "abc$",
    "^..[a-d].bQ",
    "[a-d].b..Q$",
    "^.?abc",
    "abc.{2,3}w$",
    "^.*abc.{5}",
    ".{7}abc.*$",
    "ab.*cde",
    "cde.*ab",
    "^A.*kett.*9",
    "[0-9]{3}x*b",
    "ab{2,3}c",
    "(?:ab)+c",
    "^(?:Ab){2}.{3,5}cd[a-z]",
    "x(?:a|b*)yz",
    "(?:kett|bass)[0-9]",
    "^.{2}(?:abc|def$)",
    "(?:.abc|defg).{3}",
    "^(?:A|B)cd?e",
    "a(?:b|cd)e$",
    "(?:^Ab|cde|fg[AQg0w]$)",
    "ab(?:cd){0,2}e",
    "^.{30}k[e-g]t",
    "[+/]ab[+/]",
    "ke.?.?tt",
    "a{4}",
    "(?:a|bb){3}c",
    "[^a-z]{6}kk",
    "^E(?:x.{2}y|z{3})",
    "k(?:e|)tt",
    "[a-m]{5}$",
    "(?:q|w)(?:q|w)(?:q|w)$",
];
const WITHOUT_NEEDLES: [&str; 4] =
    ["^[A-C]{3}|[0-9]{9}|z?", "[a-f]{12}", "(?:abc|[0-8]*)Q?", "^(?:[a-zA-Z]{2}.)*$"];

fn patterns(target: Target, case_sensitive: bool) -> Vec<Pattern> {
    let options = MatchOptions { kind: Kind::Regex, case_sensitive, leet: false, target };
    let all = EXPRESSIONS.iter().chain(&WITHOUT_NEEDLES);
    all.filter_map(|expression| Pattern::new(expression, options).ok()).collect()
}

fn regex(pattern: &Pattern) -> Regex {
    Regex::new(pattern.text(), pattern.options()).unwrap().0
}

fn after(automaton: &Automaton, state: u32, value: u8) -> u32 {
    if state < START { state } else { automaton.after(state, value) }
}

fn accepts(automaton: &Automaton, state: u32) -> bool {
    state == MATCHED || state >= START && automaton.accepts(state)
}

/// Returns a text that matches and shows none of the needles.
fn text_without_needle(target: Target, automaton: &Automaton, needles: &[Needle]) -> Option<Vec<u8>> {
    // A state of the product: that of the automaton, and for each needle the lengths of its
    // beginnings that end here, one bit each.
    type State = (u32, Vec<u64>);
    let mut level: HashMap<State, Vec<u8>> = HashMap::from([((START, vec![0; needles.len()]), Vec::new())]);
    for position in 0..BODY_LEN {
        let mut next = HashMap::new();
        for ((state, lengths), text) in &level {
            for value in (0..64).filter(|value| target.symbols(position).has(*value)) {
                let to = after(automaton, *state, value);
                let longer = |(needle, lengths): (&Needle, &u64)| {
                    let begun = lengths << 1 | u64::from(needle.starts.contains(&position));
                    let fits = needle
                        .symbols
                        .iter()
                        .rev()
                        .fold(0, |fits, symbols| fits << 1 | u64::from(symbols.has(value)));
                    begun & fits
                };
                let lengths: Vec<u64> = needles.iter().zip(lengths).map(longer).collect();
                let is_shown = needles
                    .iter()
                    .zip(&lengths)
                    .any(|(needle, lengths)| lengths >> (needle.symbols.len() - 1) & 1 == 1);
                if to != DEAD && !is_shown {
                    next.entry((to, lengths)).or_insert_with(|| [&text[..], &[value]].concat());
                }
            }
        }
        level = next;
    }
    level.into_iter().find(|((state, _), _)| accepts(automaton, *state)).map(|(_, text)| text)
}

#[test]
fn no_text_matches_without_a_required_needle() {
    let mut decided = 0;
    for (target, case_sensitive) in
        TARGETS.into_iter().flat_map(|target| [false, true].map(|is| (target, is)))
    {
        for pattern in patterns(target, case_sensitive) {
            let Some(needles) = needles(regex(&pattern).hir()) else { continue };
            let literal = literal(&pattern, &regex(&pattern)).map(|literal| vec![Needle::of(&literal)]);
            for needles in [needles].into_iter().chain(literal) {
                let text = text_without_needle(target, regex(&pattern).automaton(), &needles);
                let text = text
                    .map(|text| text.iter().map(|value| char::from(ALPHABET[usize::from(*value)])).collect());
                assert_eq!(text, None::<String>, "{} matches without its needles", pattern.text());
                decided += 1;
            }
        }
    }
    assert!(decided > 180, "{decided}");
}

/// Returns texts that match, one for each edge of the automaton at each position that a match
/// takes.
fn edge_cover(target: Target, automaton: &Automaton) -> Vec<Values> {
    let allowed = |position: usize| (0..64).filter(move |value| target.symbols(position).has(*value));
    // The way back: a value that leads on from each state at each position.
    let mut onward: Vec<HashMap<u32, u8>> = vec![HashMap::new(); BODY_LEN];
    let leads = |onward: &[HashMap<u32, u8>], position: usize, state: u32| match onward.get(position) {
        Some(states) => states.contains_key(&state),
        None => accepts(automaton, state),
    };
    for position in (0..BODY_LEN).rev() {
        for state in MATCHED..START + automaton.states() {
            let value =
                allowed(position).find(|value| leads(&onward, position + 1, after(automaton, state, *value)));
            if let Some(value) = value {
                onward[position].insert(state, value);
            }
        }
    }
    let mut level = HashMap::from([(START, Vec::new())]);
    let mut texts = HashSet::new();
    for position in 0..BODY_LEN {
        let mut next: HashMap<u32, Vec<u8>> = HashMap::new();
        for (state, text) in &level {
            let mut seen = HashSet::new();
            for value in allowed(position) {
                let mut state = after(automaton, *state, value);
                if !leads(&onward, position + 1, state) || !seen.insert(state) {
                    continue;
                }
                let mut text = [&text[..], &[value]].concat();
                next.entry(state).or_insert_with(|| text.clone());
                for onward in &onward[position + 1..] {
                    let value = onward[&state];
                    text.push(value);
                    state = after(automaton, state, value);
                }
                texts.extend(Values::try_from(text));
            }
        }
        level = next;
    }
    let mut texts: Vec<Values> = texts.into_iter().collect();
    texts.sort_unstable();
    texts
}

#[test]
fn the_table_of_a_walk_is_the_automaton() {
    for pattern in patterns(Target::Key, true) {
        let regex = regex(&pattern);
        let automaton = regex.automaton();
        let mut words = Vec::new();
        DfaScan::new(Target::Key, automaton).write(&mut words);
        let (start, len) = (words[0] / 64, words[1] as usize);
        assert_eq!((start, len), (START, 64 * (START + automaton.states()) as usize));
        let (next, ends) = words[2..].split_at(len);
        for state in 0..START + automaton.states() {
            for value in 0..64 {
                assert_eq!(
                    next[64 * state as usize + usize::from(value)],
                    64 * after(automaton, state, value)
                );
            }
            assert_eq!(ends[state as usize / 32] >> (state % 32) & 1 == 1, accepts(automaton, state));
        }
    }
}

#[test]
fn every_edge_of_every_expression_passes() {
    let mut tested = 0;
    for target in TARGETS {
        let patterns = patterns(target, true);
        let mut all = Vec::new();
        for pattern in &patterns {
            let texts = edge_cover(target, regex(pattern).automaton());
            assert_all_found(std::slice::from_ref(pattern), &texts, target);
            tested += texts.len();
            all.extend(texts.into_iter().step_by(7));
        }
        assert_all_found(&patterns, &all, target);
        // Without `z?`, which every text matches, the filter of windows and the union decide.
        let is_rare = |pattern: &&Pattern| !pattern.text().contains("z?") && !pattern.text().contains('*');
        let rare: Vec<Pattern> = patterns.iter().filter(is_rare).cloned().collect();
        for some in [&rare[..], &rare[..5], &rare[rare.len() - 4..]] {
            let texts: Vec<Values> = some
                .iter()
                .flat_map(|pattern| edge_cover(target, regex(pattern).automaton()).into_iter().step_by(5))
                .collect();
            assert_all_found(some, &texts, target);
        }
    }
    assert!(tested > 3000, "{tested}");
}
