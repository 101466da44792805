//! Tests the engine on every device of this machine, and on devices with a fault.

use std::sync::Arc;

use std::time::{Duration, Instant};

use ed25519_batch::Ladder;
use zeroize::Zeroizing;

use super::open_card::{SCHEDULE, WINDOWS_OF_CPU};
use super::slots::{FIRST_PAUSE, TRIAL};
use super::worker::{BATCH_TIME, MOST_KEYS, OnDevice, pause_after};
use super::*;
use crate::chacha::ChaCha20;
use crate::engine::reference;
use crate::engine::traits::{Hit, SeedSource};
use crate::gpu::Device;
use crate::gpu::tests::{Faulty, Injected, devices};
use crate::pattern::{Kind, MatchOptions, Matcher, Pattern};
use crate::wire::Target;

const LONG: EngineOptions = EngineOptions::for_attempts(1e9);

fn reference_instead(_: EngineOptions) -> Arc<dyn Engine> {
    Arc::new(reference::Reference)
}

fn engine() -> Option<Gpu> {
    let cards: Vec<_> = devices().into_iter().map(|device| vec![device]).collect();
    (!cards.is_empty()).then(|| Gpu::new(cards, LONG, reference_instead).unwrap())
}

/// Returns the engine of a device that fails on demand, and of what reaches it otherwise.
fn faulty(device: Faulty, others: Card) -> Result<Gpu, String> {
    let device: Arc<dyn Device> = Arc::new(device);
    Gpu::new(vec![std::iter::once(device).chain(others).collect()], LONG, reference_instead)
}

/// Returns the first device.
fn card(engine: &Gpu) -> Arc<OpenCard> {
    engine.open_cards().into_iter().next().unwrap()
}

/// A source that gives the same key for every batch.
struct OneKey([u8; 32]);

impl SeedSource for OneKey {
    fn fill(&mut self, _: &mut [[u8; 32]]) {
        panic!("an engine that is given a key draws its own seeds");
    }

    fn key(&mut self) -> Option<Zeroizing<[u8; 32]>> {
        Some(Zeroizing::new(self.0))
    }
}

/// Returns the first seeds of a key, and their public keys.
fn known(key: &[u8; 32], count: usize) -> Vec<([u8; 32], [u8; 32])> {
    let mut seeds = vec![[0; 32]; count];
    ChaCha20::from_block(key, 0).fill(&mut seeds);
    seeds.into_iter().map(|seed| (seed, reference::public_key(&seed).0)).collect()
}

/// Returns lists of every kind of pattern: one, several and many patterns, with and without a
/// filter that rejects most keys.
fn lists(target: Target) -> Vec<Vec<Pattern>> {
    let plain = MatchOptions { target, ..MatchOptions::default() };
    let exact = MatchOptions { case_sensitive: true, ..plain };
    let leet = MatchOptions { leet: true, ..plain };
    let kind = |kind, options| MatchOptions { kind, ..options };
    let list = |typed: &[(&str, MatchOptions)]| -> Vec<Pattern> {
        // Fingerprints have other symbols at their ends, so some patterns are refused.
        typed.iter().filter_map(|(text, options)| Pattern::new(text, *options).ok()).collect()
    };
    let regex = |text| (text, kind(Kind::Regex, plain));
    let mut words = Vec::new();
    for at in 0..6000u32 {
        let letter = |shift: u32| char::from(b'a' + (at.wrapping_mul(2_654_435_761) >> shift) as u8 % 26);
        let text: String = [3, 8, 13, 18, 23].map(letter).into_iter().collect();
        words.push((text, if at % 3 == 0 { kind(Kind::Suffix, exact) } else { plain }));
    }
    vec![
        list(&[("ab", plain)]),
        list(&[("abc", plain)]),
        list(&[("Q", exact)]),
        list(&[("z9", kind(Kind::Suffix, plain))]),
        list(&[("so", kind(Kind::Suffix, leet))]),
        list(&[("k", kind(Kind::Prefix, plain))]),
        list(&[("x", kind(Kind::Word, plain))]),
        list(&[
            ("ale", leet),
            ("+/", plain),
            ("g", kind(Kind::Suffix, exact)),
            ("loo", kind(Kind::Prefix, leet)),
        ]),
        words.iter().filter_map(|(text, options)| Pattern::new(text, *options).ok()).collect(),
        list(&[regex("[0-9]{4}")]),
        list(&[regex("^A.*9")]),
        list(&[regex("a.*b.*c.*d.*[eg]$"), regex("x[yz]x"), ("word", plain)]),
        list(&["aa1", "bb2", "cc3", "dd4", "ee5", "ff6", "gg7", "hh8", "ii9", "jj0"].map(regex)),
    ]
}

