//! Reports the events of a search.

use std::fmt::Display;
use std::io::{self, IsTerminal as _, Write as _};
use std::ops::Range;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::estimate::{Subject, Suggestions, all_line, fits};
use super::forecast::Forecast;
use super::json;
use super::next_steps::{self, Step};
use super::number::{clock, rough};
use super::printing::{self, Paint};
use super::progress::{ProgressLine, Recent, Status, whole};
use crate::escape::{escaped, shell_argument, shell_word};
use crate::job::{Event, Parcel, Place, PreparedSearch, Rate, Reporter, Screen};
use crate::key::Format;
use crate::notice::{Notice, Severity};
use crate::pattern::PatternId;
use crate::plan::{KeyOutput, OutputOptions, ProgressForm, SearchPlan};
use crate::search::{End, Progress, PublicFind, Summary};
use crate::store::{Destination, Kept, file_label};
use crate::sys::write_stdout;
use crate::wire::{self, Target};
use crate::words::{counted, grouped, listed};
use console::Term;

/// The most patterns that are listed by name.
const LISTED: usize = 10;

/// Without a progress line, the time until the first report of progress.
const FIRST_LINE: Duration = Duration::from_secs(10);

/// Without a progress line, the longest time between two reports of progress.
const LINE_EVERY: Duration = Duration::from_secs(60);

/// With progress for scripts, the time between two objects.
const OBJECT_EVERY: Duration = Duration::from_secs(1);

/// The shortest time of a search whose rate says something.
const LEAST_FOR_RATE: Duration = Duration::from_secs(1);

/// What to add to a command that makes several keys.
const APART: &str = "add -d keys, which writes each key to files of its own";

/// The time from which cheaper patterns are suggested, if the chance does not reach 50% within it.
const LONG: Duration = Duration::from_secs(600);

/// The keys to try, until the chance is 50%, from which a key that is only shown is worth a warning:
/// seconds on a fast machine, and minutes on a slow one.
const WORTH_SAVING: f64 = 1e7;

/// A reporter for people and, with `--json`, for scripts.
pub struct Report<'a> {
    search: &'a PreparedSearch,
    plan: &'a SearchPlan,
    err: Paint,
    out: Paint,
    /// The progress line, if stderr is a terminal that can rewrite it in place.
    progress_line: Option<ProgressLine>,
    /// Without a progress line, the time of the next report of progress, in a line or an object.
    line_due: Duration,
    forecast: Forecast<'a>,
    /// Whether the estimates for scripts are printed.
    has_estimates: bool,
    recent: Recent,
    /// When the search began.
    began: Option<Instant>,
    /// The files that were written last.
    kept: Option<Kept>,
    /// The number of keys that were written to files.
    files: u64,
    /// Whether the agent took a key.
    is_in_agent: bool,
    is_on_terminal: bool,
    /// Whether stderr is a terminal, where a person reads what to do next.
    has_reader: bool,
}

impl Reporter for Report<'_> {
    fn tell(&mut self, event: &Event, may_go_on: &dyn Fn() -> bool) -> io::Result<()> {
        match event {
            Event::Begin => self.odds(),
            Event::Rate(rate) => self.rate(*rate, may_go_on)?,
            Event::NothingMissing => self.nothing_missing()?,
            Event::Found(parcel) => self.found(parcel)?,
            Event::Progress { progress, is_encrypting } => self.progress(progress, *is_encrypting),
            Event::Notice(Notice { severity: Severity::Error, text }) => {
                self.line(format_args!("{} {}", self.err.error("error:"), escaped(text)));
            }
            Event::Notice(notice) => self.note(escaped(&notice.to_string())),
            Event::Show(private_text, screen) => self.show(private_text, screen),
            Event::Summary { summary, given_up } => self.summary(summary, given_up)?,
        }
        Ok(())
    }
}

