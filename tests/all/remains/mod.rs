//! Searches the memory of a process for secrets that must be gone.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::os::unix::fs::FileExt as _;

/// The memory is read in chunks of this size, which overlap by more than the length of any needle.
const CHUNK: usize = 1 << 20;
const OVERLAP: usize = 128;

/// Needles are masked with this byte, so that the search does not find its own copies.
const MASK: u8 = 0xa5;

/// The search looks at three bytes in this many.
const STRIDE: usize = 6;

/// The search skips blocks of zeros of this size, with the two bytes behind them.
const BLOCK: usize = 512 * STRIDE;
const ZEROS: [u8; BLOCK + 2] = [0; BLOCK + 2];

/// Bytes that should not be there, each with a name.
#[derive(Default)]
pub struct Needles {
    /// The needles and their names.
    needles: Vec<(Vec<u8>, String)>,
    /// The three bytes at each of the first [`STRIDE`] places of a needle, with its number and the
    /// place.
    parts: BTreeMap<usize, Vec<(usize, usize)>>,
    /// Whether three bytes are among `parts`.
    are_parts: Vec<bool>,
}

/// Returns `bytes`, each masked with [`MASK`].
pub fn masked(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().map(|byte| byte ^ MASK).collect()
}

impl Needles {
    /// Adds a needle, whose bytes are masked already.
    pub fn add(&mut self, masked: &[u8], name: String) {
        assert!((STRIDE + 2..OVERLAP).contains(&masked.len()));
        if self.are_parts.is_empty() {
            // The system gives pages of zeros, and few of them are written.
            self.are_parts = vec![false; 1 << 24];
        }
        for place in 0..STRIDE {
            let part = three(masked, place);
            self.parts.entry(part).or_default().push((self.needles.len(), place));
            self.are_parts[part] = true;
        }
        self.needles.push((masked.to_vec(), name));
    }

    /// Adds both halves of a seed, which is masked already, and parts of its SHA-512, whose lower
    /// half becomes the scalar.
    pub fn add_seed(&mut self, seed: &[u8; 32], number: usize) {
        use sha2::Digest as _;
        let mut plain = seed.map(|byte| byte ^ MASK);
        let hash: Vec<u8> = sha2::Sha512::digest(plain).iter().map(|byte| byte ^ MASK).collect();
        plain.fill(0);
        std::hint::black_box(&plain);
        for (at, half) in seed.chunks(16).enumerate() {
            self.add(half, format!("seed {number}, half {at}"));
        }
        // Clamping changes the first byte and the last one of the scalar.
        for (at, part) in [&hash[1..17], &hash[15..31], &hash[32..48], &hash[48..]].into_iter().enumerate() {
            self.add(part, format!("hash {number}, part {at}"));
        }
    }

    /// Returns the names of the needles that are in the memory of the process, each with the kind
    /// of memory that holds it.
    pub fn find(&self, process: &str) -> BTreeSet<String> {
        let maps = std::fs::read_to_string(format!("/proc/{process}/maps")).unwrap();
        let memory = File::open(format!("/proc/{process}/mem")).unwrap();
        let mut found = BTreeSet::new();
        let mut chunk = vec![0; CHUNK + OVERLAP];
        for map in maps.lines() {
            let mut fields = map.split_whitespace();
            let (range, rights) = (fields.next().unwrap(), fields.next().unwrap());
            let kind = fields.nth(3).unwrap_or("unnamed");
            // Code is what the file holds.
            if !rights.starts_with('r') || rights.contains('x') || kind.starts_with("[v") {
                continue;
            }
            let (from, to) = range.split_once('-').unwrap();
            let [from, to] = [from, to].map(|digits| u64::from_str_radix(digits, 16).unwrap());
            for start in (from..to).step_by(CHUNK) {
                let len = (CHUNK + OVERLAP).min((to - start) as usize);
                // A mapping can be gone by now.
                let Ok(read) = memory.read_at(&mut chunk[..len], start) else { continue };
                self.find_in(&chunk[..read], kind, &mut found);
            }
        }
        found
    }

    /// Adds the names of the needles in a chunk. The loops are plain ones, because the tests are not
    /// optimized.
    fn find_in(&self, chunk: &[u8], kind: &str, found: &mut BTreeSet<String>) {
        // Most memory is zero, and few needles have three zeros in a row.
        let skips_zeros = !self.are_parts[three(&[MASK; 3], 0)];
        let mut at = 0;
        while at + 2 < chunk.len() {
            if skips_zeros && chunk[at..].starts_with(&ZEROS) {
                at += BLOCK;
                continue;
            }
            let end = (at + BLOCK).min(chunk.len() - 2);
            while at < end {
                let part = three(chunk, at) ^ three(&[MASK; 3], 0);
                if self.are_parts[part] {
                    for (number, place) in &self.parts[&part] {
                        let (needle, name) = &self.needles[*number];
                        let start = at.checked_sub(*place);
                        let bytes = start.and_then(|start| chunk.get(start..start + needle.len()));
                        if bytes.is_some_and(|bytes| masked(bytes) == *needle) {
                            found.insert(format!("{name} in {kind}"));
                        }
                    }
                }
                at += STRIDE;
            }
        }
    }
}

/// Returns three bytes as a number.
fn three(bytes: &[u8], at: usize) -> usize {
    usize::from(bytes[at]) << 16 | usize::from(bytes[at + 1]) << 8 | usize::from(bytes[at + 2])
}
