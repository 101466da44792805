//! The exact chance of any of many literals.
//!
//! Their prefixes form a trie, whose failure links lead through the borders of `literal`'s head. A literal that
//! contains another one adds nothing and is left out; of the others no two are shown first at one position.

use std::ops::Range;

use super::literal::{Place, Shape, share};
use crate::wire::Symbols;

/// The most characters of all literals together whose common chance is computed: 120,000 words, in 0.36 s with
/// every core busy.
pub(crate) const MOST_CHARACTERS: usize = 800_000;

/// The edges of a body, as two more symbols beside the 64: one is read before the body and one after it.
const START: u8 = 64;
const END: u8 = 65;
const WITH_EDGES: usize = 66;

/// The exact chance that a body with these symbols at its positions (each drawn evenly) shows at least one of the
/// literals.
///
/// `None` where they have more than [`MOST_CHARACTERS`], or two characters that share some symbols but not all.
pub(crate) fn of_any<'a>(
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
