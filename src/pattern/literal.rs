//! Literal patterns: text that stands somewhere in the body.

use std::ops::Range;

use regex_syntax::hir::{Class, ClassBytes, ClassBytesRange, Hir, Look};

use super::prefilter::Run;
use super::{Automaton, Kind, PatternError, Reason, Style};
use crate::wire::{self, Symbols};

/// The digit that a letter also matches with `--leet`.
const LEET: [(u8, u8); 10] = [
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

/// What stands on both sides of a word.
const DELIMITERS: &[u8] = b"+/";

/// The longest word: character 1 of a body is a letter, so the first delimiter is character 2 at the earliest.
const LONGEST_WORD: usize = wire::BODY_LEN - 3;

/// How much of the fixed characters a pattern may repeat before it is taken for the header.
const HEADER_SIGN: &str = "AAAAC3";

#[derive(Clone)]
pub(super) struct Literal {
    text: Vec<u8>,
    style: Style,
}

impl Literal {
    pub(super) fn new(text: &str, style: Style) -> Result<Self, PatternError> {
        let literal = Self { text: text.as_bytes().to_vec(), style };
        if text.starts_with(wire::ALGORITHM) || literal.repeats_header(text) {
            return Err(PatternError::new(Reason::Header, 0..text.chars().count()));
        }
        if let Some((at, char)) = text.chars().enumerate().find(|(_, char)| !is_base64(*char)) {
            return Err(PatternError::new(Reason::NotBase64(char), at..at + 1));
        }
        let most = if style.kind == Kind::Word { LONGEST_WORD } else { wire::BODY_LEN };
        if text.len() > most {
            return Err(PatternError::new(Reason::TooLong { len: text.len(), most }, most..text.len()));
        }
        let at_start = style.kind == Kind::Prefix || text.len() == wire::BODY_LEN;
        if at_start && literal.symbols(0).and(Symbols::FIRST).is_empty() {
            return Err(PatternError::new(Reason::FirstCharacter(text.chars().next()), 0..1));
        }
        Ok(literal)
    }

    /// Whether the text begins like the fixed characters, which are no part of the body.
    fn repeats_header(&self, text: &str) -> bool {
        let sign = if self.style.kind == Kind::Prefix { HEADER_SIGN } else { wire::FIXED };
        text.starts_with(sign)
    }

    /// How many characters the text has.
    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    /// The symbols that character `at` of the text matches.
    pub(super) fn symbols(&self, at: usize) -> Symbols {
        let typed = self.text[at];
        let mut symbols = Symbols::of(typed);
        if !self.style.case_sensitive {
            symbols = symbols.or(Symbols::of(typed.to_ascii_lowercase()));
            symbols = symbols.or(Symbols::of(typed.to_ascii_uppercase()));
        }
        if self.style.leet {
            let digit = LEET.iter().find(|(letter, _)| letter.eq_ignore_ascii_case(&typed));
            symbols = digit.map_or(symbols, |(_, digit)| symbols.or(Symbols::of(*digit)));
        }
        symbols
    }

    /// Whether the text may stand at `at..at + len` in a body, by its kind.
    pub(super) fn may_stand(&self, at: usize, body: &[u8]) -> bool {
        let end = at + self.text.len();
        match self.style.kind {
            Kind::Prefix => at == 0,
            Kind::Suffix => end == body.len(),
            Kind::Word => {
                at > 0
                    && DELIMITERS.contains(&body[at - 1])
                    && body.get(end).is_some_and(|b| DELIMITERS.contains(b))
            }
            Kind::Anywhere | Kind::Regex => true,
        }
    }

    /// What a body shows where the pattern matches, and where that may begin.
    pub(super) fn run(&self) -> Run {
        let mut symbols: Vec<Symbols> = (0..self.text.len()).map(|at| self.symbols(at)).collect();
        if self.style.kind == Kind::Word {
            let delimiter =
                DELIMITERS.iter().fold(Symbols::default(), |all, &byte| all.or(Symbols::of(byte)));
            symbols.insert(0, delimiter);
            symbols.push(delimiter);
        }
        let last = wire::BODY_LEN - symbols.len();
        let starts = match self.style.kind {
            Kind::Prefix => 0..=0,
            Kind::Suffix => last..=last,
            Kind::Anywhere | Kind::Word | Kind::Regex => 0..=last,
        };
        Run { symbols, starts }
    }

    /// The exact chance that a body with these symbols at its positions matches.
    pub(super) fn chance(&self, positions: &[Symbols]) -> Result<f64, PatternError> {
        let automaton = Automaton::of(&self.hir());
        let automaton = automaton.map_err(|_| PatternError::new(Reason::TooComplex, 0..self.text.len()))?;
        Ok(automaton.chance(positions))
    }

    /// The pattern as a regular expression.
    pub(super) fn hir(&self) -> Hir {
        let text = Hir::concat((0..self.text.len()).map(|at| one_of(self.symbols(at).bytes())).collect());
        let delimiter = || one_of(DELIMITERS.iter().copied());
        Hir::concat(match self.style.kind {
            Kind::Anywhere | Kind::Regex => vec![text],
            Kind::Prefix => vec![Hir::look(Look::Start), text],
            Kind::Suffix => vec![text, Hir::look(Look::End)],
            Kind::Word => vec![delimiter(), text, delimiter()],
        })
    }

    /// Where the text stands, compared character by character.
    pub(super) fn find(&self, body: &[u8]) -> Option<Range<usize>> {
        let len = self.text.len();
        let at = body.windows(len).enumerate().position(|(at, window)| {
            self.may_stand(at, body)
                && self.text.iter().zip(window).all(|(&typed, &seen)| self.equal(typed, seen))
        })?;
        Some(at..at + len)
    }

    fn equal(&self, typed: u8, seen: u8) -> bool {
        typed == seen
            || !self.style.case_sensitive && typed.eq_ignore_ascii_case(&seen)
            || self.style.leet && LEET.contains(&(typed.to_ascii_lowercase(), seen))
    }
}

fn is_base64(char: char) -> bool {
    u8::try_from(char).is_ok_and(|byte| !Symbols::of(byte).is_empty())
}

fn one_of(bytes: impl Iterator<Item = u8>) -> Hir {
    Hir::class(Class::Bytes(ClassBytes::new(bytes.map(|byte| ClassBytesRange::new(byte, byte)))))
}
