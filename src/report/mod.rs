//! What a person or a script sees: odds, progress, results, next steps.
//!
//! stdout carries results (keys, public lines, JSON), and a failure to write them is an error. stderr carries
//! everything else, and a failure to write that is nobody's concern.

mod json;
mod live;
mod number;
mod outlook;
pub mod paint;
mod refusal;

use std::fmt::Display;
use std::io::{self, Write as _};
use std::ops::Range;
use std::time::Duration;

use crate::escape::{escaped, shell_word};
use crate::key::Format;
use crate::pattern::{Bounds, Odds, Pattern, PatternId, any_of};
use crate::search::{End, Find, Measured, Progress, Quota, Summary};
use crate::store::Kept;
use crate::wire::{self, Subject};
use serde_json::Value;

use crate::cli::{self, Show};
use live::{Live, Part, whole};
use number::{clock, exact, percent, rough, time};
use outlook::{Outlook, attempts_for_all};
pub use paint::Paint;
pub use refusal::{complaint, refusal};

/// How many patterns are listed by name; of more, only the first so many.
const LISTED: usize = 10;

/// Without a live line, the time until the first line of progress, and the longest time between two.
const FIRST_LINE: Duration = Duration::from_secs(10);
const LINE_EVERY: Duration = Duration::from_secs(60);

/// The time over which the shown rate is averaged, in ticks of progress.
const RATE_TICKS: usize = 30;

/// Where a private key went.
pub enum Delivered<'a> {
    /// Into files, by now durable.
    Files(Kept),
    /// Into no file: its text goes to stdout with the report.
    Stdout(&'a str),
}

/// Tells what one search does.
pub struct Report<'a> {
    plan: &'a cli::Search,
    /// The colours of stderr and stdout.
    err: Paint,
    out: Paint,
    /// The line that is rewritten in place, if stderr is a terminal that can.
    live: Option<Live>,
    /// When the next line of progress is due where there is no live line.
    line_due: Duration,
    outlook: Outlook<'a>,
    /// Recent progress, the oldest first.
    recent: std::collections::VecDeque<Progress>,
    /// The last files that were written.
    kept: Option<Kept>,
}

impl<'a> Report<'a> {
    pub fn new(plan: &'a cli::Search) -> Self {
        let Show { quiet, color, .. } = plan.show;
        Self {
            plan,
            err: Paint::new(color, &io::stderr()),
            out: Paint::new(color, &io::stdout()),
            live: if quiet { None } else { Live::new() },
            line_due: FIRST_LINE,
            outlook: Outlook::new(&plan.patterns, &plan.quota, plan.had, !quiet || plan.show.json),
            recent: std::collections::VecDeque::with_capacity(RATE_TICKS + 1),
            kept: None,
        }
    }

    /// What there is to tell of the patterns, the odds of each, and how long they take at this rate.
    pub fn odds(&mut self, keys_per_second: f64) -> io::Result<()> {
        self.plan.notes.iter().for_each(|note| self.note(escaped(note)));
        let several = Several::of(self.plan, self.outlook.next());
        if self.plan.show.json {
            for pattern in &self.plan.patterns {
                self.print_json(&json::estimate(pattern, several.as_ref(), keys_per_second))?;
            }
        }
        for pattern in self.plan.patterns.iter().take(LISTED) {
            self.note(odds_line(pattern, keys_per_second, self.err));
        }
        if let Some(more @ 1..) = self.plan.patterns.len().checked_sub(LISTED) {
            self.note(format_args!("... and {}", plural(more as u64, "more pattern")));
        }
        if let Some(several) = &several {
            several_lines(several, keys_per_second, self.err).iter().for_each(|line| self.note(line));
        }
        Ok(())
    }

    /// There is nothing to search for: every key is there already.
    pub fn complete(&mut self) -> io::Result<()> {
        self.plan.notes.iter().for_each(|note| self.note(escaped(note)));
        self.note("nothing is missing");
        if self.plan.show.json {
            let nothing = Summary {
                found: 0,
                given_up: Vec::new(),
                attempts: 0,
                elapsed: Duration::ZERO,
                end: End::Complete,
            };
            self.print_json(&json::summary(&nothing, &[], self.plan.engine.name(), self.plan.workers()))?;
        }
        Ok(())
    }

