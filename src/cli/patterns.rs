//! Reads patterns from arguments and files. Checks all of them before it complains about any. Removes
//! those that occur more than once.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::num::NonZeroUsize;
use std::path::Path;

use crate::escape::{escaped_os, escaped_path, quoted_start};
use crate::pattern::{Line, Lines, MatchOptions, Matcher, Pattern, PatternError, Reason, firsts};
use rayon::iter::{IntoParallelRefIterator as _, ParallelIterator as _};

use super::advice::{Origin, advice, spellings};
use super::guesses;
use super::pattern_file::{self, not_text};
use super::stdio::is_stdio;
use crate::notice::Notice;
use crate::plan::{Diagnostic, PlanError};
use crate::search::{check_memory, memory_for};
use crate::sys::draw_hash_keys;
use crate::words::grouped;

/// The most bad patterns that are shown. The others are only counted.
const SHOWN: usize = 10;

/// How many lines are compiled together. This bounds the memory beside the file and its patterns.
const LINES: usize = 256;

/// The most memory that all regular expressions together can need, in bytes.
const MOST_MEMORY: usize = 256 << 20;

/// The bytes that further patterns need before the memory is checked again.
const CHECKED_EACH: u64 = 1 << 20;

/// The size in bytes from which several threads compile a file: it takes longer than their start.
const LONG_FILE: usize = 64 << 10;

/// Patterns, and the notices about them.
pub struct Patterns {
    /// The patterns, without repetitions.
    pub patterns: Vec<Pattern>,
    /// The notices about them.
    pub notices: Vec<Notice>,
}

/// Reads every pattern of the arguments and of the files. Compiles a long file with `threads`
/// threads.
///
/// # Errors
///
/// Returns a diagnostic about what cannot be read or is not a pattern.
pub fn read(
    typed: &[impl AsRef<OsStr>],
    files: &[impl AsRef<Path>],
    options: MatchOptions,
    threads: NonZeroUsize,
) -> Result<Patterns, PlanError> {
    let stdin = files.iter().filter(|file| is_stdio(file.as_ref())).count();
    if stdin > 1 {
        return Err(Diagnostic::new(format!("stdin can be read only once, but -f - is given {stdin} times"))
            .hint("one -f - reads all of it")
            .into());
    }
    let mut list = List::default();
    for (number, text) in (1..).zip(typed) {
        let is_last = number > 1 && number == typed.len();
        list.argument(number, text.as_ref(), is_last, options)?;
    }
    for file in files {
        list.file(file.as_ref(), options, threads)?;
    }
    list.finish()
}

/// The index of the file that a pattern comes from, if it is in one, and the number of its line or argument.
type Location = (Option<usize>, usize);

/// The patterns read so far.
#[derive(Default)]
struct List {
    patterns: Vec<Pattern>,
    /// The location of each pattern.
    locations: Vec<Location>,
    /// The names of the files.
    files: Vec<String>,
    /// The memory that the regular expressions need, in bytes.
    needed: usize,
    /// The memory that a search for the patterns needs, and what it was when it was checked, in bytes.
    memory: u64,
    checked: u64,
    /// Diagnostics about the first bad patterns.
    diagnostics: Vec<Diagnostic>,
    /// The number of bad patterns.
    bad: usize,
    notices: Vec<Notice>,
}

impl List {
    /// Adds the pattern of an argument, which can be the last one of several.
    fn argument(
        &mut self,
        number: usize,
        text: &OsStr,
        is_last: bool,
        options: MatchOptions,
    ) -> Result<(), Diagnostic> {
        let Some(text) = text.to_str() else {
            let origin = format!("pattern '{}'", escaped_os(text));
            return Err(not_text(&origin, text.as_encoded_bytes())
                .hint("key text is made of A-Z, a-z, 0-9, `+` and `/`"));
        };
        let pattern = Pattern::new(text, options);
        self.notices.extend(pattern.as_ref().ok().and_then(|_| guesses::note(text, options)));
        self.add((None, number), pattern, |error| {
            let problem = format!("pattern {}: {error}", quoted_start(text));
            let diagnostic = Diagnostic::new(problem).place(text, error.at());
            let guess = guesses::meant(text, options).filter(|_| *error.reason() != Reason::Header);
            match guess {
                Some(guess) => diagnostic.hint(guess),
                None => diagnostic
                    .hint(advice(&error, Origin::Argument, text, options))
                    .hints(spellings(text, options))
                    .hints(guesses::file_name(text, options).filter(|_| is_last)),
            }
        });
        Ok(())
    }

