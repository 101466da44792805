#[cfg(unix)]
use std::time::Duration;

#[cfg(unix)]
use ed25519_batch::internals::thread_time;
use ed25519_batch::internals::{bytes, caches};

#[test]
fn sizes_are_read() {
    assert_eq!(bytes("36608K"), Some(36608 * 1024));
    assert_eq!(bytes("32"), None);
    assert_eq!(bytes("K"), None);
    assert!(caches().is_sorted());
    assert!(caches().iter().all(|&bytes| bytes >= 1 << 12));
}

#[test]
#[cfg(unix)]
fn sleep_does_not_count_and_work_does() {
    let began = thread_time();
    std::thread::sleep(Duration::from_millis(50));
    assert!(thread_time() - began < Duration::from_millis(25));
    let mut steps = 0u64;
    while thread_time() - began < Duration::from_millis(30) {
        steps = std::hint::black_box(steps + 1);
    }
    assert!(steps > 0);
}
