//! Tests the hybrid engine with engines of the processor instead of devices.

use super::*;
use crate::engine::reference::Reference;
use crate::pattern::{MatchOptions, Pattern};

/// An engine with a fixed number of workers.
struct Fixed {
    inner: Box<dyn Engine>,
    workers: usize,
}

impl Engine for Fixed {
    fn name(&self) -> &'static str {
        "fixed"
    }

    fn worker(&self) -> Box<dyn Worker + '_> {
        Box::new(Marked(self.inner.worker()))
    }

    fn workers(&self, _: usize) -> usize {
        self.workers
    }

    fn tuning(&self) -> Option<Tuning> {
        Some(Tuning::without_prefetch(16, 56 << 20, 1 << 22))
    }

    fn notices(&self) -> Vec<Notice> {
        vec![Notice::note("fixed")]
    }
}

/// A worker that marks its hits.
struct Marked<'a>(Box<dyn Worker + 'a>);

impl Worker for Marked<'_> {
    fn batch(&mut self, matcher: &Matcher, seeds: &mut dyn SeedSource, hits: &mut Vec<Hit>) -> u64 {
        let before = hits.len();
        let tried = self.0.batch(matcher, seeds, hits);
        hits[before..].iter_mut().for_each(|hit| hit.index += 1000);
        tried
    }
}

/// A source whose seeds are all zero.
struct Zeros;

impl SeedSource for Zeros {
    fn fill(&mut self, seeds: &mut [[u8; 32]]) {
        seeds.fill([0; 32]);
    }
}

fn fixed(workers: usize) -> Box<dyn Engine> {
    Box::new(Fixed { inner: Box::new(Reference), workers })
}

/// Returns whether a worker is one of `fixed`.
fn is_of_graphics(worker: &mut dyn Worker) -> bool {
    let everything =
        [Pattern::new(".", MatchOptions { kind: crate::pattern::Kind::Regex, ..MatchOptions::default() })
            .unwrap()];
    let mut hits = Vec::new();
    let tried = worker.batch(&Matcher::new(&everything), &mut Zeros, &mut hits);
    assert!(tried > 0 && hits.len() as u64 == tried);
    hits.iter().all(|hit| hit.index >= 1000)
}

#[test]
fn graphics_processors_get_their_workers_first_and_again_after_a_search() {
    let both = Hybrid {
        graphics: fixed(2).into(),
        processor: Arc::new(Reference),
        graphics_workers: AtomicUsize::new(0),
    };
    assert_eq!(both.workers(3), 5);
    for _ in 0..2 {
        let mut workers: Vec<_> = (0..5).map(|_| both.worker()).collect();
        let found: Vec<bool> = workers.iter_mut().map(|worker| is_of_graphics(&mut **worker)).collect();
        assert_eq!(found, [true, true, false, false, false]);
    }
    assert_eq!(both.notices(), [Notice::note("fixed")]);
    assert_eq!(both.tuning(), fixed(2).tuning());
}

#[test]
fn the_candidates_are_each_alone_and_both() {
    let of = |graphics, processor: Result<Box<dyn Engine>, &'static str>| {
        candidates(graphics, processor)
            .map(|found| found.iter().map(|engine| engine.name()).collect::<Vec<_>>())
    };
    let processor = || Ok::<Box<dyn Engine>, _>(Box::new(Reference));
    assert_eq!(of(None, processor()), Ok(vec!["reference"]));
    assert_eq!(of(Some(Err("why".to_owned())), processor()), Ok(vec!["reference"]));
    assert_eq!(of(Some(Ok(fixed(1))), processor()), Ok(vec!["reference", "fixed", HYBRID]));
    assert_eq!(of(Some(Ok(fixed(1))), Err("none")), Ok(vec!["fixed"]));
    assert_eq!(of(Some(Err("why".to_owned())), Err("none")), Err("none"));
    assert_eq!(of(None, Err("none")), Err("none"));
}

#[test]
fn a_fallback_reports_its_reason_once() {
    let alone = Shared::new(Arc::new(Reference), Some(Notice::warning("why")));
    assert_eq!((alone.name(), alone.workers(3)), (Reference.name(), 3));
    assert_eq!(alone.notices(), [Notice::warning("why")]);
    assert!(alone.notices().is_empty());
}

#[test]
fn many_threads_are_not_compared_with_graphics_processors_for_a_short_search() {
    let of = |attempts, threads| Sizing {
        threads: std::num::NonZeroUsize::new(threads).unwrap(),
        ..Sizing::for_attempts(attempts)
    };
    // Six letters anywhere, and seven.
    let [six, seven] = [2.8e7, 9e8];
    assert!(!is_short(of(six, 1)) && is_short(of(six, 2)) && is_short(of(six, 32)));
    assert!(!is_short(of(seven, 32)) && is_short(of(seven, 64)));
    assert!(!is_short(of(f64::INFINITY, 1000)));
}
