//! Literal patterns: text that must occur in the body.

use std::ops::Range;

use regex_syntax::hir::{Class, ClassBytes, ClassBytesRange, Hir, Look};

use super::error::{PatternError, Reason};
use super::options::{Kind, MatchOptions};
use crate::odds::{Automaton, Place, Shape, of_one};
use crate::wire::{self, BODY_LEN, Bytes, Symbols, Target};

/// The digit that each letter also matches with [`MatchOptions::leet`].
pub const LEET: [(u8, u8); 10] = [
    (b'a', b'4'),
    (b'b', b'8'),
    (b'e', b'3'),
    (b'g', b'9'),
    (b'i', b'1'),
    (b'l', b'1'),
    (b'o', b'0'),
    (b's', b'5'),
    (b't', b'7'),
    (b'z', b'2'),
];

/// The characters that may be on both sides of a word.
const DELIMITERS: &[u8] = b"+/";

/// The most characters of a word. Its delimiters take two of the 43. One end of a body holds only
/// four bits and is always a letter or a digit, so it cannot be a delimiter.
const LONGEST_WORD: usize = BODY_LEN - 3;

/// The part of the fixed characters by which a prefix is taken for the header.
const HEADER_SIGN: &str = "AAAAC3";

/// A typed text, and its options.
#[derive(Clone, Copy)]
pub struct Literal<'a> {
    text: &'a [u8],
    options: MatchOptions,
}

impl<'a> Literal<'a> {
    /// Makes a literal without any check.
    pub fn of(text: &'a str, options: MatchOptions) -> Self {
        Self { text: text.as_bytes(), options }
    }

    /// Makes a literal, and checks that some key can show it.
    pub fn new(text: &'a str, options: MatchOptions) -> Result<Self, PatternError> {
        let literal = Self::of(text, options);
        if let Some(len) = repeated_header(text, options) {
            return Err(PatternError::new(Reason::Header, 0..len));
        }
        if let Some((at, char)) = text.chars().enumerate().find(|(_, char)| !is_base64(*char)) {
            return Err(PatternError::new(Reason::NotBase64(char), at..at + 1));
        }
        let most = if options.kind == Kind::Word { LONGEST_WORD } else { BODY_LEN };
        if text.len() > most {
            return Err(PatternError::new(Reason::TooLong { len: text.len(), most }, most..text.len()));
        }
        let whole = text.len() == BODY_LEN;
        let fits = |at, position| !literal.symbols(at).and(options.target.symbols(position)).is_empty();
        if (options.kind == Kind::Prefix || whole) && !fits(0, 0) {
            return Err(PatternError::new(Reason::FirstCharacter(text.chars().next()), 0..1));
        }
        let last = text.len() - 1;
        if (options.kind == Kind::Suffix || whole) && !fits(last, BODY_LEN - 1) {
            return Err(PatternError::new(Reason::LastCharacter(text.chars().next_back()), last..last + 1));
        }
        Ok(literal)
    }