#[test]
fn the_hits_are_the_keys_that_match_and_no_others() {
    let Some(engine) = engine() else { return };
    let mut key = [0; 32];
    getrandom::fill(&mut key).unwrap();
    println!("seeds: ChaCha20 of {key:02x?}");
    let known = known(&key, card(&engine).unit());
    let mut found = 0;
    let lists = [lists(Target::Key), lists(Target::Fingerprint)].concat();
    for patterns in lists.into_iter().filter(|patterns| !patterns.is_empty()) {
        let matcher = Matcher::new(&patterns);
        let mut hits = Vec::new();
        // A worker begins with the smallest batch.
        let tried = engine.worker().batch(&matcher, &mut OneKey(key), &mut hits);
        assert_eq!(tried, known.len() as u64);
        let shows = |key: &[u8; 32]| {
            let key = crate::key::PublicKey(*key);
            patterns.iter().any(|pattern| pattern.find(&key.body(pattern.options().target)).is_some())
        };
        let expected: Vec<u64> =
            (0..).zip(&known).filter(|(_, (_, key))| shows(key)).map(|(index, _)| index).collect();
        let claimed: Vec<u64> = hits.iter().map(|hit| hit.index).collect();
        assert_eq!(claimed, expected, "{} and {} more", patterns[0].text(), patterns.len() - 1);
        for hit in &hits {
            let (seed, key) = known[hit.index as usize];
            assert!(hit.has_sign && *hit.seed.bytes() == seed && hit.public_key.0 == key);
        }
        found += expected.len();
    }
    assert!(found > 1000, "{found} matches say little");
}

/// A batch of several rounds with more survivors than the device has room for: the host tests all
/// keys of the first round alone, and later batches have one round.
#[test]
fn all_keys_of_a_round_are_tested_when_too_many_survive() {
    let Some(engine) = engine() else { return };
    let any = MatchOptions { kind: Kind::Regex, ..MatchOptions::default() };
    let patterns = [Pattern::new("[a-m]", any).unwrap()];
    let matcher = Matcher::new(&patterns);
    let card = card(&engine);
    let most = card.most.load(Relaxed);
    let mut worker = OnDevice::new(card);
    worker.keys = 3 * most;
    let mut hits = Vec::new();
    assert_eq!(worker.batch(&matcher, &mut OneKey([8; 32]), &mut hits).unwrap(), most as u64);
    let known = known(&[8; 32], most);
    let shows = |key: &[u8; 32]| patterns[0].find(&crate::key::PublicKey(*key).body(Target::Key)).is_some();
    let expected: Vec<u64> =
        (0..).zip(&known).filter(|(_, (_, key))| shows(key)).map(|(index, _)| index).collect();
    assert!(expected.len() > most / 2);
    assert_eq!(hits.iter().map(|hit| hit.index).collect::<Vec<_>>(), expected);
    assert!(worker.is_dense);
    worker.adapt(Duration::ZERO, most);
    assert_eq!(worker.keys, most);
}

/// Adds larger tables than a CPU as a device has.
fn add_sizes(card: &OpenCard, more: &[usize]) {
    let mut tables = card.tables();
    tables.ladder = Ladder::new([&[WINDOWS_OF_CPU], more].concat(), SCHEDULE);
}

