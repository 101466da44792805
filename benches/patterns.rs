//! Measures the cost of patterns: for each kind, the loss of keys per second against a single
//! case-sensitive prefix of six characters.
//!
//! ```text
//! cargo bench --bench patterns -- --rounds 41 --seconds 0.05
//! cargo bench --bench patterns -- --rounds 41 --seconds 0.05 --only "10,000 words"
//! cargo bench --bench patterns --features gpu -- --engine gpu
//! ```
//!
//! One thread derives keys and matches them, as a worker of a search does. It does not prove its
//! hits. Each list is measured in turn with the prefix, so that a slow moment of the machine
//! affects both, after the engine has found its fastest table. It measures every engine of this
//! machine, or the one that is named. An engine matches with its own instruction set, so the table
//! shows what a machine has that has no better one.
//!
//! The words of long lists have 5 to 8 letters. For the engine of GPUs they have 8
//! to 11. This engine derives its hits again, and with shorter words that would take most of the
//! time.

#[allow(dead_code, reason = "rounds are paired here, not interleaved")]
mod rounds;

use std::time::{Duration, Instant};

use rand_chacha::ChaCha20Rng;
use rand_core::{Rng as _, SeedableRng as _};
use rayon::iter::{IntoParallelRefIterator as _, ParallelIterator as _};
use rounds::{Args, median, print_head, ratio};
use vanity_search::engine::{self, Engine, EngineWorker};
use vanity_search::pattern::{Kind, MatchOptions, Matcher, Pattern};
use vanity_search::search::SeedStream;
use vanity_search::wire::Target;

/// The pattern with which all lists are compared.
const BASELINE: &str = "Ab3dEf";

/// The longest time for which an engine may look for its fastest table.
const SETTLING: Duration = Duration::from_secs(20);

/// A list of patterns, and its name in the table.
struct List {
    name: String,
    patterns: Vec<Pattern>,
}

fn list(name: impl Into<String>, options: MatchOptions, texts: &[impl AsRef<str> + Sync]) -> List {
    let pattern = |text: &str| Pattern::new(text, options).expect("it can be searched");
    List { name: name.into(), patterns: texts.par_iter().map(|text| pattern(text.as_ref())).collect() }
}

/// Returns `count` different words of `least` to `least + 3` random letters. `first` makes the first
/// letter of each from a random number.
fn words(count: usize, least: u32, first: impl Fn(u32) -> u8) -> Vec<String> {
    let mut random = ChaCha20Rng::from_seed([9; 32]);
    let mut words = std::collections::BTreeSet::new();
    while words.len() < count {
        let len = least + random.next_u32() % 4;
        let mut word = String::from(char::from(first(random.next_u32())));
        word.extend((1..len).map(|_| char::from(b'a' + (random.next_u32() % 26) as u8)));
        words.insert(word);
    }
    words.into_iter().collect()
}

/// Returns all lists, each with `many` patterns at most. The words of long lists have at least
/// `least` letters.
fn lists(many: usize, least: u32) -> Vec<List> {
    let plain = MatchOptions::default();
    let of = |kind| MatchOptions { kind, ..plain };
    let exact = |kind| MatchOptions { case_sensitive: true, ..of(kind) };
    let leet = |kind| MatchOptions { leet: true, ..of(kind) };
    let fingerprint = |kind| MatchOptions { target: Target::Fingerprint, ..of(kind) };
    let any_letter = |random: u32| b'a' + (random % 26) as u8;
    let a_to_p = |random: u32| b'a' + (random % 16) as u8;
    let mut lists = vec![
        list("prefix, 6 characters, exact case", exact(Kind::Prefix), &[BASELINE]),
        list("prefix, 6 characters", of(Kind::Prefix), &["aliceb"]),
        list("anywhere, 6 characters, exact case", exact(Kind::Anywhere), &["vanity"]),
        list("anywhere, 6 characters", of(Kind::Anywhere), &["vanity"]),
        list("anywhere, 6 characters, leet", leet(Kind::Anywhere), &["vanity"]),
        list("anywhere, 4 characters", of(Kind::Anywhere), &["kett"]),
        list("word, 5 characters", of(Kind::Word), &["alice"]),
        list("word, 5 characters, leet", leet(Kind::Word), &["alice"]),
        list("suffix, 6 characters", of(Kind::Suffix), &["vanity"]),
        list("suffix, 6 characters, leet", leet(Kind::Suffix), &["vanity"]),
    ];
    for regex in [
        "kett[0-9]{2}",
        "^A.*kett.*9",
        "(kett|bass)[0-9]",
        "[0-9]{9}",
        "[a-f]{8}",
        "a.b.c.d",
        "^.*[x-z]{3}.*[0-9]{4}$",
    ] {
        lists.push(list(format!("regex {regex}"), of(Kind::Regex), &[regex]));
    }
    lists.extend([
        list("10 words", plain, &words(10, least, any_letter)),
        list("100 words", plain, &words(100, least, any_letter)),
        list("1,000 words", plain, &words(1000.min(many), least, any_letter)),
        list("10,000 words", plain, &words(10_000.min(many), least, any_letter)),
        list("10,000 words, exact case", exact(Kind::Anywhere), &words(10_000.min(many), least, any_letter)),
        list("100,000 words", plain, &words(100_000.min(many), least, any_letter)),
        list("1,000,000 prefixes", of(Kind::Prefix), &words(1_000_000.min(many), least, a_to_p)),
        list("fingerprint, prefix, 6 characters", fingerprint(Kind::Prefix), &["aliceb"]),
        list("fingerprint, anywhere, 6 characters", fingerprint(Kind::Anywhere), &["vanity"]),
        list("fingerprint, suffix, 6 characters", fingerprint(Kind::Suffix), &["vanitY"]),
        list("fingerprint, regex [a-f]{8}", fingerprint(Kind::Regex), &["[a-f]{8}"]),
    ]);
    lists
}