impl Report<'_> {
    fn odds(&mut self) {
        self.began = Some(Instant::now());
        let patterns = &self.plan.patterns;
        for pattern in patterns.iter().take(LISTED) {
            self.note(Subject::pattern(pattern, self.err).odds());
        }
        if let Some(more @ 1..) = patterns.len().checked_sub(LISTED) {
            self.note(format_args!("... and {}", counted(more as u64, "more pattern")));
        }
        if let Some(any) = Subject::any(&self.forecast, self.err) {
            self.note(any.odds());
        }
        self.warn_of_stdout();
    }

    fn rate(&mut self, rate: Rate, may_go_on: &dyn Fn() -> bool) -> io::Result<()> {
        if self.plan.output.json && !std::mem::replace(&mut self.has_estimates, true) {
            // The first estimate is always printed, also after the shortest timeout.
            for pattern in &self.plan.patterns {
                let estimate = json::estimate(pattern, &mut self.forecast, rate);
                self.print_json(&estimate)?;
                if !may_go_on() {
                    break;
                }
            }
        }
        if !rate.is_settled {
            return Ok(());
        }
        // Some keys may be found already.
        let is_new = self.forecast.found_of().0 == self.search.existing;
        let subjects = match Subject::any(&self.forecast, self.err) {
            Some(any) => vec![any],
            None => {
                let all = &self.plan.patterns;
                let (missing, _) = self.forecast.missing_patterns(1);
                let named =
                    if is_new || all.len() == 1 { all.iter().take(LISTED).collect() } else { missing };
                named.into_iter().map(|pattern| Subject::pattern(pattern, self.err)).collect()
            }
        };
        subjects.iter().for_each(|subject| self.note(subject.times_line(rate)));
        let all = all_line(&mut self.forecast, rate, self.err);
        all.iter().for_each(|line| self.note(line));
        if is_new {
            self.suggestions(rate);
        }
        Ok(())
    }

    fn nothing_missing(&mut self) -> io::Result<()> {
        self.note("nothing to do: all keys exist");
        if self.plan.keys.agent.is_some() {
            self.note("the agent gets new keys alone: ssh-add FILE adds one that exists");
        }
        if self.plan.output.json {
            let nothing = Summary {
                found: 0,
                attempts: 0,
                elapsed: Duration::ZERO,
                end: End::Complete,
                threads: self.search.workers(),
            };
            self.print_json(&json::summary(&nothing, &[], &[], self.search.engine.name(), &[]))?;
        }
        Ok(())
    }

    fn found(&mut self, parcel: &Parcel) -> io::Result<()> {
        let Parcel { find, place, added, .. } = parcel;
        self.forecast.count(&find.patterns, find.attempts);
        let line = find.public_key.line(&parcel.comment);
        match place {
            _ if self.plan.output.json => {
                let encrypted = self.search.protection.is_some() && !parcel.is_exposed;
                let mut object = json::found(&self.plan.patterns, parcel, &line, encrypted);
                if let Some(name) = &self.plan.keys.host {
                    next_steps::add_host(&mut object, name, &find.public_key);
                }
                self.print_json(&object)?;
            }
            Place::Files(_) | Place::Elsewhere(_) | Place::Agent => {
                let line = self.out.highlight(&line, self.matched(find, Target::Key)) + "\n";
                let of_host =
                    self.plan.keys.host.as_ref().map(|name| next_steps::host_lines(name, &find.public_key));
                self.print(&(line + &of_host.unwrap_or_default()))?;
            }
            Place::Memory => {
                self.print(parcel.private_text())?;
                self.note(self.err.highlight(&line, self.matched(find, Target::Key)));
            }
            Place::Reported => {}
        }
        let found: Vec<String> = find.patterns.iter().map(|&id| self.found_as(find, id)).collect();
        let number = match self.forecast.found_of() {
            (_, 1) => String::new(),
            (found, wanted) => format!(" ({} of {})", grouped(found), grouped(wanted)),
        };
        let fingerprint = find.public_key.fingerprint();
        let fingerprint = self.err.highlight(&fingerprint, self.matched(find, Target::Fingerprint));
        self.note(format_args!("found {}{number}: {fingerprint}", found.join(" and ")));
        if let Some(kept) = parcel.kept() {
            self.note(format_args!(
                "{} in {}, public key in {}",
                if parcel.is_exposed { "private key" } else { self.private_key() },
                shell_word(&kept.private_file),
                shell_word(&kept.public_file)
            ));
            if let Some(Err(error)) = added {
                // `--quiet` does not hide where the key is.
                next_steps::not_added(error, kept).iter().for_each(|line| self.line(line));
            }
            self.kept = Some(kept.clone());
            self.files += 1;
        }
        if let (Some(Ok(())), Some(constraints)) = (added, self.plan.keys.agent) {
            self.note(next_steps::added(constraints));
            self.is_in_agent = true;
        }
        Ok(())
    }

    fn progress(&mut self, progress: &Progress, is_encrypting: bool) {
        if self.plan.output.progress == ProgressForm::Off {
            return;
        }
        self.recent.add(progress);
        let is_due = progress.elapsed >= self.line_due;
        // Before the first batch has ended there is no rate.
        if progress.attempts == 0 || self.progress_line.is_none() && !is_due {
            return;
        }
        let status = Status::new(&mut self.forecast, self.recent.rate(progress), progress);
        let status = Status { is_encrypting, ..status };
        if self.plan.output.progress == ProgressForm::Json {
            self.line_due = progress.elapsed + OBJECT_EVERY;
            return printing::raw(&json::line(&json::progress(&status, &self.devices())));
        }
        let mut parts = status.parts();
        parts.extend(self.searchers().map(|searchers| vec![searchers]));
        if let Some(progress_line) = &mut self.progress_line {
            let known = status.chance.filter(|chance| chance.is_known && !status.is_encrypting);
            progress_line.show(parts, known.map(|chance| chance.at_least));
        } else {
            self.line_due = progress.elapsed + progress.elapsed.min(LINE_EVERY);
            self.note(whole(&parts));
        }
    }

    fn show(&mut self, private_text: &str, screen: &Screen) {
        match screen {
            Screen::Stderr => self.line(private_text.trim_end()),
            Screen::Stdout => drop(self.print(private_text)),
            Screen::Own(terminal) => drop((&*terminal).write_all(private_text.as_bytes())),
        }
    }

    fn summary(&mut self, summary: &Summary, given_up: &[PatternId]) -> io::Result<()> {
        if let Some(progress_line) = self.progress_line.take() {
            progress_line.clear();
        }
        if self.plan.output.json {
            let (patterns, engine) = (&self.plan.patterns, self.search.engine.name());
            self.print_json(&json::summary(summary, given_up, patterns, engine, &self.devices()))?;
        }
        let (found, wanted) = self.forecast.found_of();
        let ended = match summary.end {
            End::Complete => None,
            End::Timeout => Some("time limit reached"),
            End::Signal(_) => Some("interrupted"),
        };
        if let Some(ended) = ended {
            let status = Status::new(&mut self.forecast, summary.keys_per_second(), &summary.progress());
            let chance = status.chance_forms().map_or(String::new(), |[chance, ..]| format!("; {chance}"));
            let keys = counted(wanted, "key");
            self.note(format_args!("{ended}: {} of {keys} found{chance}", grouped(found)));
            if !status.missing.0.is_empty() {
                self.note(format_args!("missing: {}", status.missing.0));
            }
            status.longer().iter().for_each(|longer| self.note(longer));
        }
        self.note(self.err.faint(self.tried(summary)));
        if ended.is_some() && given_up.is_empty() {
            self.note("searches have no progress to lose; just run it again");
        }
        if summary.found > 0 {
            self.next_steps();
        }
        Ok(())
    }
}