    /// Returns the typed text.
    pub fn text(&self) -> &'a [u8] {
        self.text
    }

    /// Returns a number from 0 to 3, one for each way to read a single character.
    pub fn reading(&self) -> usize {
        usize::from(self.options.case_sensitive) | usize::from(self.options.leet) << 1
    }

    /// Returns the number of characters in the text.
    #[expect(clippy::len_without_is_empty, reason = "a literal has a character")]
    pub fn len(&self) -> usize {
        self.text.len()
    }

    /// Returns the symbols that character `at` of the text matches.
    pub fn symbols(&self, at: usize) -> Symbols {
        self.accepts(self.text[at])
    }

    /// Returns the symbols that a typed character matches.
    pub fn accepts(&self, typed: u8) -> Symbols {
        let mut symbols = Symbols::of(typed);
        if !self.options.case_sensitive {
            symbols = symbols.or(Symbols::of(typed.to_ascii_lowercase()));
            symbols = symbols.or(Symbols::of(typed.to_ascii_uppercase()));
        }
        if self.options.leet {
            let digit = LEET.iter().find(|(letter, _)| letter.eq_ignore_ascii_case(&typed));
            symbols = digit.map_or(symbols, |(_, digit)| symbols.or(Symbols::of(*digit)));
        }
        symbols
    }

    /// Returns the symbols that may be on both sides of a word. `None` for another kind.
    pub fn delimiters(&self) -> Option<Symbols> {
        let delimiters =
            || DELIMITERS.iter().fold(Symbols::default(), |all, &byte| all.or(Symbols::of(byte)));
        (self.options.kind == Kind::Word).then(delimiters)
    }

    /// Returns whether `bytes` show the literal from character `start` on.
    pub fn stands(&self, bytes: &Bytes, start: usize) -> bool {
        let target = self.options.target;
        let end = start + self.text.len();
        let shows = |position: usize, symbols: Symbols| {
            position < BODY_LEN && symbols.has(target.window(bytes, position, 1) as u8)
        };
        let may_stand = match self.options.kind {
            Kind::Prefix => start == 0,
            Kind::Suffix => end == BODY_LEN,
            Kind::Word => {
                let delimiters = self.delimiters().unwrap_or_default();
                start.checked_sub(1).is_some_and(|before| shows(before, delimiters)) && shows(end, delimiters)
            }
            Kind::Anywhere | Kind::Regex => true,
        };
        may_stand && (start..end).all(|position| shows(position, self.symbols(position - start)))
    }

    /// Returns the symbols of every character. A word has its delimiters as the first and the last
    /// one.
    pub fn characters(&self) -> Vec<Symbols> {
        let text = self.text.iter().map(|byte| self.accepts(*byte));
        self.delimiters().into_iter().chain(text).chain(self.delimiters()).collect()
    }

    /// Returns where [`Self::characters`] may be.
    pub fn place(&self) -> Place {
        match self.options.kind {
            Kind::Prefix => Place::Start,
            Kind::Suffix => Place::End,
            Kind::Anywhere | Kind::Word | Kind::Regex => Place::Anywhere,
        }
    }

    /// Returns the exact chance that a text matches, if the symbol at each position is drawn
    /// uniformly from `positions`.
    pub fn chance(&self, positions: &[Symbols]) -> Result<f64, PatternError> {
        let symbols = self.characters();
        if let Some(chance) = of_one(&Shape { symbols: &symbols, place: self.place() }, positions) {
            return Ok(chance);
        }
        let automaton = Automaton::of(&self.hir());
        let automaton = automaton.map_err(|_| PatternError::new(Reason::TooComplex, 0..self.text.len()))?;
        Ok(automaton.chance(positions))
    }

    /// Returns the pattern as a regular expression.
    pub fn hir(&self) -> Hir {
        let text = Hir::concat((0..self.text.len()).map(|at| one_of(self.symbols(at).bytes())).collect());
        let delimiter = || one_of(DELIMITERS.iter().copied());
        Hir::concat(match self.options.kind {
            Kind::Anywhere | Kind::Regex => vec![text],
            Kind::Prefix => vec![Hir::look(Look::Start), text],
            Kind::Suffix => vec![text, Hir::look(Look::End)],
            Kind::Word => vec![delimiter(), text, delimiter()],
        })
    }

    /// Returns the first range of the body that shows the text. Compares character by character.
    pub fn find(&self, body: &[u8]) -> Option<Range<usize>> {
        let len = self.text.len();
        let is_delimiter =
            |at: Option<usize>| at.and_then(|at| body.get(at)).is_some_and(|b| DELIMITERS.contains(b));
        let at = body.windows(len).enumerate().position(|(at, window)| {
            let may_stand = match self.options.kind {
                Kind::Prefix => at == 0,
                Kind::Suffix => at + len == body.len(),
                Kind::Word => is_delimiter(at.checked_sub(1)) && is_delimiter(Some(at + len)),
                Kind::Anywhere | Kind::Regex => true,
            };
            may_stand && self.text.iter().zip(window).all(|(&typed, &seen)| self.equal(typed, seen))
        })?;
        Some(at..at + len)
    }

    fn equal(&self, typed: u8, seen: u8) -> bool {
        typed == seen
            || !self.options.case_sensitive && typed.eq_ignore_ascii_case(&seen)
            || self.options.leet && LEET.contains(&(typed.to_ascii_lowercase(), seen))
    }
}

/// Returns how many characters at the beginning of a text are fixed, and so not searched. `None` if it
/// does not begin like them.
pub fn repeated_header(text: &str, options: MatchOptions) -> Option<usize> {
    let (header, sign) = match options.target {
        Target::Fingerprint => (wire::FINGERPRINT_HEADER, wire::FINGERPRINT_HEADER),
        Target::Key if options.kind == Kind::Prefix => (wire::FIXED, HEADER_SIGN),
        Target::Key => (wire::FIXED, wire::FIXED),
    };
    if !text.starts_with(sign) && !text.starts_with(wire::ALGORITHM) {
        return None;
    }
    let rest = text.strip_prefix(wire::ALGORITHM).unwrap_or(text).trim_start();
    let alike = rest.bytes().zip(header.bytes()).take_while(|(a, b)| a == b).count();
    Some(text[..text.len() - rest.len()].chars().count() + alike)
}

pub fn is_base64(char: char) -> bool {
    u8::try_from(char).is_ok_and(|byte| !Symbols::of(byte).is_empty())
}

fn one_of(bytes: impl Iterator<Item = u8>) -> Hir {
    Hir::class(Class::Bytes(ClassBytes::new(bytes.map(|byte| ClassBytesRange::new(byte, byte)))))
}
