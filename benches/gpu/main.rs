//! Checks and measures the keys that every device derives: the curve's part of the GPU engine,
//! without patterns.
//!
//! ```text
//! cargo bench --features gpu --bench gpu -- compare [KEYS]
//! cargo bench --features gpu --bench gpu -- rates [SECONDS]
//! ```
//!
//! `compare` compares a checksum of the keys of each launch with that of the processor. `rates`
//! prints keys per second for each number of windows and each depth, with registers and spills.

use std::time::{Duration, Instant};

use ed25519_batch::{BackEnd, ChaCha20, Deriver, Table};
use rayon::iter::{IndexedParallelIterator as _, IntoParallelIterator as _, ParallelIterator as _};
use vanity_ed25519::engine::pipeline;
use vanity_ed25519::gpu::{self, Device, Pipeline, WIDE_PRODUCTS, digest_of};
use vanity_ed25519::sys::fill_random;

/// Numbers of windows. The digits have from 18 down to 10 bits.
const WINDOWS: [usize; 7] = [14, 15, 16, 17, 18, 21, 25];

/// Depths: numbers of keys that share an inversion.
const DEPTHS: [u32; 4] = [8, 16, 32, 64];

/// The windows with which every depth is tried, and the depth with which all windows are tried.
const USUAL: (usize, u32) = (16, 32);

/// The number of keys in a launch.
const LAUNCH: usize = 1 << 21;

/// The number of keys in a batch of the processor.
const BATCH: usize = 4096;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    // `cargo test --benches` does not pass `--bench`.
    let test = !std::env::args().any(|word| word == "--bench");
    let devices = gpu::devices().unwrap_or_else(|error| {
        println!("skipped: {error}");
        Vec::new()
    });
    for device in devices {
        println!("{}, {} MiB", device.name(), device.memory() >> 20);
        let number = words.get(1).and_then(|number| number.parse::<f64>().ok());
        match words.first().map(String::as_str) {
            _ if test => {
                compare(&*device, BATCH, BATCH);
                rates(&*device, Duration::ZERO, BATCH);
            }
            Some("compare") => compare(&*device, number.unwrap_or(1e8) as usize, LAUNCH),
            Some("rates") => rates(&*device, Duration::from_secs_f64(number.unwrap_or(2.0)), LAUNCH),
            _ => println!("say `compare [KEYS]` or `rates [SECONDS]`"),
        }
    }
}

/// Compares the checksum of each launch by the device with that by the processor's fastest back
/// end.
fn compare(device: &dyn Device, keys: usize, launch: usize) {
    let back_end = BackEnd::fastest();
    let sizing = ed25519_batch::Sizing { windows: Some(18), ..ed25519_batch::Sizing::for_keys(1e9) };
    let deriver = Deriver::new(back_end, sizing).expect("the processor has it");
    let pipeline = match pipeline(device, USUAL.0, USUAL.1) {
        Ok(pipeline) => pipeline,
        Err(error) => return println!("{error}"),
    };
    let mut line = pipeline.line(launch).expect("a device that works");
    let mut key = [0; 32];
    fill_random(&mut key).expect("randomness");
    println!("seeds: ChaCha20 of {key:02x?}; compared with {}", back_end.name());
    let (began, mut compared) = (Instant::now(), 0);
    while compared < keys {
        let first = compared as u64 / 2;
        line.draw(&key, first, launch).expect("a device that works");
        // The processor works at the same time.
        let batches = (0..launch).into_par_iter().step_by(BATCH);
        let expected = batches
            .map(|at| sum(&deriver, ChaCha20::from_block(&key, first + at as u64 / 2)))
            .reduce(|| 0, u64::wrapping_add);
        assert_eq!(line.digest().expect("a device that works"), expected, "keys {compared} and on differ");
        compared += launch;
    }
    println!("{compared} keys, no difference, {:.1} s", began.elapsed().as_secs_f64());
}

/// Returns the sum of the digests of the keys in one batch of the processor.
fn sum(deriver: &Deriver, mut stream: ChaCha20) -> u64 {
    let mut seeds = vec![[0; 32]; BATCH];
    stream.fill(deriver.instruction_set(), &mut seeds);
    let mut keys = vec![[0; 32]; BATCH];
    deriver.worker().derive(&seeds, &mut keys);
    keys.iter().map(digest_of).fold(0, u64::wrapping_add)
}

/// Prints keys per second by windows with the usual depth, then by depth with the usual windows.
fn rates(device: &dyn Device, time: Duration, launch: usize) {
    println!("windows  depth   table MiB   ready s      keys/s   of bound  registers  local bytes");
    let by_windows = WINDOWS.into_iter().map(|windows| (windows, USUAL.1));
    let by_depth = DEPTHS.into_iter().map(|depth| (USUAL.0, depth));
    let most = if time.is_zero() { 1 } else { usize::MAX };
    for (windows, depth) in by_windows.chain(by_depth).take(most) {
        let began = Instant::now();
        let pipeline = match pipeline(device, windows, depth) {
            Ok(pipeline) => pipeline,
            Err(error) => {
                println!("{windows:>7}{depth:>7}  {error}");
                continue;
            }
        };
        let ready = began.elapsed().as_secs_f64();
        let rate = rate(&pipeline, time, launch);
        // The products of a key: seven for each window except the first and the last, three for the
        // last, four for the shared inversion, and the part of the inversion itself.
        let products = 7.0 * (windows as f64 - 2.0) + 3.0 + 4.0 + 265.0 / f64::from(depth);
        let bound = device.wide_products_per_second().map(|most| most / (products * WIDE_PRODUCTS));
        let share = bound.map_or("?".to_owned(), |bound| format!("{:.1} %", 100.0 * rate / bound));
        let table = Table::bytes(windows) / 64 * Pipeline::BYTES_OF_ENTRY;
        let kernel = pipeline.resources("derive");
        let shown = |part: Option<u32>| part.map_or("?".to_owned(), |part| part.to_string());
        println!(
            "{windows:>7}{depth:>7}{:>12.1}{ready:>10.2}{rate:>12.0}{share:>11}{:>11}{:>13}",
            table as f64 / f64::from(1 << 20),
            shown(kernel.map(|kernel| kernel.registers)),
            shown(kernel.map(|kernel| kernel.local_bytes)),
        );
    }
}

/// Returns keys per second, after a first launch.
fn rate(pipeline: &Pipeline, time: Duration, launch: usize) -> f64 {
    let mut line = pipeline.line(launch).expect("a device that works");
    let mut next = |first| {
        line.draw(&[7; 32], first, launch).expect("a device that works");
        line.wait().expect("a device that works");
    };
    next(0);
    let (began, mut launches) = (Instant::now(), 0);
    while launches == 0 || began.elapsed() < time {
        launches += 1;
        next(launches as u64 * launch as u64 / 2);
    }
    (launches * launch) as f64 / began.elapsed().as_secs_f64()
}