#[test]
fn larger_tables_are_tried_while_the_search_runs() {
    let Some(engine) = engine() else { return };
    let card = card(&engine);
    add_sizes(&card, &[25, 19]);
    let patterns = [Pattern::new("abc", MatchOptions::default()).unwrap()];
    let matcher = Matcher::new(&patterns);
    let (mut worker, mut random) = (engine.worker(), Random([4; 32]));
    let (mut hits, mut windows) = (Vec::new(), std::collections::BTreeSet::new());
    let end = Instant::now() + Duration::from_secs(60);
    while !engine.is_settled() {
        windows.insert(card.table().unwrap().windows());
        worker.batch(&matcher, &mut random, &mut hits);
        assert!(Instant::now() < end, "the ladder does not settle");
    }
    assert!(windows.is_superset(&[19, 25].into()) && windows.is_subset(&[19, 21, 25].into()));
    let tuning = engine.tuning().unwrap();
    assert_eq!(tuning.windows, card.table().unwrap().windows());
    assert_eq!(tuning.table_bytes, WindowTable::bytes(tuning.windows));
    assert!(tuning.batch_keys.is_multiple_of(card.unit()) && tuning.batch_keys > 0);
    assert!(!hits.is_empty() && engine.notices().is_empty());
    assert_eq!(card.tables().each.len(), 1, "the others are dropped");
}

#[test]
fn a_table_without_memory_is_left_out_and_a_wrong_one_is_a_fault() {
    let Some(device) = devices().into_iter().next() else { return };
    let (device, switch) = Faulty::new(device);
    let engine = faulty(device, Vec::new()).unwrap();
    let card = card(&engine);
    add_sizes(&card, &[25]);
    *switch.lock().unwrap() = Some(Injected::WrongTable);
    assert!(matches!(card.table(), Err(DropReason::Call(GpuError::WrongTable))));
    *switch.lock().unwrap() = Some(Injected::Memory);
    assert_eq!(card.table().unwrap().windows(), WINDOWS_OF_CPU);
    assert!(engine.is_settled());
}

#[test]
fn batches_grow_and_shrink_in_whole_units() {
    let Some(engine) = engine() else { return };
    let card = card(&engine);
    let most = card.most.load(Relaxed);
    let mut worker = OnDevice::new(Arc::clone(&card));
    for _ in 0..40 {
        worker.adapt(Duration::ZERO, most);
        assert!(worker.keys.is_multiple_of(card.unit()));
    }
    assert!(worker.keys <= MOST_KEYS && 2 * worker.keys > MOST_KEYS, "{} keys", worker.keys);
    assert!(worker.keys.is_multiple_of(most), "whole rounds");
    let keys = worker.keys;
    worker.adapt(BATCH_TIME * 3 / 4, most);
    assert_eq!(worker.keys, keys);
    for _ in 0..40 {
        worker.adapt(BATCH_TIME * 2, most);
        let of = if worker.keys < most { card.unit() } else { most };
        assert!(worker.keys.is_multiple_of(of));
    }
    assert_eq!(worker.keys, card.unit());
    worker.is_dense = true;
    (0..40).for_each(|_| worker.adapt(Duration::ZERO, most));
    assert_eq!(worker.keys, most, "one round");
}

/// Tests that a device with any fault is named and dropped, and that the search continues with
/// right keys.
#[test]
fn a_device_with_a_fault_is_dropped_by_name_and_the_search_goes_on() {
    let faults = [
        Injected::Launch,
        Injected::Memory,
        Injected::Read,
        Injected::WrongKeys,
        Injected::FarPlace,
        Injected::SamePlace,
    ];
    for fault in faults {
        let Some(device) = devices().into_iter().next() else { return };
        let name = device.name().to_owned();
        let (device, switch) = Faulty::new(device);
        let engine = faulty(device, Vec::new()).unwrap();
        let patterns =
            [Pattern::new("^[a-f]", MatchOptions { kind: Kind::Regex, ..MatchOptions::default() }).unwrap()];
        let matcher = Matcher::new(&patterns);
        let mut hits = Vec::new();
        let mut worker = engine.worker();
        if fault != Injected::Memory {
            assert!(worker.batch(&matcher, &mut OneKey([1; 32]), &mut hits) > 0);
        }
        assert!(engine.notices().is_empty());
        hits.clear();

        *switch.lock().unwrap() = Some(fault);
        let mut random = Random([2; 32]);
        for _ in 0..3 {
            assert!(worker.batch(&matcher, &mut random, &mut hits) > 0, "{fault:?}");
        }
        assert!(!hits.is_empty());
        for hit in &hits {
            assert!(hit.possible().any(|key| key == hit.seed.public_key()), "{fault:?}");
        }
        let notes = engine.notices();
        assert_eq!(notes.len(), 1, "{fault:?}: {notes:?}");
        assert!(notes[0].text.contains(&name), "{notes:?}");
        let is_place = matches!(fault, Injected::FarPlace | Injected::SamePlace);
        assert!(!is_place || notes[0].text.contains("position"), "{notes:?}");
        assert_eq!(engine.tuning(), None, "no device is left");
        // New workers do not use the device either.
        assert!(engine.worker().batch(&matcher, &mut random, &mut hits) > 0);
        assert!(engine.notices().is_empty());
    }
}