impl<'a> Report<'a> {
    /// Returns the reporter of a search that is about to begin.
    #[must_use]
    pub fn new(search: &'a PreparedSearch) -> Self {
        let plan = &search.plan;
        let OutputOptions { json, quiet, color, progress, .. } = plan.output;
        let is_for_scripts = progress == ProgressForm::Json;
        Self {
            search,
            plan,
            err: Paint::new(color, &io::stderr()),
            out: Paint::new(color, &io::stdout()),
            progress_line: if quiet || progress != ProgressForm::Auto {
                None
            } else {
                ProgressLine::new(plan.keys.exec.is_some())
            },
            line_due: if is_for_scripts { Duration::ZERO } else { FIRST_LINE },
            has_estimates: false,
            forecast: Forecast::new(
                &plan.patterns,
                &plan.quota,
                search.existing,
                !quiet || json || is_for_scripts,
            ),
            recent: Recent::new(),
            began: None,
            kept: None,
            files: 0,
            is_in_agent: false,
            is_on_terminal: io::stdout().is_terminal(),
            has_reader: io::stderr().is_terminal(),
        }
    }

    /// Returns the place of the first matching pattern in a public line or a fingerprint, in bytes.
    /// The range is empty if that is not the target of the pattern.
    fn matched(&self, find: &PublicFind, shown: Target) -> Range<usize> {
        let pattern = &self.plan.patterns[find.patterns[0]];
        if pattern.options().target != shown {
            return 0..0;
        }
        let start = match shown {
            Target::Key => wire::ALGORITHM.len() + 1 + wire::FIXED.len(),
            Target::Fingerprint => wire::FINGERPRINT_HEADER.len(),
        };
        let found = pattern.find(&find.public_key.body(shown)).unwrap_or_default();
        start + found.start..start + found.end
    }

