//! Regular expressions over the body, and the reason why one can never match.

use std::ops::Range;

use regex_automata::Input;
use regex_automata::nfa::thompson::pikevm::PikeVM;
use regex_syntax::ast::{self, Ast};
use regex_syntax::hir::Hir;

use super::error::{PatternError, Reason};
use super::options::MatchOptions;
use crate::odds::{Automaton, TooComplex, nfa};
use crate::wire::{self, Symbols, Target};

/// The deepest nesting of groups.
const NEST_LIMIT: u32 = 50;

#[derive(Clone)]
pub(crate) struct Regex {
    hir: Hir,
    automaton: Automaton,
    plain: PikeVM,
}

impl Regex {
    /// Compiles an expression, and checks that some key can match it.
    pub(crate) fn new(text: &str, options: MatchOptions) -> Result<Self, PatternError> {
        let header = match options.target {
            Target::Key => wire::FIXED,
            Target::Fingerprint => wire::FINGERPRINT_HEADER,
        };
        if text.trim_start_matches('^').starts_with(header) {
            let start = text.len() - text.trim_start_matches('^').len();
            return Err(PatternError::new(Reason::Header, start..start + header.len()));
        }
        let hir = parse(text, options.case_sensitive)?;
        if let Some(len) = hir.properties().minimum_len().filter(|&len| len > wire::BODY_LEN) {
            let reason = Reason::TooLong { len, most: wire::BODY_LEN };
            return Err(PatternError::new(reason, 0..text.chars().count()));
        }
        let regex = Self::compile(text, hir)?;
        if regex.chance(&options.target.positions()) > 0.0 {
            return Ok(regex);
        }
        Err(PatternError::new(regex.reason(options.target), culprit(text, options)))
    }

    fn compile(text: &str, hir: Hir) -> Result<Self, PatternError> {
        let too_complex = |_| PatternError::new(Reason::TooComplex, 0..text.chars().count());
        let nfa = nfa(&hir).map_err(too_complex)?;
        let automaton = Automaton::new(&nfa).map_err(too_complex)?;
        let plain = PikeVM::new_from_nfa(nfa).map_err(|_| too_complex(TooComplex))?;
        Ok(Self { hir, automaton, plain })
    }

    /// Returns the parsed expression.
    pub(crate) fn hir(&self) -> &Hir {
        &self.hir
    }

    /// Estimates the bytes that the expression takes.
    pub(crate) fn bytes(&self) -> usize {
        self.plain.get_nfa().memory_usage() + self.automaton.bytes()
    }

    pub(crate) fn automaton(&self) -> &Automaton {
        &self.automaton
    }

    /// Returns the exact chance that a body matches, if the symbol at each position is drawn
    /// uniformly from `positions`.
    pub(crate) fn chance(&self, positions: &[Symbols]) -> f64 {
        self.automaton.chance(positions)
    }

    /// Returns the first range of `body` that matches, by simulating the NFA. This is slow, and
    /// shares with the automaton only the parser and the NFA.
    pub(crate) fn find(&self, body: &[u8]) -> Option<Range<usize>> {
        self.plain.find(&mut self.plain.create_cache(), Input::new(body)).map(|found| found.range())
    }

    /// Returns the reason why an expression with chance 0 never matches.
    fn reason(&self, target: Target) -> Reason {
        if self.chance(&[Symbols::ALL; wire::BODY_LEN]) > 0.0 {
            match target {
                Target::Key => Reason::FirstCharacter(None),
                Target::Fingerprint => Reason::LastCharacter(None),
            }
        } else if self.automaton.matches_some_bytes(wire::BODY_LEN) {
            Reason::NeverBase64
        } else if (1..wire::BODY_LEN).any(|len| self.automaton.matches_some_bytes(len)) {
            Reason::OtherLength
        } else {
            Reason::NeverMatches
        }
    }
}

fn parse(text: &str, case_sensitive: bool) -> Result<Hir, PatternError> {
    let parser = regex_syntax::ParserBuilder::new()
        .unicode(false)
        .utf8(false)
        .case_insensitive(!case_sensitive)
        .nest_limit(NEST_LIMIT)
        .build()
        .parse(text);
    parser.map_err(|error| {
        let (message, span) = match &error {
            regex_syntax::Error::Parse(error) => (error.kind().to_string(), *error.span()),
            regex_syntax::Error::Translate(error) => (error.kind().to_string(), *error.span()),
            other => (other.to_string(), ast::Span::splat(ast::Position::new(0, 1, 1))),
        };
        PatternError::new(Reason::Syntax(message), chars(text, span))
    })
}

/// Returns the first part of the expression from which on nothing can match.
///
/// In a sequence of items, this is the last item of the shortest prefix that is already impossible.
/// For any other expression it is the whole.
fn culprit(text: &str, options: MatchOptions) -> Range<usize> {
    let whole = 0..text.chars().count();
    let ast = ast::parse::Parser::new().parse(text);
    let Ok(Ast::Concat(items)) = &ast else { return whole };
    let possible = |item: &Ast| {
        let prefix = &text[..item.span().end.offset];
        let compiled = parse(prefix, options.case_sensitive).and_then(|hir| Regex::compile(prefix, hir));
        compiled.is_ok_and(|regex| regex.chance(&options.target.positions()) > 0.0)
    };
    // Items after an impossible prefix cannot make it possible again.
    let at = items.asts.partition_point(possible);
    items.asts.get(at).map_or(whole, |item| chars(text, *item.span()))
}

/// Converts a span of bytes into a range of characters, at least one.
fn chars(text: &str, span: ast::Span) -> Range<usize> {
    let at = |offset: usize| text[..offset].chars().count();
    let start = at(span.start.offset);
    start..at(span.end.offset).max(start + 1)
}
