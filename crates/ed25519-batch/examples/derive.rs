//! Derives public keys for a second with every back end of this processor, on one thread.

use std::time::{Duration, Instant};

use ed25519_batch::{BackEnd, Deriver, Sizing};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng as _, SeedableRng as _};

fn main() {
    for back_end in BackEnd::ALL {
        let deriver = match Deriver::new(back_end, Sizing::for_keys(1e9)) {
            Ok(deriver) => deriver,
            Err(why) => {
                println!("{:<12}{why}", back_end.name());
                continue;
            }
        };
        // A fixed key, because nobody uses these seeds.
        let mut random = ChaCha20Rng::from_seed([1; 32]);
        let mut worker = deriver.worker();
        let (began, mut keys) = (Instant::now(), 0);
        while began.elapsed() < Duration::from_secs(1) {
            keys += worker.batch(&mut |seeds| random.fill_bytes(seeds.as_flattened_mut()), &mut |_, keys| {
                std::hint::black_box(keys);
            });
        }
        let rate = keys as f64 / began.elapsed().as_secs_f64();
        println!("{:<12}{rate:>10.0} keys/s, {} windows", back_end.name(), deriver.tuning().windows);
    }
}
