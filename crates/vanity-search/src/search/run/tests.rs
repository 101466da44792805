//! Tests searches with the reference engine, and with engines that have a fault.

use std::sync::Mutex;

use rand_core::{Rng as _, SeedableRng as _};

use super::*;
use crate::engine::{Engine, EngineWorker, SeedSource};
use crate::key::{PublicKey, Seed};
use crate::notice::Notice;
use crate::pattern::{Kind, MatchOptions, Pattern};
use crate::search::Signal;
use crate::wire::Target;

fn patterns(typed: &[&str]) -> Vec<Pattern> {
    let options = MatchOptions { kind: Kind::Regex, ..MatchOptions::default() };
    typed.iter().map(|text| Pattern::new(text, options).unwrap()).collect()
}

fn search<'a>(
    engine: &'a dyn Engine,
    patterns: &'a [Pattern],
    threads: usize,
    quota: Quota,
) -> Parameters<'a> {
    let goal = Goal::Keys(quota);
    let timeout = Some(Duration::from_secs(60));
    Parameters { engine, patterns, threads: NonZeroUsize::new(threads).unwrap(), goal, timeout }
}

/// An observer that records everything.
#[derive(Default)]
struct Log {
    finds: Vec<(PublicKey, Vec<PatternId>, u64)>,
    ticks: Vec<Duration>,
    notices: Vec<Notice>,
    fail_at: Option<usize>,
    /// A signal, and the number of the tick with which it comes.
    stop_at_tick: Option<(Stop, Signal, usize)>,
}

impl Observer for Log {
    type Error = &'static str;

    fn found(&mut self, finds: Vec<Find>) -> Result<(), Self::Error> {
        assert!((1..=MAX_FINDS_AT_ONCE).contains(&finds.len()));
        for find in finds {
            assert_eq!(find.seed.public_key(), find.public_key);
            self.finds.push((find.public_key, find.patterns.clone(), find.attempts));
            if self.fail_at == Some(self.finds.len()) {
                return Err("disk full");
            }
        }
        Ok(())
    }

    fn progress(&mut self, progress: &Progress) -> Result<(), Self::Error> {
        self.ticks.push(progress.elapsed);
        if let Some((stop, signal, tick)) = &self.stop_at_tick
            && self.ticks.len() == *tick
        {
            stop.request(*signal);
        }
        Ok(())
    }

    fn notice(&mut self, notice: &Notice) {
        self.notices.push(notice.clone());
    }
}

fn reference() -> Arc<dyn Engine> {
    crate::engine::select("reference", crate::engine::EngineOptions::for_attempts(0.0)).unwrap()
}

/// The reference engine with a function that can count or change its hits.
struct Altered<F> {
    inner: Arc<dyn Engine>,
    alter: F,
}

impl<F: Fn(&mut Vec<Hit>, u64) + Send + Sync> Engine for Altered<F> {
    fn name(&self) -> &'static str {
        "altered"
    }

    fn worker(&self) -> Box<dyn EngineWorker + '_> {
        Box::new(AlteredWorker { inner: self.inner.worker(), alter: &self.alter })
    }
}

struct AlteredWorker<'a, F> {
    inner: Box<dyn EngineWorker + 'a>,
    alter: &'a F,
}

impl<F: Fn(&mut Vec<Hit>, u64)> EngineWorker for AlteredWorker<'_, F> {
    fn batch(&mut self, matcher: &Matcher, seeds: &mut dyn SeedSource, hits: &mut Vec<Hit>) -> u64 {
        let tried = self.inner.batch(matcher, seeds, hits);
        (self.alter)(hits, tried);
        tried
    }
}

/// An engine that claims nothing until it has run some batches. Then two workers of a device join it.
struct Joining {
    inner: Arc<dyn Engine>,
    batches: AtomicUsize,
    joined: AtomicUsize,
}