    /// Returns a pattern of a find in bold, and how the key spells it if that differs: `alice as ALIcE`.
    fn found_as(&self, find: &PublicFind, id: PatternId) -> String {
        let pattern = &self.plan.patterns[id];
        let body = find.public_key.body(pattern.options().target);
        let spelled = pattern.find(&body).map(|range| String::from_utf8_lossy(&body[range]).into_owned());
        let name = self.err.bold(escaped(pattern.text()));
        match spelled.filter(|spelled| spelled != pattern.text()) {
            Some(spelled) => format!("{name} as {spelled}"),
            None => name,
        }
    }

    /// Prints a warning before a long search if stdout does not save its keys, or older ssh cannot read them.
    fn warn_of_stdout(&mut self) {
        let keys = &self.plan.keys;
        let is_on_stdout = keys.destination == Destination::Stream && !keys.is_agent_alone();
        let next = self.plan.patterns[0].odds();
        let next = self.forecast.any().map_or(next, |(_, any)| any.at_least);
        let attempts = self.forecast.all().map_or(next.attempts_for(0.50), |(_, [half, _])| half);
        if !is_on_stdout || attempts <= WORTH_SAVING {
            return;
        }
        self.note(Notice::warning(match self.forecast.found_of() {
            (_, 1) if self.is_on_terminal => "the key will only be shown here; -o FILE saves it",
            _ if self.is_on_terminal => "the keys will only be shown here; -d DIR saves them",
            _ if self.has_reader && keys.format == Format::Pkcs8 => {
                "ssh before OpenSSH 9.8 will not read what goes to stdout; --format openssh is for every ssh"
            }
            _ => return,
        }));
    }

    /// Prints cheaper patterns if the search is for one that takes long.
    fn suggestions(&self, rate: Rate) {
        let OutputOptions { quiet, arguments, .. } = self.plan.output;
        let [pattern] = &self.plan.patterns[..] else { return };
        if quiet || fits(pattern.odds(), rate, LONG) {
            return;
        }
        let suggestions = Suggestions::new(pattern, rate, None, arguments);
        let width = printing::width(&Term::stderr());
        suggestions.lines(width, self.err).iter().for_each(|line| self.note(line));
    }