/// A source of fresh seeds and keys.
struct Random([u8; 32]);

impl SeedSource for Random {
    fn fill(&mut self, seeds: &mut [[u8; 32]]) {
        ChaCha20::new(&self.0).fill(seeds);
        self.0 = *crate::key::scalar_bytes(&self.0);
    }

    fn key(&mut self) -> Option<Zeroizing<[u8; 32]>> {
        self.0 = *crate::key::scalar_bytes(&self.0);
        Some(Zeroizing::new(self.0))
    }
}

#[test]
fn a_device_that_fails_its_check_is_not_used() {
    use Injected::{Launch, Memory, Read, WrongKeys, WrongTable};
    for fault in [Launch, Memory, Read, WrongKeys, WrongTable] {
        let Some(device) = devices().into_iter().next() else { return };
        let name = device.name().to_owned();
        let (device, switch) = Faulty::new(device);
        *switch.lock().unwrap() = Some(fault);
        let refused = faulty(device, Vec::new()).err().unwrap();
        assert!(refused.contains(&name), "{fault:?}: {refused}");
        assert_eq!(refused.contains("wrong multiples"), fault == WrongTable, "{refused}");
    }
}

#[test]
fn secrets_on_a_device_are_overwritten() {
    let Some(device) = devices().into_iter().next() else { return };
    let (device, _) = Faulty::new(device);
    let seen = Arc::clone(&device.kept);
    let engine = faulty(device, Vec::new()).unwrap();
    let patterns = [Pattern::new("abc", MatchOptions::default()).unwrap()];
    let mut worker = engine.worker();
    worker.batch(&Matcher::new(&patterns), &mut OneKey([3; 32]), &mut Vec::new());
    let before = seen.lock().unwrap().searches;
    drop(worker);
    let kept = seen.lock().unwrap();
    assert_eq!(kept.searches, before + 1, "the stack and the memory of the groups");
    let read = kept.wiped();
    assert!(read >= 3, "numerators, denominators, the place in the stream: {read}");
}

/// A card that CUDA cannot use, whatever step fails, is used by OpenCL, with one notice.
#[test]
fn a_card_that_one_library_cannot_use_is_used_by_another() {
    use Injected::{Compile, Launch, Memory, Read, Room, WrongKeys, WrongTable};
    for fault in [Compile, Launch, Memory, Read, Room(0), WrongKeys, WrongTable] {
        let Some(other) = devices().into_iter().next() else { return };
        let (device, switch) = Faulty::new(Arc::clone(&other));
        *switch.lock().unwrap() = Some(fault);
        let name = other.name().to_owned();
        let engine = faulty(device.named("card (CUDA)", 1), vec![other]).unwrap();
        let notices = engine.notices();
        let [notice] = &notices[..] else { panic!("{fault:?}: {notices:?}") };
        println!("{fault:?}: {notice}");
        assert!(notice.text.starts_with("the device 'card (CUDA)' is not used: "), "{notice}");
        assert!(notice.text.ends_with(&format!("; '{name}' is used")), "{notice}");
        assert_eq!(card(&engine).name, name);
    }
}

/// Runs batches until one comes from the device, or from the CPU in its place.
fn run_until(worker: &mut dyn EngineWorker, engine: &Gpu, is_open: bool) -> Vec<Hit> {
    let patterns = [Pattern::new("ab", MatchOptions::default()).unwrap()];
    let matcher = Matcher::new(&patterns);
    let (mut random, mut hits) = (Random([9; 32]), Vec::new());
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        assert!(worker.batch(&matcher, &mut random, &mut hits) > 0);
        if engine.open_cards().is_empty() != is_open {
            return hits;
        }
        assert!(Instant::now() < end, "the device is open: {}", !is_open);
    }
}