impl Engine for Joining {
    fn name(&self) -> &'static str {
        "joining"
    }

    fn worker(&self) -> Box<dyn EngineWorker + '_> {
        Box::new(Alone(self.inner.worker(), &self.batches))
    }

    fn joined_workers(&self) -> usize {
        if self.batches.load(Relaxed) > 5 { 2 } else { 0 }
    }

    fn joined_worker(&self) -> Box<dyn EngineWorker + '_> {
        self.joined.fetch_add(1, Relaxed);
        self.inner.worker()
    }
}

struct Alone<'a>(Box<dyn EngineWorker + 'a>, &'a AtomicUsize);

impl EngineWorker for Alone<'_> {
    fn batch(&mut self, matcher: &Matcher, seeds: &mut dyn SeedSource, hits: &mut Vec<Hit>) -> u64 {
        let tried = self.0.batch(matcher, seeds, hits);
        hits.clear();
        self.1.fetch_add(1, Relaxed);
        tried
    }
}

#[test]
fn a_device_that_joins_a_search_finds_keys() {
    let patterns = patterns(&["^[a-f]"]);
    for threads in [1, 2] {
        let engine =
            Joining { inner: reference(), batches: AtomicUsize::new(0), joined: AtomicUsize::new(0) };
        let mut log = Log::default();
        let summary =
            search(&engine, &patterns, threads, Quota::Each(20)).run(&Stop::new(), &mut log).unwrap();
        assert_eq!((summary.end, summary.found, log.finds.len()), (End::Complete, 20, 20));
        assert_eq!((engine.joined.into_inner(), summary.threads), (2, threads));
    }
}

#[test]
fn every_pattern_gets_its_count_from_one_pass() {
    let patterns = patterns(&["^a", "b$", "zz"]);
    let engine = reference();
    for threads in [1, 3] {
        let mut log = Log::default();
        let summary =
            search(&*engine, &patterns, threads, Quota::Each(3)).run(&Stop::new(), &mut log).unwrap();
        assert_eq!(summary.end, End::Complete);
        assert_eq!(summary.found as usize, log.finds.len());
        for (id, pattern) in patterns.iter().enumerate() {
            let mine = log.finds.iter().filter(|(_, patterns, _)| patterns.contains(&id));
            assert_eq!(mine.count(), 3, "{}", pattern.text());
        }
        for (key, matched, _) in &log.finds {
            let body = key.body(Target::Key);
            assert!(matched.iter().all(|&id| patterns[id].find(&body).is_some()));
        }
    }
}

#[test]
fn any_ends_after_its_number_of_keys() {
    let patterns = patterns(&["^a", "^b"]);
    let mut log = Log::default();
    let engine = reference();
    let summary = search(&*engine, &patterns, 2, Quota::Any(5)).run(&Stop::new(), &mut log).unwrap();
    assert_eq!((summary.found, log.finds.len()), (5, 5));
}

#[test]
fn patterns_may_want_different_numbers_and_none() {
    let patterns = patterns(&["^a", "b$", "^c"]);
    let mut log = Log::default();
    let engine = reference();
    let quota = Quota::Left(vec![3, 0, 1]);
    search(&*engine, &patterns, 2, quota).run(&Stop::new(), &mut log).unwrap();
    for (id, count) in [3, 0, 1].into_iter().enumerate() {
        assert_eq!(log.finds.iter().filter(|(_, patterns, _)| patterns.contains(&id)).count(), count);
    }
}

/// An observer that is busy with the first finds until ten are made.
struct Slow<'a> {
    made: &'a AtomicU64,
    groups: Vec<usize>,
}

impl Observer for Slow<'_> {
    type Error = std::convert::Infallible;

    fn found(&mut self, finds: Vec<Find>) -> Result<(), Self::Error> {
        while self.groups.is_empty() && self.made.load(Relaxed) < 10 {
            std::thread::yield_now();
        }
        self.groups.push(finds.len());
        Ok(())
    }
}