    fn file(&mut self, path: &Path, options: MatchOptions, threads: NonZeroUsize) -> Result<(), Diagnostic> {
        let name = if is_stdio(path) { "stdin".into() } else { escaped_path(path) };
        let quoted = if is_stdio(path) { name.clone() } else { format!("'{name}'") };
        let bytes = pattern_file::contents(path, &quoted)?;
        let text = std::str::from_utf8(&bytes).ok().filter(|text| !text.contains('\0'));
        let text = text.ok_or_else(|| not_text(&quoted, &bytes).hint("save it as text, in UTF-8"))?;
        pattern_file::check_no_key(text, &quoted)?;
        // Without threads this takes longer. The search reports why there are none.
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.get());
        let pool = pool.start_handler(|_| drop(draw_hash_keys()));
        let pool = if bytes.len() < LONG_FILE { None } else { pool.build().ok() };
        let compile = |lines: &[Line]| -> Vec<Result<Pattern, PatternError>> {
            match &pool {
                Some(pool) => pool.install(|| lines.par_iter().map(Line::read).collect()),
                None => lines.iter().map(Line::read).collect(),
            }
        };
        let mut lines = Lines::new(text, options).peekable();
        if lines.peek().is_none() {
            return Err(Diagnostic::new(format!("{quoted} contains no patterns"))
                .hint("write one pattern per line; blank lines and lines that begin with # are ignored"));
        }
        while lines.peek().is_some() {
            let lines: Vec<Line> = lines.by_ref().take(LINES).collect();
            lines.iter().try_for_each(|line| pattern_file::check_length(line, &name))?;
            for (line, pattern) in lines.iter().zip(compile(&lines)) {
                self.check_memory(pattern.as_ref().ok(), || format!("{name}:{}", line.number))?;
                let location = (Some(self.files.len()), line.number);
                self.add(location, pattern, |error| pattern_file::diagnostic(line, &name, &error));
            }
        }
        self.files.push(name);
        Ok(())
    }

    /// Checks that the expressions so far and this one do not need too much memory, and now and then that
    /// limits leave enough for all patterns.
    fn check_memory(&mut self, pattern: Option<&Pattern>, at: impl Fn() -> String) -> Result<(), Diagnostic> {
        self.needed += pattern.map_or(0, Matcher::bytes_for);
        if self.needed > MOST_MEMORY {
            let most = MOST_MEMORY >> 20;
            let problem = format!("{}: the expressions up to here need more than {most} MiB", at());
            return Err(Diagnostic::new(problem).hint("use fewer expressions, or smaller repetitions"));
        }
        self.memory += pattern.map_or(0, memory_for);
        if self.memory < self.checked + CHECKED_EACH {
            return Ok(());
        }
        self.checked = self.memory;
        check_memory(self.memory).map_err(|error| {
            Diagnostic::new(format!("{}: with the patterns up to here {error}", at()))
                .hint("raise that limit, or search for fewer patterns")
        })
    }

    fn add(
        &mut self,
        location: Location,
        pattern: Result<Pattern, PatternError>,
        diagnostic: impl FnOnce(PatternError) -> Diagnostic,
    ) {
        match pattern {
            Ok(pattern) => {
                self.patterns.push(pattern);
                self.locations.push(location);
            }
            Err(error) => {
                self.bad += 1;
                if self.bad <= SHOWN {
                    self.diagnostics.push(diagnostic(error));
                }
            }
        }
    }

    fn finish(mut self) -> Result<Patterns, PlanError> {
        let bad = self.bad;
        if bad == 0 {
            let note = self.remove_repeated();
            self.notices.extend(note);
            return Ok(Patterns { patterns: self.patterns, notices: self.notices });
        }
        Diagnostic::say_hints_once(&mut self.diagnostics);
        if bad > SHOWN {
            let rest = format!(
                "{} patterns cannot be searched for; the first {SHOWN} are shown",
                grouped(bad as u64)
            );
            self.diagnostics.push(Diagnostic::new(rest));
        }
        Err(PlanError::Diagnostics(self.diagnostics))
    }

    /// Removes every pattern that has occurred before. Returns a note with the first one as an example.
    fn remove_repeated(&mut self) -> Option<Notice> {
        let firsts = firsts(&self.patterns);
        let again = || firsts.iter().enumerate().filter(|(id, first)| id != *first);
        let (second, &first) = again().next()?;
        let text = quoted_start(self.patterns[second].text());
        let first = self.place(first, self.locations[second].0);
        let example = format!("{text} ({}, first in {first})", self.place(second, None));
        let repeated: BTreeSet<&usize> = again().map(|(_, first)| first).collect();

        let mut ids = firsts.iter().enumerate();
        self.patterns.retain(|_| ids.next().is_some_and(|(id, first)| id == *first));
        Some(Notice::note(match repeated.len() {
            1 => format!("1 pattern occurs more than once and is searched for once: {example}"),
            many => {
                format!("{many} patterns occur more than once and are searched for once, such as {example}")
            }
        }))
    }

    /// Returns where a pattern is: `argument 7`, `words.txt:7`, or `line 7` if the file is `beside`.
    fn place(&self, id: usize, beside: Option<usize>) -> String {
        match self.locations[id] {
            (None, number) => format!("argument {number}"),
            (Some(file), number) if beside == Some(file) => format!("line {number}"),
            (Some(file), number) => format!("{}:{number}", self.files[file]),
        }
    }
}