    /// The search goes on.
    pub fn progress(&mut self, progress: &Progress) {
        self.recent.push_back(*progress);
        if self.recent.len() > RATE_TICKS {
            self.recent.pop_front();
        }
        if let Some(live) = &self.live {
            live.show(&self.status(progress));
        } else if progress.elapsed >= self.line_due {
            self.line_due = progress.elapsed + progress.elapsed.min(LINE_EVERY);
            self.note(whole(&self.status(progress)));
        }
    }

    /// A find, and where it is.
    pub fn found(&mut self, find: &Find, comment: &str, delivered: Delivered) -> io::Result<()> {
        self.outlook.count(&find.patterns, find.attempts);
        let line = find.public_key.line(comment);
        match &delivered {
            _ if self.plan.show.json => {
                let encrypted = self.plan.protection.is_some();
                self.print_json(&json::found(&self.plan.patterns, find, &line, encrypted, &delivered))?;
            }
            Delivered::Files(_) => {
                self.print(&(self.out.highlight(&line, self.matched(find, Subject::Key)) + "\n"))?
            }
            Delivered::Stdout(private_key) => {
                self.print(private_key)?;
                self.note(self.err.highlight(&line, self.matched(find, Subject::Key)));
            }
        }
        let found: Vec<_> = find.patterns.iter().map(|&id| escaped(self.plan.patterns[id].text())).collect();
        self.note(format_args!(
            "found {} after {} keys in {}: {}",
            self.err.bold(found.join(" and ")),
            exact(find.attempts),
            clock(find.elapsed),
            self.err.highlight(&find.public_key.fingerprint(), self.matched(find, Subject::Fingerprint))
        ));
        if let Delivered::Files(kept) = delivered {
            self.note(format_args!(
                "{} in {}, public key in {}",
                self.private_key(),
                shell_word(&kept.private_file),
                shell_word(&kept.public_file)
            ));
            self.kept = Some(kept);
        }
        Ok(())
    }

    /// The search is over.
    pub fn summary(&mut self, summary: &Summary) -> io::Result<()> {
        if let Some(live) = self.live.take() {
            live.end();
        }
        if self.plan.show.json {
            let summary =
                json::summary(summary, &self.plan.patterns, self.plan.engine.name(), self.plan.workers());
            self.print_json(&summary)?;
        }
        let (found, wanted) = self.outlook.found_of();
        let ended = match summary.end {
            End::Complete => None,
            End::Timeout => Some("the time is over"),
            End::Signal(_) => Some("interrupted"),
        };
        if let Some(ended) = ended {
            let chance = self.outlook.chance_of_next(summary.attempts);
            let chance = chance.map_or(String::new(), |chance| {
                format!("; the chance of the next was {}", at_least_percent(chance))
            });
            self.note(format_args!("{ended}: {} of {} found{chance}", exact(found), plural(wanted, "key")));
        }
        given_up_lines(&summary.given_up, &self.plan.patterns).iter().for_each(|line| self.line(line));
        self.note(self.err.faint(format_args!(
            "{} keys tried in {}, {} a second by {} on {}",
            exact(summary.attempts),
            clock(summary.elapsed),
            rough(summary.keys_per_second()),
            self.plan.engine.name(),
            plural(self.plan.workers() as u64, "thread"),
        )));
        if ended.is_some() {
            self.note("the search has no memory: starting again loses nothing");
        }
        if summary.found > 0 {
            self.next_steps();
        }
        Ok(())
    }

    /// Rate, chance by now, keys tried and the rest, the more important first.
    fn status(&self, progress: &Progress) -> Vec<Part> {
        let first = self.recent.front().filter(|first| first.attempts < progress.attempts);
        let (keys, time) = first.map_or((progress.attempts, progress.elapsed), |first| {
            (progress.attempts - first.attempts, progress.elapsed - first.elapsed)
        });
        let rate = keys as f64 / time.as_secs_f64().max(1e-9);
        let mut status = vec![Part::from(format!("{} keys/s", rough(rate)))];
        let last = self.outlook.chance_of_last(progress.attempts);
        if let Some(chance) = self.outlook.chance_of_next(progress.attempts) {
            let which = if last.is_some() { " of the next" } else { "" };
            status.push(Part::new(format!("{} chance{which}", at_least_percent(chance)), " by now"));
        }
        status.extend(last.map(|chance| format!("at most {} of the last", percent(chance)).into()));
        let (found, wanted) = self.outlook.found_of();
        if wanted > 1 {
            status.push(format!("{} of {} found", exact(found), exact(wanted)).into());
        }
        status.push(format!("{} tried", rough(progress.attempts as f64)).into());
        status.push(clock(progress.elapsed).into());
        status
    }