#[test]
fn finds_that_wait_are_handed_over_together() {
    let patterns = patterns(&["^a"]);
    let made = AtomicU64::new(0);
    let count = |hits: &mut Vec<Hit>, _| {
        made.fetch_add(hits.len() as u64, Relaxed);
    };
    let engine = Altered { inner: reference(), alter: count };
    let mut slow = Slow { made: &made, groups: Vec::new() };
    let summary = search(&engine, &patterns, 1, Quota::Each(1000)).run(&Stop::new(), &mut slow).unwrap();
    assert_eq!(slow.groups.iter().sum::<usize>(), 1000);
    assert_eq!(summary.found, 1000);
    assert!(slow.groups.len() < 1000 && slow.groups.iter().all(|group| *group <= MAX_FINDS_AT_ONCE));
}

#[test]
fn attempts_are_counted_exactly() {
    let counted = AtomicU64::new(0);
    let patterns = patterns(&["^ab"]);
    for threads in [1, 2, 5] {
        counted.store(0, Relaxed);
        let count = |_: &mut Vec<Hit>, tried| {
            counted.fetch_add(tried, Relaxed);
        };
        let engine = Altered { inner: reference(), alter: count };
        let mut log = Log::default();
        let summary =
            search(&engine, &patterns, threads, Quota::Each(20)).run(&Stop::new(), &mut log).unwrap();
        assert_eq!(summary.attempts, counted.load(Relaxed), "{threads} threads");
        assert!(log.finds.iter().all(|(_, _, attempts)| (1..=summary.attempts).contains(attempts)));
    }
}

#[test]
fn the_attempts_of_a_find_include_its_own() {
    let patterns = patterns(&["^a"]);
    let before = Mutex::new(vec![0]);
    let first = |hits: &mut Vec<Hit>, tried| {
        hits.iter_mut().for_each(|hit| hit.index = 0);
        let mut before = before.lock().unwrap();
        let sum = before[before.len() - 1] + tried;
        before.push(sum);
    };
    let engine = Altered { inner: reference(), alter: first };
    let mut log = Log::default();
    search(&engine, &patterns, 1, Quota::Each(20)).run(&Stop::new(), &mut log).unwrap();
    let before = before.lock().unwrap();
    assert_eq!(log.finds.len(), 20);
    assert!(log.finds.iter().all(|(_, _, attempts)| before.contains(&(attempts - 1))), "{before:?}");
}

/// An engine with one notice.
struct Noting(Arc<dyn Engine>, AtomicBool);

impl Engine for Noting {
    fn name(&self) -> &'static str {
        "noting"
    }

    fn worker(&self) -> Box<dyn EngineWorker + '_> {
        self.0.worker()
    }

    fn notices(&self) -> Vec<Notice> {
        if self.1.swap(true, Relaxed) { Vec::new() } else { vec![Notice::warning("a device is gone")] }
    }
}

#[test]
fn notices_of_the_engine_are_reported_once_and_not_when_measuring() {
    let patterns = patterns(&["^a"]);
    for (goal, notes) in [(Goal::Keys(Quota::Each(1)), 1), (Goal::Measurement, 0)] {
        let engine = Noting(reference(), AtomicBool::new(false));
        let mut log = Log::default();
        let search =
            Parameters { timeout: Some(3 * TICK), goal, ..search(&engine, &patterns, 1, Quota::Any(1)) };
        search.run(&Stop::new(), &mut log).unwrap();
        assert_eq!((log.notices.len(), engine.notices().len()), (notes, 1 - notes));
    }
}

/// Returns a find that matches nothing.
fn find() -> Find {
    let seed = Seed::new([7; 32]);
    let public_key = seed.public_key();
    Find { seed, public_key, patterns: vec![0], attempts: 1, tried: 1, elapsed: Duration::ZERO }
}

#[test]
fn finds_that_wait_behind_an_error_are_kept() {
    let patterns = patterns(&["^a"]);
    let engine = reference();
    let search = search(&*engine, &patterns, 1, Quota::Any(u64::MAX));
    let running = Running::new(&search, 1);
    let (outbox, inbox) = channel();
    for message in [Ok(find()), Err(WorkerError::FalseHit), Ok(find()), Ok(find())] {
        outbox.send(message).unwrap();
    }
    drop(outbox);
    let mut log = Log::default();
    let outcome = running.oversee(&inbox, &Stop::new(), &mut log);
    assert!(matches!(outcome, Err(SearchError::FalseHit("reference"))));
    assert_eq!(log.finds.len(), 3);
}

