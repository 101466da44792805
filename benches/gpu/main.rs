//! Checks and measures the keys that every device derives: the curve's part of the GPU engine,
//! without patterns.
//!
//! ```text
//! cargo bench --features gpu --bench gpu -- dalek [KEYS]
//! cargo bench --features gpu --bench gpu -- compare [KEYS]
//! cargo bench --features gpu --bench gpu -- rates [SECONDS]
//! ```
//!
//! `dalek` compares each key with ed25519-dalek's. `compare` compares more keys, with those of the
//! CPU's fastest engine. `rates` prints keys per second for each number of windows, each depth and
//! each number of work items.

use std::time::{Duration, Instant};

use ed25519_batch::{BackEnd, Deriver};
use rayon::iter::{IndexedParallelIterator as _, IntoParallelRefIterator as _, ParallelIterator as _};
use rayon::slice::ParallelSliceMut as _;
use vanity_search::chacha::ChaCha20;
use vanity_search::engine::derive_by_reference;
use vanity_search::gpu::{self, Device, Pipeline, WindowTable};
use vanity_search::random::fill_random;

/// Numbers of windows: tables from 24 GB to 1 MB.
const WINDOWS: [usize; 9] = [10, 11, 12, 13, 14, 16, 18, 21, 25];

/// Depths: numbers of keys that share an inversion.
const DEPTHS: [u32; 4] = [32, 64, 128, 256];

/// The windows with which every depth is tried, and the depth with which all windows are tried.
const USUAL: (usize, u32) = (16, 128);

/// The parts of the work items that a device runs at the same time, as quotients.
const PARTS: [(usize, usize); 3] = [(1, 2), (3, 4), (2, 1)];

/// The most keys in a launch that `compare` compares.
const LAUNCH: usize = 1 << 21;

/// The number of keys in a batch of the CPU.
const BATCH: usize = 4096;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    // `cargo test --benches` does not pass `--bench`.
    let test = !std::env::args().any(|word| word == "--bench");
    let cards = gpu::cards().unwrap_or_else(|error| {
        println!("skipped: {error}");
        Vec::new()
    });
    // A card by each library.
    let devices: Vec<_> = cards.into_iter().flatten().collect();
    // A CPU is measured only if there is no GPU: it would take minutes.
    let only_cpus = devices.iter().all(|device| device.is_cpu());
    for device in devices.into_iter().filter(|device| only_cpus || !device.is_cpu()) {
        println!("{}, {} MiB", device.name(), device.memory() >> 20);
        let number = words.get(1).and_then(|number| number.parse::<f64>().ok());
        match words.first().map(String::as_str) {
            _ if test => {
                dalek(&*device, BATCH);
                compare(&*device, BATCH, BATCH);
                rates(&*device, Duration::ZERO);
            }
            Some("dalek") => dalek(&*device, number.unwrap_or(1e6) as usize),
            Some("compare") => {
                compare(&*device, number.unwrap_or(1e8) as usize, number.map_or(LAUNCH, small_launch))
            }
            Some("rates") => rates(&*device, Duration::from_secs_f64(number.unwrap_or(2.0))),
            _ => println!("say `dalek [KEYS]`, `compare [KEYS]` or `rates [SECONDS]`"),
        }
    }
}

/// Compares each key of the first seeds of a stream with ed25519-dalek's.
fn dalek(device: &dyn Device, keys: usize) {
    let pipeline = Pipeline::new(device, 16).expect("a device that works");
    let table = pipeline.table(usual_windows(device)).expect("a device that works");
    let launch = (1 << 17).min(keys.next_multiple_of(pipeline.keys_of_group()));
    let mut queue = pipeline.queue(launch).expect("a device that works");
    let mut key = [0; 32];
    fill_random(&mut key).expect("randomness");
    println!("seeds: ChaCha20 of {key:02x?}; compared with ed25519-dalek");
    let (began, mut compared) = (Instant::now(), 0);
    let mut seeds = vec![[0; 32]; launch];
    while compared < keys {
        let first = compared as u64 / 2;
        queue.draw(&table, &key, first, launch, 1).expect("a device that works");
        ChaCha20::from_block(&key, first).fill(&mut seeds);
        let mut expected: Vec<_> = seeds.par_iter().map(|seed| derive_by_reference(seed).0).collect();
        expected.iter_mut().for_each(|key| key[31] &= 0x7f);
        let found = queue.keys().expect("a device that works");
        assert!(found == expected, "some of the keys {compared} and on differ");
        compared += launch;
    }
    println!("{compared} keys, no difference, {:.1} s", began.elapsed().as_secs_f64());
}