#[test]
fn a_dropped_device_is_opened_again_with_a_line_each_way() {
    let Some(device) = devices().into_iter().next() else { return };
    let name = device.name().to_owned();
    let (device, switch) = Faulty::new(device);
    let engine = faulty(device, Vec::new()).unwrap();
    let slot = Arc::clone(&engine.slots.each()[0]);
    // Lets the card be opened at once, and returns its last pause.
    let due_now = || {
        let mut state = slot.state();
        assert!(state.due.is_some(), "the card is open");
        state.due = Some(Instant::now());
        state.pause
    };
    let mut worker = engine.worker();
    run_until(&mut *worker, &engine, true);
    *switch.lock().unwrap() = Some(Injected::Launch);
    run_until(&mut *worker, &engine, false);
    let told = engine.notices();
    assert_eq!(told.len(), 1);
    assert!(told[0].text.contains("it is tried again later"), "{}", told[0]);
    // It fails again, in silence, and has a longer pause.
    assert_eq!(due_now(), FIRST_PAUSE);
    let end = Instant::now() + Duration::from_secs(60);
    while slot.state().pause != 2 * FIRST_PAUSE {
        run_until(&mut *worker, &engine, false);
        assert!(Instant::now() < end);
    }
    assert_eq!(engine.notices(), []);
    *switch.lock().unwrap() = None;
    due_now();
    let hits = run_until(&mut *worker, &engine, true);
    for hit in &hits {
        assert!(hit.possible().any(|key| key == hit.seed.public_key()));
    }
    let again = Notice::note(format!("the device '{name}' is used again"));
    println!("{}\n{again}", told[0]);
    assert_eq!(engine.notices(), [again]);
    *switch.lock().unwrap() = Some(Injected::Launch);
    run_until(&mut *worker, &engine, false);
    assert_eq!(due_now(), 4 * FIRST_PAUSE, "a device that is soon dropped again");
}

/// A card whose memory is full but for a little, from the start or while it searches.
#[test]
fn tables_and_batches_shrink_to_the_memory_that_is_there() {
    let Some(device) = devices().into_iter().next() else { return };
    let (device, switch) = Faulty::new(device);
    let least = WindowTable::bytes(40) / 4;
    *switch.lock().unwrap() = Some(Injected::Room(least));
    let engine = faulty(device, Vec::new()).unwrap();
    let card = card(&engine);
    let table = card.table().unwrap();
    assert!((40..60).contains(&table.windows()), "{} windows", table.windows());
    // A round that needs twice the room for its keys.
    card.most.store(card.unit() * 8, Relaxed);
    *switch.lock().unwrap() = Some(Injected::Room(card.unit() * 4 * 8));
    let mut worker = OnDevice::new(Arc::clone(&card));
    let patterns = [Pattern::new("abc", MatchOptions::default()).unwrap()];
    let tried = worker.batch(&Matcher::new(&patterns), &mut OneKey([7; 32]), &mut Vec::new()).unwrap();
    assert_eq!((tried, card.most.load(Relaxed)), (card.unit() as u64, card.unit() * 4));
    *switch.lock().unwrap() = Some(Injected::Room(0));
    let mut worker = OnDevice::new(card);
    let failed = worker.batch(&Matcher::new(&patterns), &mut OneKey([7; 32]), &mut Vec::new());
    assert!(matches!(failed, Err(DropReason::Call(GpuError::NoMemory))));
}