#[test]
fn finds_that_wait_are_handed_over_up_to_a_limit() {
    let patterns = patterns(&["^a"]);
    let engine = reference();
    let search = search(&*engine, &patterns, 1, Quota::Any(u64::MAX));
    let running = Running::new(&search, 1);
    running.waiting.store(3 * MAX_FINDS_AT_ONCE, Relaxed);
    let (finds, inbox) = channel();
    (0..3 * MAX_FINDS_AT_ONCE).for_each(|_| finds.send(Ok(find())).unwrap());
    let mut log = Log::default();
    let accepted = running.accept(Ok(find()), &inbox, &mut log);
    assert!(matches!(accepted, Ok(kept) if kept == MAX_FINDS_AT_ONCE as u64));
    assert_eq!(log.finds.len(), MAX_FINDS_AT_ONCE);
}

#[test]
fn a_measurement_proves_its_first_finds() {
    let patterns = patterns(&["^[A-H]"]);
    for (wrong, is_noticed) in
        [(1, true), (PROVED_IN_MEASURING as u64, true), (PROVED_IN_MEASURING as u64 + 1, false)]
    {
        let seen = AtomicU64::new(0);
        let stop = Stop::new();
        let alter = |hits: &mut Vec<Hit>, _| {
            // A stop in the batch of the wrong hit could end the search before that hit is proved.
            if seen.load(Relaxed) >= wrong {
                stop.request(Signal::TERMINATE);
            }
            for hit in hits {
                if seen.fetch_add(1, Relaxed) + 1 == wrong {
                    hit.seed = Seed::new([7; 32]);
                }
            }
        };
        let engine = Altered { inner: reference(), alter };
        let mut log = Log::default();
        let search = Parameters { goal: Goal::Measurement, ..search(&engine, &patterns, 1, Quota::Any(1)) };
        let outcome = search.run(&stop, &mut log);
        assert_eq!(matches!(outcome, Err(SearchError::FalseHit("altered"))), is_noticed, "hit {wrong}");
        assert!(log.finds.is_empty());
    }
}

#[test]
fn a_wrong_claim_is_a_loud_failure_and_no_find() {
    let patterns = patterns(&["^a"]);
    let other_key = |hits: &mut Vec<Hit>, _| {
        hits.iter_mut().for_each(|hit| hit.public_key.0[31] ^= 1);
    };
    let other_seed = |hits: &mut Vec<Hit>, _| {
        hits.iter_mut().for_each(|hit| hit.seed = Seed::new([7; 32]));
    };
    let no_match = |hits: &mut Vec<Hit>, _| {
        let seed = Seed::new([7; 32]);
        let public_key = seed.public_key();
        assert!(!public_key.text().starts_with(b"AAAAC3NzaC1lZDI1NTE5AAAAIa"));
        hits.push(Hit { index: 0, seed, public_key, has_sign: true });
        hits.swap_remove(0);
    };
    type Fault = Box<dyn Fn(&mut Vec<Hit>, u64) + Send + Sync>;
    let faults: [Fault; 3] = [Box::new(other_key), Box::new(other_seed), Box::new(no_match)];
    for alter in faults {
        let engine = Altered { inner: reference(), alter };
        let mut log = Log::default();
        let outcome = search(&engine, &patterns, 2, Quota::Each(1)).run(&Stop::new(), &mut log);
        assert!(matches!(outcome, Err(SearchError::FalseHit("altered"))));
        assert!(log.finds.is_empty());
    }
}