    /// Where the first matching pattern stands in a public line or in a fingerprint: in the one that was searched.
    fn matched(&self, find: &Find, shown: Subject) -> Range<usize> {
        let pattern = &self.plan.patterns[find.patterns[0]];
        if pattern.style().subject != shown {
            return 0..0;
        }
        let start = match shown {
            Subject::Key => wire::ALGORITHM.len() + 1 + wire::FIXED.len(),
            Subject::Fingerprint => wire::FINGERPRINT_HEADER.len(),
        };
        let found = pattern.find(&find.public_key.body(shown)).unwrap_or_default();
        start + found.start..start + found.end
    }

    /// What a private key of this search is.
    fn private_key(&self) -> &'static str {
        if self.plan.protection.is_some() { "encrypted private key" } else { "private key" }
    }

    /// What to do with the key.
    fn next_steps(&self) {
        let Some(kept) = &self.kept else {
            if !self.plan.show.json {
                let format = self.plan.destination.format(self.plan.format);
                let version = if format == Format::Pkcs8 { " 9.8 or later" } else { "" };
                self.note(format_args!(
                    "the {} went to stdout; for OpenSSH{version}: chmod 600 FILE, then ssh -i FILE USER@HOST",
                    self.private_key(),
                ));
            }
            return;
        };
        let (private, public) = (shell_word(&kept.private_file), shell_word(&kept.public_file));
        self.note(self.err.bold("next steps:"));
        self.note(format_args!("  authorize it   ssh-copy-id -f -i {public} USER@HOST"));
        self.note(format_args!("  log in         ssh -i {private} USER@HOST"));
        self.note(format_args!("  or an agent    ssh-add {private}"));
        if kept.format == Format::Pkcs8 {
            self.note("  (OpenSSH reads PKCS#8 from version 9.8 on; --format openssh suits every version)");
        }
    }

    /// Prints a line to stderr, above the live line, unless `--quiet` is given.
    pub fn note(&self, line: impl Display) {
        if !self.plan.show.quiet {
            self.line(line);
        }
    }

    /// Prints a line to stderr, above the live line, with `--quiet` as well.
    fn line(&self, line: impl Display) {
        match &self.live {
            Some(live) => live.above(|| note(&line)),
            None => note(&line),
        }
    }

    /// A result on stdout.
    fn print(&self, text: &str) -> io::Result<()> {
        match &self.live {
            Some(live) => live.above(|| print(text.as_bytes())),
            None => print(text.as_bytes()),
        }
    }

    fn print_json(&self, object: &Value) -> io::Result<()> {
        self.print(&json::line(object))
    }
}

/// What is told of keys that were found and given up: a line for each pattern.
fn given_up_lines(given_up: &[PatternId], patterns: &[Pattern]) -> Vec<String> {
    let line = |same: &[PatternId]| {
        format!(
            "error: {} for '{}' given up: the encryption was not finished in time; run the same command again",
            plural(same.len() as u64, "key"),
            escaped(patterns[same[0]].text())
        )
    };
    given_up.chunk_by(|a, b| a == b).map(line).collect()
}

/// The odds of every pattern on stdout, as `--estimate` prints them.
pub fn estimate(plan: &cli::Search, keys_per_second: f64) -> io::Result<()> {
    notes(&plan.notes, plan.show);
    let paint = Paint::new(plan.show.color, &io::stdout());
    let several = Several::of(plan, any_of(plan.patterns.iter()));
    for pattern in &plan.patterns {
        let line = if plan.show.json {
            json::line(&json::estimate(pattern, several.as_ref(), keys_per_second))
        } else {
            odds_line(pattern, keys_per_second, paint) + "\n"
        };
        print(line.as_bytes())?;
    }
    let Some(several) = several.filter(|_| !plan.show.json) else { return Ok(()) };
    several_lines(&several, keys_per_second, paint)
        .iter()
        .try_for_each(|line| print(format!("{line}\n").as_bytes()))
}

/// The odds of several patterns together.
struct Several {
    patterns: usize,
    /// Of a key that matches at least one of them.
    any: Bounds,
    /// After how many keys the chance is 50 % and 95 % at the latest that each has one, if each wants just one.
    attempts_for_all: Option<[f64; 2]>,
}