/// Waits until a device has joined, or none will.
fn wait_for(engine: &Gpu) {
    let end = Instant::now() + Duration::from_secs(60);
    while engine.slots.is_opening() {
        assert!(Instant::now() < end, "the device is not ready");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_device_joins_when_it_is_ready_and_is_not_kept_if_it_is_slow() {
    let Some(device) = devices().into_iter().next() else { return };
    let name = device.name().to_owned();
    let (may_list, list) = std::sync::mpsc::channel::<()>();
    let pace = Arc::<Pace>::default();
    let wait = move || list.recv().map(|()| vec![vec![device]]).map_err(|error| error.to_string());
    let engine = Gpu::joining(wait, LONG, Arc::clone(&pace));
    assert_eq!((engine.joined(), engine.is_settled()), (0, false));
    may_list.send(()).unwrap();
    wait_for(&engine);
    assert_eq!((engine.joined(), engine.workers(0)), (1, WORKERS));
    assert_eq!(engine.notices(), [Notice::note(format!("the device '{name}' searches, too"))]);
    assert_eq!(engine.devices()[0].name, name);

    let patterns = [Pattern::new("abc", MatchOptions::default()).unwrap()];
    let matcher = Matcher::new(&patterns);
    let mut worker = engine.worker();
    let mut batch = || worker.batch(&matcher, &mut Random([5; 32]), &mut Vec::new());
    // Four threads of the CPU, which have tried many keys before the first batch of the device.
    pace.workers.store(4, Relaxed);
    pace.keys.store(1 << 40, Relaxed);
    let tried = batch();
    let card = card(&engine);
    assert_eq!(*card.trial.lock().unwrap().as_mut().map(|(_, before)| before).unwrap(), 1 << 40);
    // Since then each has tried twice as many as the device, when that is compared, and then more.
    let all = tried + batch();
    pace.keys.fetch_add(4 * 2 * all, Relaxed);
    let long_ago = |(began, _): &mut (Instant, u64)| *began = Instant::now() - TRIAL;
    card.trial.lock().unwrap().as_mut().map(long_ago).unwrap();
    let all = all + batch();
    assert!(tried > 0 && engine.notices().is_empty());
    // A batch at most doubles.
    pace.keys.fetch_add(4 * 2 * 2 * all, Relaxed);
    assert!(batch() > 0);
    let slow = format!("the device '{name}' is not used: it is slower than half a thread of the CPU");
    assert_eq!(engine.notices(), [Notice::warning(slow)]);
    assert_eq!((batch(), engine.open_cards().len(), engine.joined()), (0, 0, 1));
}

#[test]
fn a_device_pauses_for_the_rest_of_the_time() {
    let millis = Duration::from_millis;
    for (took, load, pause) in [(40, 100, 0), (40, 50, 40), (10, 25, 30), (50, 10, 450), (400, 50, 50)] {
        let paused = pause_after(millis(took), load);
        assert!(paused.abs_diff(millis(pause)) < millis(1), "{took} ms at {load}%: {paused:?}");
    }
    let Some(device) = devices().into_iter().next() else { return };
    let half = EngineOptions { device_load: 50, ..LONG };
    let engine = Gpu::new(vec![vec![device]], half, reference_instead).unwrap();
    assert_eq!(engine.workers(8), 1);
}

#[test]
fn a_card_that_cannot_join_is_reported_and_a_machine_without_one_is_not() {
    let none = Gpu::joining(|| Ok(Vec::new()), LONG, Arc::default());
    wait_for(&none);
    assert!(none.is_settled() && none.joined() == 0 && none.notices().is_empty());
    let wrong = Gpu::joining(|| Err("device 63 does not exist".to_owned()), LONG, Arc::default());
    wait_for(&wrong);
    assert_eq!(wrong.notices(), [Notice::warning("device 63 does not exist")]);
    let Some(device) = devices().into_iter().next() else { return };
    let (device, switch) = Faulty::new(device);
    *switch.lock().unwrap() = Some(Injected::Compile);
    let failed = Gpu::joining(|| Ok(vec![vec![Arc::new(device)]]), LONG, Arc::default());
    wait_for(&failed);
    assert_eq!((failed.joined(), failed.notices().len()), (0, 1));
}

/// Beside the CPU nothing replaces a device that is dropped.
#[test]
fn a_device_that_joined_and_fails_leaves_the_search_to_the_cpu() {
    let Some(device) = devices().into_iter().next() else { return };
    let (device, switch) = Faulty::new(device);
    let engine = Gpu::joining(|| Ok(vec![vec![Arc::new(device)]]), LONG, Arc::default());
    wait_for(&engine);
    let patterns = [Pattern::new("abc", MatchOptions::default()).unwrap()];
    let matcher = Matcher::new(&patterns);
    let mut worker = engine.worker();
    let mut batch = || worker.batch(&matcher, &mut Random([6; 32]), &mut Vec::new());
    assert!(batch() > 0);
    *switch.lock().unwrap() = Some(Injected::Launch);
    assert_eq!(batch(), 0);
    assert_eq!(engine.notices().len(), 2);
}