#[test]
fn a_stop_and_a_timeout_end_a_search_and_are_its_end() {
    let patterns = patterns(&[&"x".repeat(40)]);
    let engine = reference();
    for signal in [Signal::INTERRUPT, Signal::TERMINATE, Signal::HANGUP] {
        let stop = Stop::new();
        let mut log = Log { stop_at_tick: Some((stop.clone(), signal, 3)), ..Log::default() };
        let summary = search(&*engine, &patterns, 1, Quota::Each(1)).run(&stop, &mut log).unwrap();
        assert_eq!(summary.end, End::Signal(signal));
        // At most ten ticks a second, possibly fewer.
        let due = (1..).map(|tick| tick * TICK);
        assert!(
            log.ticks.len() >= 3 && log.ticks.iter().zip(due).all(|(tick, due)| *tick >= due),
            "{:?}",
            log.ticks
        );
    }
    let timeout = Some(Duration::from_millis(50));
    let short = Parameters { timeout, ..search(&*engine, &patterns, 1, Quota::Each(1)) };
    let summary = short.run(&Stop::new(), &mut Log::default()).unwrap();
    assert_eq!((summary.end, summary.found), (End::Timeout, 0));
    // On a very busy machine the time can be over before a worker begins.
    assert!(summary.elapsed >= Duration::from_millis(50));
}

/// An observer that is busy with at most three finds, each for 10 ms.
#[derive(Default)]
struct Busy {
    until: Vec<Instant>,
    most: usize,
}

impl Observer for Busy {
    type Error = std::convert::Infallible;

    fn found(&mut self, finds: Vec<Find>) -> Result<(), Self::Error> {
        self.until.extend(finds.iter().map(|_| Instant::now() + Duration::from_millis(10)));
        self.most = self.most.max(self.until.len());
        Ok(())
    }

    fn ready(&mut self) -> Result<usize, Self::Error> {
        self.until.retain(|until| *until > Instant::now());
        Ok(3_usize.saturating_sub(self.until.len()))
    }
}

#[test]
fn no_more_finds_are_made_than_the_observer_takes() {
    let (engine, patterns) = (reference(), patterns(&["a"]));
    for threads in [1, 4] {
        let mut busy = Busy::default();
        let summary =
            search(&*engine, &patterns, threads, Quota::Any(50)).run(&Stop::new(), &mut busy).unwrap();
        assert_eq!((summary.end, summary.found, busy.most), (End::Complete, 50, 3));
    }
}

#[test]
fn the_observers_error_ends_a_search() {
    let patterns = patterns(&["^a"]);
    let mut log = Log { fail_at: Some(2), ..Log::default() };
    let engine = reference();
    let outcome = search(&*engine, &patterns, 2, Quota::Each(100)).run(&Stop::new(), &mut log);
    assert!(matches!(outcome, Err(SearchError::Observer("disk full"))));
    // Those that were made already are passed, too.
    assert!((2..100).contains(&log.finds.len()), "{}", log.finds.len());
}

#[test]
fn a_panic_in_a_worker_ends_a_search_and_is_passed_on() {
    let patterns = patterns(&["^a"]);
    let once = Mutex::new(true);
    let panic = |_: &mut Vec<Hit>, _| {
        assert!(!std::mem::take(&mut *once.lock().unwrap_or_else(|error| error.into_inner())), "on purpose");
    };
    let engine = Altered { inner: reference(), alter: panic };
    let run = || {
        let _ = search(&engine, &patterns, 2, Quota::Each(u64::MAX)).run(&Stop::new(), &mut Log::default());
    };
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).is_err());
}

/// Returns every engine of this machine, with small tables, which are built at once.
fn engines() -> Vec<Arc<dyn Engine>> {
    use crate::engine::EngineOptions;
    crate::require::engines(EngineOptions {
        table_memory: Some(1 << 20),
        ..EngineOptions::for_attempts(f64::INFINITY)
    })
}

/// Returns how many searches, or finds of devices, a statistical test has: `VANITY_SEARCHES`, or
/// `ordinarily`.
fn searches(ordinarily: u64) -> u64 {
    std::env::var("VANITY_SEARCHES").map_or(ordinarily, |searches| searches.parse().unwrap())
}