/// Returns the keys in a launch that compares few keys.
fn small_launch(keys: f64) -> usize {
    LAUNCH.min((keys as usize).next_multiple_of(BATCH))
}

/// Returns the number of windows of most rows. A CPU as a device would take seconds to make
/// the table of a GPU.
fn usual_windows(device: &dyn Device) -> usize {
    if device.is_cpu() { 21 } else { USUAL.0 }
}

/// Compares the keys of each launch with those of the CPU's fastest back end.
fn compare(device: &dyn Device, keys: usize, launch: usize) {
    let back_end = BackEnd::fastest();
    let sizing = ed25519_batch::Sizing { windows: Some(18), ..ed25519_batch::Sizing::for_keys(1e9) };
    let deriver = Deriver::new(back_end, sizing).expect("the CPU has it");
    // A small depth, so that a launch keeps more work items busy.
    let pipeline = Pipeline::new(device, 32).expect("a device that works");
    let table = pipeline.table(usual_windows(device)).expect("a device that works");
    let mut queue = pipeline.queue(launch).expect("a device that works");
    let mut key = [0; 32];
    fill_random(&mut key).expect("randomness");
    println!("seeds: ChaCha20 of {key:02x?}; compared with {}", back_end.name());
    let (began, mut compared) = (Instant::now(), 0);
    while compared < keys {
        let first = compared as u64 / 2;
        queue.draw(&table, &key, first, launch, 1).expect("a device that works");
        // The CPU works at the same time.
        let mut expected = vec![[0; 32]; launch];
        expected.par_chunks_mut(BATCH).enumerate().for_each(|(at, keys)| {
            let mut seeds = vec![[0; 32]; keys.len()];
            ChaCha20::from_block(&key, first + (at * BATCH) as u64 / 2).fill(&mut seeds);
            deriver.worker().derive(&seeds, keys);
        });
        let found = queue.keys().expect("a device that works");
        assert!(found == expected, "some of the keys {compared} and on differ");
        compared += launch;
    }
    println!("{compared} keys, no difference, {:.1} s", began.elapsed().as_secs_f64());
}

/// Prints keys per second by windows with the usual depth, then by depth and by work items with the
/// usual windows.
fn rates(device: &dyn Device, time: Duration) {
    println!("windows  depth   table MiB   ready s   items      keys/s");
    let most = if time.is_zero() { 1 } else { usize::MAX };
    let usual = usual_windows(device);
    let depths = std::iter::once(USUAL.1).chain(DEPTHS.into_iter().filter(|depth| *depth != USUAL.1));
    for depth in depths.take(most) {
        let pipeline = match Pipeline::new(device, depth) {
            Ok(pipeline) => pipeline,
            Err(error) => {
                println!("{usual:>7}{depth:>7}  {error}");
                continue;
            }
        };
        let row = |windows, part| {
            if let Err(error) = row(&pipeline, windows, part, time) {
                println!("{windows:>7}{depth:>7}  {error}");
            }
        };
        if depth != USUAL.1 {
            row(usual, (1, 1));
            continue;
        }
        // A CPU as a device takes minutes to make the largest tables.
        let least = if device.is_cpu() { usual } else { 0 };
        let windows = WINDOWS.into_iter().filter(|windows| *windows >= least);
        windows.take(most).for_each(|windows| row(windows, (1, 1)));
        PARTS.into_iter().take(most - 1).for_each(|part| row(usual, part));
    }
}

/// Measures a table, with a part of the work items that the device runs at the same time.
fn row(
    pipeline: &Pipeline,
    windows: usize,
    part: (usize, usize),
    time: Duration,
) -> Result<(), gpu::GpuError> {
    let began = Instant::now();
    let table = pipeline.table(windows)?;
    let ready = began.elapsed().as_secs_f64();
    let of_group = pipeline.keys_of_group();
    let groups = (pipeline.keys_at_once() / of_group * part.0 / part.1).max(1);
    let (keys, items, depth) = (groups * of_group, groups * 64, of_group / 64);
    let mut queue = pipeline.queue(keys)?;
    // The first launch brings the table into the caches.
    let (mut launches, mut began) = (0, Instant::now());
    while launches < 2 || began.elapsed() < time {
        if launches == 1 {
            began = Instant::now();
        }
        queue.draw(&table, &[7; 32], 0, keys, 4)?;
        queue.survivors()?;
        launches += 1;
    }
    let rate = ((launches - 1) * 4 * keys) as f64 / began.elapsed().as_secs_f64();
    let table = WindowTable::bytes(windows) as f64 / f64::from(1 << 20);
    println!("{windows:>7}{depth:>7}{table:>12.1}{ready:>10.2}{items:>8}{rate:>12.0}");
    Ok(())
}