impl Several {
    fn of(plan: &cli::Search, any: Option<Bounds>) -> Option<Self> {
        let patterns = plan.patterns.len();
        let for_all = |chance| attempts_for_all(&plan.patterns, chance);
        let one_each = match &plan.quota {
            Quota::Each(count) => *count == 1,
            Quota::Left(counts) => counts.iter().all(|count| *count == 1),
            Quota::Any(_) | Quota::Endless => false,
        };
        let attempts_for_all = one_each.then(|| [0.50, 0.95].map(for_all));
        any.filter(|_| patterns > 1).map(|any| Self { patterns, any, attempts_for_all })
    }
}

/// The figures of every engine on stdout, as `--bench` prints them.
pub fn bench(plan: &cli::Bench, measured: &[Measured]) -> io::Result<()> {
    notes(&plan.notes, plan.show);
    if plan.show.json {
        return measured.iter().try_for_each(|one| print(json::line(&json::bench(one)).as_bytes()));
    }
    let mut table = format!(
        "{:<12} {:>7} {:>14} {:>27} {:>8} {:>15}\n",
        "engine", "threads", "keys/s", "from - to", "ratio", "from - to"
    );
    for Measured { engine, threads, rate, ratio } in measured {
        let rates = format!("{} - {}", rough(rate.min), rough(rate.max));
        let ratios = format!("{:.2} - {:.2}", ratio.min, ratio.max);
        let median = rough(rate.median);
        table += &format!(
            "{engine:<12} {threads:>7} {median:>14} {rates:>27} {:>8.2} {ratios:>15}\n",
            ratio.median
        );
    }
    print(table.as_bytes())
}

/// What there is to tell of the patterns, on stderr.
fn notes(notes: &[String], show: Show) {
    if !show.quiet {
        notes.iter().for_each(|line| note(escaped(line)));
    }
}

/// A line on stderr, in one piece, so that it stays one beside what other processes write.
fn note(line: impl Display) {
    let _ = io::stderr().write_all(format!("{line}\n").as_bytes());
}

/// Writes a result to stdout, all of it and at once.
pub fn print(bytes: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(bytes)?;
    stdout.flush()
}

/// `alice: 1 in 860,000; 50 % within 9.2 s, 95 % within 37 s at 62,000 keys/s`.
fn odds_line(pattern: &Pattern, keys_per_second: f64, paint: Paint) -> String {
    let odds = pattern.odds();
    let within = |chance| time(json::seconds_for(odds, chance, keys_per_second));
    format!(
        "{}: 1 in {}; 50 % within {}, 95 % within {} at {} keys/s",
        paint.bold(escaped(pattern.text())),
        rough(odds.expected_attempts()),
        within(0.50),
        within(0.95),
        rough(keys_per_second)
    )
}

/// `any of 3: 1 in 12,000; 50 % within 9.2 s, 95 % within 37 s`, and the same for all of them. What is not exact says so.
fn several_lines(several: &Several, keys_per_second: f64, paint: Paint) -> Vec<String> {
    let Several { patterns, any, attempts_for_all } = several;
    let patterns = exact(*patterns as u64);
    let one_in = |odds: Odds| format!("1 in {}", rough(odds.expected_attempts()));
    let seconds = |chance| time(json::seconds_for(any.at_least, chance, keys_per_second));
    let (odds, most) = if any.is_exact() {
        (one_in(any.at_least), "")
    } else {
        (format!("between {} and {}", one_in(any.at_least), one_in(any.at_most)), "at most ")
    };
    let mut lines = vec![format!(
        "{}: {odds}; 50 % within {most}{}, 95 % within {most}{}",
        paint.bold(format_args!("any of {patterns}")),
        seconds(0.50),
        seconds(0.95),
    )];
    lines.extend(attempts_for_all.map(|attempts| {
        let [half, most] = attempts.map(|attempts| time(attempts / keys_per_second));
        let all = paint.bold(format_args!("all of {patterns}"));
        format!("{all}: 50 % within at most {half}, 95 % within at most {most}")
    }));
    lines
}

/// `37 %`, or `at least 37 %` where that is all that is known.
fn at_least_percent((chance, is_exact): (f64, bool)) -> String {
    format!("{}{}", if is_exact { "" } else { "at least " }, percent(chance))
}

fn plural(number: u64, what: &str) -> String {
    format!("{} {what}{}", exact(number), if number == 1 { "" } else { "s" })
}