/// An engine with the same seeds in every run, so that a statistical test always has the same
/// result, whatever the engine and the size of its batches. Every worker has a stream of its own.
struct Repeatable<'a> {
    inner: &'a dyn Engine,
    workers: AtomicU64,
}

struct RepeatableWorker<'a>(Box<dyn EngineWorker + 'a>, RepeatableSeeds);

struct RepeatableSeeds(rand_chacha::ChaCha20Rng);

impl<'a> Repeatable<'a> {
    fn new(inner: &'a dyn Engine) -> Self {
        Self { inner, workers: AtomicU64::new(0) }
    }
}

impl Engine for Repeatable<'_> {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn worker(&self) -> Box<dyn EngineWorker + '_> {
        let mut random = rand_chacha::ChaCha20Rng::from_seed([1; 32]);
        random.set_stream(self.workers.fetch_add(1, Relaxed));
        Box::new(RepeatableWorker(self.inner.worker(), RepeatableSeeds(random)))
    }
}

impl EngineWorker for RepeatableWorker<'_> {
    fn batch(&mut self, matcher: &Matcher, _: &mut dyn SeedSource, hits: &mut Vec<Hit>) -> u64 {
        self.0.batch(matcher, &mut self.1, hits)
    }
}

impl SeedSource for RepeatableSeeds {
    fn fill(&mut self, seeds: &mut [[u8; 32]]) {
        self.0.fill_bytes(seeds.as_flattened_mut());
    }
}

/// Tests that no engine misses a key that matches: the numbers of keys that searches try are
/// geometric, with the computed odds.
#[test]
fn the_attempts_of_searches_are_geometric() {
    let patterns = [Pattern::new("ab", MatchOptions::default()).unwrap()];
    let odds = patterns[0].odds().probability();
    for engine in engines() {
        let engine = Repeatable::new(&*engine);
        let attempts: Vec<u64> = (0..searches(40))
            .map(|_| {
                let mut log = Log::default();
                search(&engine, &patterns, 1, Quota::Each(1)).run(&Stop::new(), &mut log).unwrap();
                let [(_, _, attempts)] = log.finds[..] else { panic!("{} finds", log.finds.len()) };
                attempts
            })
            .collect();
        check_geometric(&format!("searches by {}", engine.name()), odds, &attempts);
    }
}

/// Tests the same for the gaps between the finds of one search.
#[test]
fn the_gaps_between_finds_are_geometric() {
    for engine in engines() {
        check_gaps(&*engine, &patterns(&["^[A-D]"]), searches(2000));
    }
}

/// Tests the same with the fastest engine, for every kind of pattern, because each kind has its own
/// matcher.
#[test]
fn the_gaps_between_finds_of_every_kind_are_geometric() {
    the_gaps_of_every_kind_are_geometric(&*engines()[0], searches(2000));
}

/// Tests the same with all devices, including processors, which are slow devices.
#[cfg(feature = "gpu")]
#[test]
fn the_gaps_between_finds_of_devices_are_geometric() {
    if crate::gpu::tests::devices().is_empty() {
        return;
    }
    let engine = crate::engine::select("gpu", crate::engine::EngineOptions::for_attempts(1e9)).unwrap();
    the_gaps_of_every_kind_are_geometric(&*engine, searches(1000));
}

fn the_gaps_of_every_kind_are_geometric(engine: &dyn Engine, most_finds: u64) {
    let key = MatchOptions::default();
    let fingerprint = MatchOptions { target: Target::Fingerprint, ..key };
    let kind = |kind, options| MatchOptions { kind, ..options };
    for (text, options, finds) in [
        ("ab", key, 40_000),
        ("a", kind(Kind::Prefix, key), 40_000),
        ("z", kind(Kind::Suffix, key), 40_000),
        ("o", kind(Kind::Word, MatchOptions { leet: true, ..key }), 10_000),
        ("[0-9]{3}", kind(Kind::Regex, key), 40_000),
        ("a.*b.*c.*d", kind(Kind::Regex, key), 40_000),
        ("ab", fingerprint, 40_000),
        ("k", kind(Kind::Prefix, fingerprint), 40_000),
        ("Q", kind(Kind::Suffix, fingerprint), 40_000),
    ] {
        check_gaps(engine, &[Pattern::new(text, options).unwrap()], finds.min(most_finds));
    }
}

