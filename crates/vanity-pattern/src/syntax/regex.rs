//! Regular expressions over the body, and the reason why one can never match.

use std::ops::Range;

use regex_automata::Input;
use regex_automata::nfa::thompson::pikevm::PikeVM;
use regex_syntax::ast::{self, Ast};
use regex_syntax::hir::Hir;

use super::error::{PatternError, Reason};
use super::literal::{Literal, is_base64, repeated_header};
use super::options::{Kind, MatchOptions};
use crate::odds::{Automaton, TooComplex, nfa};
use crate::wire::{self, Symbols, Target};

/// The deepest nesting of groups.
const NEST_LIMIT: u32 = 50;

/// A compiled expression.
#[derive(Clone)]
pub struct Regex {
    hir: Hir,
    automaton: Automaton,
    plain: PikeVM,
}

impl Regex {
    /// Compiles an expression. Returns it and the chance that a key matches it, which is not 0.
    pub fn new(text: &str, options: MatchOptions) -> Result<(Self, f64), PatternError> {
        let rest = text.trim_start_matches('^');
        let start = text.len() - rest.len();
        let kind = if start > 0 { Kind::Prefix } else { Kind::Anywhere };
        if let Some(len) = repeated_header(rest, MatchOptions { kind, ..options }) {
            return Err(PatternError::new(Reason::Header, start..start + len));
        }
        let hir = parse(text, options)?;
        if let Some(len) = hir.properties().minimum_len().filter(|&len| len > wire::BODY_LEN) {
            let reason = Reason::TooLong { len, most: wire::BODY_LEN };
            return Err(PatternError::new(reason, 0..text.chars().count()));
        }
        let regex = Self::compile(text, hir)?;
        let chance = regex.chance(&options.target.positions());
        if chance > 0.0 {
            return Ok((regex, chance));
        }
        let (at, char) = culprit(text, options);
        Err(PatternError::new(regex.reason(options.target, char), at))
    }

    fn compile(text: &str, hir: Hir) -> Result<Self, PatternError> {
        let too_complex = |_| PatternError::new(Reason::TooComplex, 0..text.chars().count());
        let nfa = nfa(&hir).map_err(too_complex)?;
        let automaton = Automaton::new(&nfa).map_err(too_complex)?;
        let plain = PikeVM::new_from_nfa(nfa).map_err(|_| too_complex(TooComplex))?;
        Ok(Self { hir, automaton, plain })
    }

    /// Returns the parsed expression.
    pub fn hir(&self) -> &Hir {
        &self.hir
    }

    /// Estimates the bytes that the expression takes.
    pub fn bytes(&self) -> usize {
        self.plain.get_nfa().memory_usage() + self.automaton.bytes()
    }

    /// Returns the automaton, by which a matcher searches.
    pub fn automaton(&self) -> &Automaton {
        &self.automaton
    }

    /// Returns the exact chance that a body matches, if the symbol at each position is drawn
    /// uniformly from `positions`.
    pub fn chance(&self, positions: &[Symbols]) -> f64 {
        self.automaton.chance(positions)
    }

    /// Returns the first range of `body` that matches, by simulating the NFA. This is slow, and
    /// shares with the automaton only the parser and the NFA.
    pub fn find(&self, body: &[u8]) -> Option<Range<usize>> {
        self.plain.find(&mut self.plain.create_cache(), Input::new(body)).map(|found| found.range())
    }

    /// Returns the reason why an expression with chance 0 never matches. `char` is the character that
    /// base64 does not have, if one character is at fault.
    fn reason(&self, target: Target, char: Option<char>) -> Reason {
        if self.chance(&[Symbols::ALL; wire::BODY_LEN]) > 0.0 {
            match target {
                Target::Key => Reason::FirstCharacter(None),
                Target::Fingerprint => Reason::LastCharacter(None),
            }
        } else if self.automaton.matches_some_bytes(wire::BODY_LEN) {
            Reason::NeverBase64(char)
        } else if (1..wire::BODY_LEN).any(|len| self.automaton.matches_some_bytes(len)) {
            Reason::OtherLength
        } else {
            Reason::NeverMatches
        }
    }
}

fn parse(text: &str, options: MatchOptions) -> Result<Hir, PatternError> {
    // A body is one line. If a dot matches the ends of lines, too, automata are smaller.
    let parser = regex_syntax::ParserBuilder::new()
        .unicode(false)
        .utf8(false)
        .dot_matches_new_line(true)
        .case_insensitive(!options.case_sensitive)
        .nest_limit(NEST_LIMIT)
        .build()
        .parse(text);
    parser.map_err(|error| {
        let (message, span) = match &error {
            regex_syntax::Error::Parse(error) => (error.kind().to_string(), *error.span()),
            regex_syntax::Error::Translate(error) => (error.kind().to_string(), *error.span()),
            other => (other.to_string(), ast::Span::splat(ast::Position::new(0, 1, 1))),
        };
        let is_literal = Literal::new(text, MatchOptions { kind: Kind::Anywhere, ..options }).is_ok();
        PatternError::new(Reason::Syntax { message, is_literal }, chars(text, span))
    })
}

/// Returns the first part of the expression from which on nothing can match, and the character that
/// it is, if base64 does not have it.
///
/// In a sequence of items, this is the last item of the shortest prefix that is already impossible.
/// For any other expression it is the whole.
fn culprit(text: &str, options: MatchOptions) -> (Range<usize>, Option<char>) {
    let ast = ast::parse::Parser::new().parse(text);
    let items = match &ast {
        Ok(Ast::Concat(items)) => &items.asts[..],
        Ok(item) => std::slice::from_ref(item),
        Err(_) => &[],
    };
    let possible = |item: &Ast| {
        let prefix = &text[..item.span().end.offset];
        let compiled = parse(prefix, options).and_then(|hir| Regex::compile(prefix, hir));
        compiled.is_ok_and(|regex| regex.chance(&options.target.positions()) > 0.0)
    };
    // Items after an impossible prefix cannot make it possible again.
    let Some(item) = items.get(items.partition_point(possible)) else {
        return (0..text.chars().count(), None);
    };
    let char = match item {
        Ast::Literal(literal) => Some(literal.c).filter(|char| !is_base64(*char)),
        _ => None,
    };
    (chars(text, *item.span()), char)
}

/// Converts a span of bytes into a range of characters, at least one.
fn chars(text: &str, span: ast::Span) -> Range<usize> {
    let at = |offset: usize| text[..offset].chars().count();
    let start = at(span.start.offset);
    start..at(span.end.offset).max(start + 1)
}
