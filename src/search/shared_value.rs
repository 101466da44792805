//! A value that many threads use while one thread replaces it.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

/// The current value.
pub(super) struct SharedValue<T> {
    /// How often the value was replaced.
    version: AtomicU64,
    value: Mutex<Arc<T>>,
}

/// A value that was the current one when it was taken.
pub(super) struct Held<T> {
    version: u64,
    value: Arc<T>,
}

impl<T> SharedValue<T> {
    pub(super) fn new(value: T) -> Self {
        Self { version: AtomicU64::new(0), value: Mutex::new(Arc::new(value)) }
    }

    /// Replaces the value. Threads that hold the old one do not wait.
    pub(super) fn replace(&self, value: T) {
        let mut place = self.value.lock().unwrap_or_else(PoisonError::into_inner);
        *place = Arc::new(value);
        self.version.fetch_add(1, Relaxed);
    }

    /// Returns the current value.
    pub(super) fn latest(&self) -> Held<T> {
        let place = self.value.lock().unwrap_or_else(PoisonError::into_inner);
        Held { version: self.version.load(Relaxed), value: Arc::clone(&place) }
    }

    /// Replaces `held` if a newer value exists. Otherwise this costs one load.
    pub(super) fn renew(&self, held: &mut Held<T>) {
        if self.version.load(Relaxed) != held.version {
            *held = self.latest();
        }
    }
}

impl<T> std::ops::Deref for Held<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_newer_value_is_taken_on_renewal() {
        let shared = SharedValue::new(1);
        let mut held = shared.latest();
        shared.replace(2);
        assert_eq!((*held, *shared.latest()), (1, 2));
        shared.renew(&mut held);
        assert_eq!(*held, 2);
        shared.renew(&mut held);
        assert_eq!(*held, 2);
    }
}