fn check_gaps(engine: &dyn Engine, patterns: &[Pattern], finds: u64) {
    let what = format!("{} by {}", patterns[0].text(), engine.name());
    let mut log = Log::default();
    let engine = Repeatable::new(engine);
    search(&engine, patterns, 1, Quota::Each(finds)).run(&Stop::new(), &mut log).unwrap();
    let mut last = 0;
    let gaps: Vec<u64> = log.finds.iter().map(|(_, _, at)| at - std::mem::replace(&mut last, *at)).collect();
    check_geometric(&what, patterns[0].odds().probability(), &gaps);
}

/// Checks numbers of keys that were tried with a chance of `p` each. The mean must be within 3% of
/// the odds, which is three standard errors of 10,000 numbers. For fewer numbers it must be within
/// three of their standard errors. A chi-square test rejects a geometric distribution only once in
/// 1,000 runs.
fn check_geometric(what: &str, p: f64, numbers: &[u64]) {
    let count = numbers.len() as f64;
    let mean = numbers.iter().sum::<u64>() as f64 / count;
    assert!(
        (mean * p - 1.0).abs() < 3.0 / count.min(10_000.0).sqrt(),
        "{what}: mean {mean}, odds {}",
        1.0 / p
    );

    // The upper bounds of bins with about the same share each. Their number is odd, so that the
    // degrees of freedom are even.
    let bound = |bin: u32| ((1.0 - f64::from(bin) / 21.0).ln() / (1.0 - p).ln()).ceil();
    let mut bounds: Vec<f64> = (1..21).map(bound).chain([f64::INFINITY]).collect();
    bounds.dedup();
    if bounds.len().is_multiple_of(2) {
        bounds.remove(0);
    }
    let mut seen = vec![0u32; bounds.len()];
    for number in numbers {
        seen[bounds.partition_point(|bound| *bound < *number as f64)] += 1;
    }
    let up_to = |bound: f64| 1.0 - (1.0 - p).powf(bound);
    let lower = std::iter::once(0.0).chain(bounds.iter().copied());
    let chi_square: f64 = lower
        .zip(&bounds)
        .zip(&seen)
        .map(|((lower, upper), seen)| {
            let expected = (up_to(*upper) - up_to(lower)) * count;
            (f64::from(*seen) - expected).powi(2) / expected
        })
        .sum();
    // The chance of such a chi-square or a larger one: for 2k degrees of freedom, the chance that a
    // Poisson variable of mean chi-square / 2 is below k.
    let half = chi_square / 2.0;
    let terms = (0..bounds.len() / 2).scan(1.0, |term, k| {
        let this = *term;
        *term *= half / (k + 1) as f64;
        Some(this)
    });
    let chance = (-half).exp() * terms.sum::<f64>();
    assert!(chance > 0.001, "{what}: chi-square {chi_square} has a chance of {chance}");
    println!("{what}: {count} numbers, mean {:.4} of the odds, p = {chance:.3}", mean * p);
}

#[test]
fn a_batch_is_tried_before_the_shortest_timeout() {
    let (engine, patterns) = (reference(), patterns(&["x{20}"]));
    let search = Parameters {
        timeout: Some(Duration::from_nanos(1)),
        ..search(&*engine, &patterns, 1, Quota::Any(1))
    };
    let summary = search.run(&Stop::new(), &mut Log::default()).unwrap();
    assert!(summary.end == End::Timeout && summary.attempts > 0);
}

/// An engine that has tried many keys before its first batch.
struct Late(Arc<dyn Engine>, u64);

struct LateWorker<'a>(Box<dyn EngineWorker + 'a>, u64);

impl Engine for Late {
    fn name(&self) -> &'static str {
        "late"
    }

    fn worker(&self) -> Box<dyn EngineWorker + '_> {
        Box::new(LateWorker(self.0.worker(), self.1))
    }
}

