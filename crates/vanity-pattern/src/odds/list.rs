//! The exact chance that a body shows at least one of many literals.
//!
//! The prefixes of the literals form a trie, whose failure links follow the borders that the head
//! of `literal` explains. A literal that contains another one adds nothing and is dropped. Of the
//! others, no two are shown for the first time at the same position.

use std::ops::Range;

use super::literal::{Place, Shape, share};
use crate::wire::Symbols;

/// The most characters of all literals together for which the chance is computed: 120,000 words, in
/// 0.36 s with every core busy.
pub const MOST_CHARACTERS: usize = 800_000;

/// The edges of a body, as two symbols after the 64: one is read before the body and one after it.
const START: u8 = 64;
const END: u8 = 65;
const WITH_EDGES: usize = 66;

/// Returns the exact chance that a body shows at least one of the literals. The symbol at each
/// position is drawn uniformly from the set of that position.
///
/// `None` if the literals have more than [`MOST_CHARACTERS`], or if two of their characters share
/// some symbols but not all.
pub fn of_any<'a>(shapes: impl Iterator<Item = Shape<'a>> + Clone, positions: &[Symbols]) -> Option<f64> {
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

/// An alphabet of disjoint sets of symbols, in which literals are spelled. The letter of a set is
/// the value of its lowest symbol.
struct Alphabet([Symbols; 64]);

impl Alphabet {
    /// Returns the literal in letters and edges.
    fn spell(&mut self, shape: &Shape) -> Option<Vec<u8>> {
        let mut spelled = Vec::with_capacity(shape.symbols.len() + 1);
        spelled.extend((shape.place == Place::Start).then_some(START));
        for &set in shape.symbols {
            spelled.push(self.letter(set)?);
        }
        spelled.extend((shape.place == Place::End).then_some(END));
        Some(spelled)
    }

    /// Returns the letter of a set. `None` if the set is empty, or shares some symbols with another
    /// set.
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

    /// Returns the chance of each letter for a symbol drawn uniformly from `allowed`. Both edges
    /// have chance 0.
    fn shares(&self, allowed: Symbols) -> [f64; WITH_EDGES] {
        let letter = |letter: usize| self.0.get(letter).map_or(0.0, |set| share(*set, allowed));
        std::array::from_fn(letter)
    }
}

/// A trie of the prefixes of many literals.
struct Trie {
    /// The nodes, shorter prefixes first. Prefixes of one length are in the order of their letters.
    nodes: Vec<Node>,
    /// The nodes of the literals that contain no other literal.
    ends: Vec<u32>,
}

#[derive(Clone, Copy, Default)]
struct Node {
    /// The node of the prefix without the last letter.
    parent: u32,
    letter: u8,
    /// The failure link: the longest other node that this prefix ends with.
    fail: u32,
}

/// The empty prefix.
const ROOT: u32 = 0;

/// The number of terms in a partial sum. Partial sums keep the rounding error of a million terms
/// small.
const TERMS: usize = 1024;

impl Trie {
    /// Builds the trie of literals. They must be sorted and distinct, and have `characters`
    /// together.
    fn new(literals: &[Vec<u8>], characters: usize) -> Self {
        let mut nodes = Vec::with_capacity(characters + 1);
        nodes.push(Node::default());
        // The node that each literal has reached.
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

    /// Sets the failure links, shorter nodes first.
    fn link(&mut self) {
        // The children of a node are neighbors.
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

    /// Drops the literals that contain another one.
    fn leave_out_containing(&mut self) {
        // Whether a node contains a literal: it is one, or its parent or its failure link contains
        // one.
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

    /// Returns the chance that letters with these chances show one of the literals.
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