/// Returns keys per second, after a first batch, in which a device loads the list.
fn rate(worker: &mut dyn EngineWorker, matcher: &Matcher, seeds: &mut SeedStream, time: Duration) -> f64 {
    let (mut keys, mut hits) = (0, Vec::new());
    worker.batch(matcher, seeds, &mut hits);
    let start = Instant::now();
    while keys == 0 || start.elapsed() < time {
        keys += worker.batch(matcher, seeds, &mut hits);
        hits.clear();
    }
    keys as f64 / start.elapsed().as_secs_f64()
}

/// Measures all lists with an engine, and prints the table.
fn measure(engine: &dyn Engine, lists: &[List], args: &Args) {
    let set = engine.instruction_set();
    let each = lists.iter().map(|List { patterns, .. }| Matcher::with_set(set, patterns, 0..patterns.len()));
    let matchers: Vec<Matcher> = each.collect();
    let mut worker = engine.worker();
    let mut seeds = SeedStream::with_set(set).expect("the system gives random bytes");
    let time = Duration::from_secs_f64(args.seconds);
    let start = Instant::now();
    while !args.test && !engine.is_settled() && start.elapsed() < SETTLING {
        worker.batch(&matchers[0], &mut seeds, &mut Vec::new());
    }
    let mut rates = vec![(Vec::new(), Vec::new()); lists.len()];
    for _ in 0..args.rounds {
        for (matcher, (own, baseline)) in matchers.iter().zip(&mut rates) {
            own.push(rate(&mut *worker, matcher, &mut seeds, time));
            baseline.push(rate(&mut *worker, &matchers[0], &mut seeds, time));
        }
    }
    if args.test {
        return;
    }
    println!("\n{:<42}{:>12}{:>9}{:>9}", engine.name(), "keys/s", "ns more", "loss %");
    for (list, (own, baseline)) in lists.iter().zip(&rates) {
        let ratio = ratio(own, baseline);
        let more = 1e9 / median(baseline) * (1.0 / ratio - 1.0);
        println!("{:<42}{:>12.0}{:>9.1}{:>9.1}", list.name, median(own), more, 100.0 * (1.0 - ratio));
    }
}

/// Returns the lists for the engine called `name`. With `--only`, returns the first list and those
/// that have this text in their names.
fn lists_for(name: &str, args: &Args) -> Result<Vec<List>, String> {
    let least = if name == engine::GPU { 8 } else { 5 };
    let mut lists = lists(if args.test { 2000 } else { usize::MAX }, least);
    if let Some(only) = &args.only {
        if !lists.iter().any(|list| list.name.contains(only.as_str())) {
            return Err(format!("no list has '{only}' in its name"));
        }
        let mut is_first = true;
        lists.retain(|list| std::mem::take(&mut is_first) || list.name.contains(only.as_str()));
    }
    Ok(lists)
}

fn main() -> Result<(), String> {
    let mut args = Args::parse(&["--rounds", "--seconds", "--engine", "--only"])?;
    if args.test {
        (args.rounds, args.seconds) = (1, 0.001);
    } else {
        print_head("patterns");
    }
    let options = engine::EngineOptions::for_attempts(f64::INFINITY);
    let engines = match &args.engine {
        Some(name) => vec![engine::select(name, options).map_err(|error| error.to_string())?],
        None => engine::available(options),
    };
    for engine in &engines {
        measure(&**engine, &lists_for(engine.name(), &args)?, &args);
    }
    if args.test {
        println!("patterns: {} engines", engines.len());
    }
    Ok(())
}