impl EngineWorker for LateWorker<'_> {
    fn batch(&mut self, matcher: &Matcher, seeds: &mut dyn SeedSource, hits: &mut Vec<Hit>) -> u64 {
        match std::mem::take(&mut self.1) {
            0 => self.0.batch(matcher, seeds, hits),
            before => before,
        }
    }
}

#[test]
fn the_count_goes_on_beyond_32_bits_and_up_to_64() {
    let patterns = patterns(&["^a"]);
    for before in [(1 << 32) - 100, (1 << 53) - 100, u64::MAX - (1 << 40)] {
        let mut log = Log::default();
        let engine = Late(reference(), before);
        let summary = search(&engine, &patterns, 1, Quota::Each(50)).run(&Stop::new(), &mut log).unwrap();
        let attempts: Vec<u64> = log.finds.iter().map(|(_, _, attempts)| *attempts).collect();
        assert!(attempts.is_sorted() && attempts[0] > before, "{attempts:?}");
        assert!(*attempts.last().unwrap() <= summary.attempts);
        assert!(summary.attempts - before < 1 << 32);
    }
}

#[test]
fn a_rate_is_attempts_over_time() {
    let summary = Summary {
        found: 1,
        attempts: 300,
        elapsed: Duration::from_millis(1500),
        end: End::Complete,
        threads: 1,
    };
    assert_eq!(summary.keys_per_second(), 200.0);
    let nothing = Summary { attempts: 0, elapsed: Duration::ZERO, ..summary };
    assert_eq!(nothing.keys_per_second(), 0.0);
}

#[test]
fn a_complete_pattern_is_no_longer_searched() {
    // Half of all keys, and one key in 800.
    let patterns = patterns(&["^[A-H]", "zzz"]);
    let hits = std::sync::atomic::AtomicU64::new(0);
    let count = |found: &mut Vec<Hit>, _| {
        hits.fetch_add(found.len() as u64, Relaxed);
    };
    let engine = Altered { inner: reference(), alter: count };
    let quota = Quota::Left(vec![1, 20]);
    let summary = search(&engine, &patterns, 1, quota).run(&Stop::new(), &mut Log::default()).unwrap();
    let hits = hits.into_inner();
    assert!(4 * hits < summary.attempts, "{hits} hits among {} keys", summary.attempts);
}

/// An observer that takes 20 ms for each find, as a slow disk does.
struct SlowDisk {
    stop: Stop,
    kept: u64,
}

impl Observer for SlowDisk {
    type Error = std::convert::Infallible;

    fn found(&mut self, finds: Vec<Find>) -> Result<(), Self::Error> {
        std::thread::sleep(finds.len() as u32 * Duration::from_millis(20));
        self.kept += finds.len() as u64;
        if self.kept > 40 {
            self.stop.request(Signal::TERMINATE);
        }
        Ok(())
    }
}

#[test]
fn few_finds_wait_for_a_slow_disk() {
    let (engine, patterns) = (reference(), patterns(&["a"]));
    let mut slow = SlowDisk { stop: Stop::new(), kept: 0 };
    let stop = slow.stop.clone();
    let summary = search(&*engine, &patterns, 2, Quota::Any(u64::MAX)).run(&stop, &mut slow).unwrap();
    assert_eq!(summary.end, End::Signal(Signal::TERMINATE));
    // The finds that waited when the signal came are kept, and are not worth more than the backlog.
    assert_eq!(summary.found, slow.kept);
    assert!(slow.kept <= 40 + 2 * 16, "{}", slow.kept);
}

#[test]
fn the_finds_that_wait_are_worth_a_moment() {
    let second = Duration::from_secs(1);
    assert_eq!(room_for(16, second / 100, 16), 32, "it doubles at most");
    assert_eq!(room_for(256, second / 100, 512), 2 * MAX_FINDS_AT_ONCE);
    assert_eq!(room_for(100, second, 100), 25);
    assert_eq!(room_for(1, 10 * second, 4), 1);
}