    /// Returns the words for a private key of this search.
    fn private_key(&self) -> &'static str {
        if self.search.protection.is_some() { "encrypted private key" } else { "private key" }
    }

    /// Returns the command that saves such a key, or what to add to the one that was typed.
    fn next_time(&self) -> String {
        let pattern = &self.plan.patterns[0];
        if self.plan.patterns.len() > 1 || self.forecast.found_of().1 > 1 {
            return APART.to_owned();
        }
        let name = format!("id_{}", file_label(pattern.text()).to_lowercase());
        let KeyOutput { format, encryption, comment, exec, .. } = &self.plan.keys;
        if *format != Format::Openssh || encryption.is_some() || comment.is_some() || exec.is_some() {
            return format!("add -o {name}, which writes the key to files");
        }
        let words = (self.plan.output.arguments)(pattern);
        let words: Vec<String> = words.iter().map(|word| shell_argument(word)).collect();
        format!("vanity-ed25519 -o {name} {}", words.join(" "))
    }

    /// Returns how many keys were tried, in which time, and the rate if that time is long enough.
    fn tried(&self, summary: &Summary) -> String {
        let is_rate_known = summary.elapsed >= LEAST_FOR_RATE;
        let rate = is_rate_known.then(|| format!(", {} keys/s", rough(summary.keys_per_second())));
        format!(
            "{} tried in {}{} ({}, {})",
            counted(summary.attempts, "key"),
            clock(summary.elapsed),
            rate.unwrap_or_default(),
            self.searchers().unwrap_or_else(|| self.search.engine.name().to_owned()),
            counted(summary.threads as u64, "thread"),
        )
    }

    /// Returns the devices that search, each with the time of the search since when.
    fn devices(&self) -> Vec<(String, Duration)> {
        let since = |since: Instant| self.began.map_or(Duration::ZERO, |began| since.duration_since(began));
        self.search.engine.devices().into_iter().map(|device| (device.name, since(device.since))).collect()
    }

    /// Returns the engine with its devices, if it has any.
    fn searchers(&self) -> Option<String> {
        let named = |(name, since): &(String, Duration)| format!("{} since {}", escaped(name), clock(*since));
        let devices: Vec<String> = self.devices().iter().map(named).collect();
        (!devices.is_empty())
            .then(|| format!("{} with {}", self.search.engine.name(), listed(&devices, "and")))
    }

    /// Prints what to do with the keys.
    fn next_steps(&self) {
        let steps = |heading: &str, steps: &[Step]| {
            if self.has_reader {
                self.note(self.err.bold(heading));
                let width = printing::width(&Term::stderr());
                steps.iter().flat_map(|step| step.lines(width)).for_each(|line| self.note(line));
            }
        };
        let format = self.plan.keys.format;
        match (&self.kept, &self.plan.keys.host) {
            (Some(kept), Some(name)) => steps("next steps:", &next_steps::with_host_key(name, kept)),
            (Some(kept), None) if self.files > 1 => {
                let directory = kept.private_file.parent().unwrap_or(Path::new(""));
                let name = format!("next steps, for each NAME of the {}:", counted(self.files, "key"));
                let any = Kept {
                    private_file: directory.join("NAME"),
                    public_file: directory.join("NAME.pub"),
                    ..kept.clone()
                };
                steps(&name, &next_steps::with_files(&any, self.is_in_agent));
            }
            (Some(kept), None) => steps("next steps:", &next_steps::with_files(kept, self.is_in_agent)),
            (None, _) if self.is_in_agent => steps("next steps:", &next_steps::with_agent()),
            (None, _) if self.is_on_terminal && !self.plan.output.json => {
                self.note(next_steps::with_shown(self.forecast.found_of().1 > 1));
                self.note(format_args!("Not saved. Next time: {}", self.next_time()));
            }
            (None, _) if self.forecast.found_of().1 > 1 => {
                self.note(next_steps::on_stdout("private keys", format));
                if self.has_reader {
                    self.note(format_args!("next time {APART}"));
                }
            }
            (None, _) => {
                self.note(next_steps::on_stdout(self.private_key(), format));
                if self.has_reader && !self.plan.output.json {
                    self.note(next_steps::with_stdout(format));
                }
            }
        }
    }

    /// Prints a line to stderr, above the progress line, unless `--quiet` is given.
    fn note(&self, line: impl Display) {
        if !self.plan.output.quiet {
            self.line(line);
        }
    }

    /// Prints a line to stderr, above the progress line, even with `--quiet`.
    fn line(&self, line: impl Display) {
        match &self.progress_line {
            Some(progress_line) => progress_line.above(|| printing::line(&line)),
            None => printing::line(&line),
        }
    }

    /// Prints a result to stdout, above the progress line.
    fn print(&self, text: &str) -> io::Result<()> {
        match &self.progress_line {
            Some(progress_line) => progress_line.above(|| write_stdout(text.as_bytes())),
            None => write_stdout(text.as_bytes()),
        }
    }

    fn print_json(&self, object: &Value) -> io::Result<()> {
        self.print(&json::line(object))
    }
}
