//! The cards of a search: how they join it, are dropped from it, and come back.
//!
//! A dropped card is opened again after a minute, in a thread of its own, and then more rarely. One
//! notice says that it is dropped, and one that it is used again.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};
use std::time::{Duration, Instant};

use super::DropReason;
use super::open_card::OpenCard;
use crate::engine::traits::EngineOptions;
use crate::gpu::Card;
use crate::notice::Notice;

/// The time until a dropped card is opened again, for the first time and at most.
pub(super) const FIRST_PAUSE: Duration = Duration::from_secs(60);
const LONGEST_PAUSE: Duration = Duration::from_secs(3600);

/// The time from its first batch on after which a device is compared with the CPU.
pub(super) const TRIAL: Duration = Duration::from_secs(3);

/// The cards of a search, also for the threads that open them.
pub(super) struct Slots {
    /// The cards that are used, or were, in the order in which they joined.
    slots: RwLock<Vec<Arc<Slot>>>,
    /// Each thread that lists or opens cards has a clone of it.
    opening: Arc<()>,
    pub(super) options: EngineOptions,
    /// What the CPU does, if it searches beside the devices.
    pace: Option<Arc<Pace>>,
    /// Messages about devices, until they are reported.
    notices: Mutex<Vec<Notice>>,
}

/// The work of a CPU that searches beside devices.
#[derive(Default)]
pub(in crate::engine) struct Pace {
    /// The number of its workers.
    pub(in crate::engine) workers: AtomicUsize,
    /// The keys that they have tried.
    pub(in crate::engine) keys: AtomicU64,
}

/// A card that is used, or was.
pub(super) struct Slot {
    card: Card,
    pub(super) joined: Instant,
    pub(super) state: Mutex<State>,
    /// The number of workers that use it.
    pub(super) workers: AtomicUsize,
}

pub(super) struct State {
    open: Option<Arc<OpenCard>>,
    opened: Instant,
    /// When it is opened again. `None` while it is open or a thread opens it, and if it is too slow.
    pub(super) due: Option<Instant>,
    /// How long it was closed the last time.
    pub(super) pause: Duration,
}

impl State {
    /// Lets the card be opened again, after twice the last pause.
    fn wait(&mut self) {
        self.pause = (2 * self.pause).min(LONGEST_PAUSE);
        self.due = Some(Instant::now() + self.pause);
    }
}

impl Slot {
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn open_card(&self) -> Option<Arc<OpenCard>> {
        self.state().open.clone()
    }

    /// Returns the name of the device, by the library that reaches it now.
    pub(super) fn name(&self) -> String {
        self.open_card().map_or_else(|| self.card[0].name().to_owned(), |card| card.name.clone())
    }
}

impl Slots {
    pub(super) fn new(options: EngineOptions, pace: Option<Arc<Pace>>) -> Arc<Self> {
        let (slots, opening, notices) = Default::default();
        Arc::new(Self { slots, opening, options, pace, notices })
    }

    pub(super) fn each(&self) -> RwLockReadGuard<'_, Vec<Arc<Slot>>> {
        self.slots.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn is_opening(&self) -> bool {
        Arc::strong_count(&self.opening) > 1
    }

    /// Lists and opens cards in the background. Each joins when it has passed its check.
    pub(super) fn join_later(
        self: &Arc<Self>,
        list: impl FnOnce() -> Result<Vec<Card>, String> + Send + 'static,
    ) {
        let slots = Arc::clone(self);
        self.in_background(move || match list() {
            Ok(cards) => {
                for card in cards {
                    let one = Arc::clone(&slots);
                    slots.in_background(move || one.join(card));
                }
            }
            Err(why) => slots.tell(Notice::warning(why)),
        });
    }

    /// Opens a card for the first time. Reports which libraries cannot use it, and why.
    pub(super) fn join(&self, card: Card) {
        let (open, why) = OpenCard::by_any_library(&card, self.options);
        if !why.is_empty() {
            self.tell(Notice::warning(why));
        }
        let Some(open) = open else { return };
        let note = Notice::note(format!("the device '{}' searches, too", open.name));
        let joined = Instant::now();
        let state = State { open: Some(Arc::new(open)), opened: joined, due: None, pause: FIRST_PAUSE / 2 };
        let slot = Slot { card, joined, state: Mutex::new(state), workers: AtomicUsize::new(0) };
        self.slots.write().unwrap_or_else(PoisonError::into_inner).push(Arc::new(slot));
        if self.pace.is_some() {
            self.tell(note);
        }
    }

    /// Returns the card of a slot, if it is open. Begins to open it again when that is due.
    pub(super) fn card(self: &Arc<Self>, slot: &Arc<Slot>) -> Option<Arc<OpenCard>> {
        let mut state = slot.state();
        if state.due.take_if(|due| *due <= Instant::now()).is_some() {
            let (slots, slot) = (Arc::clone(self), Arc::clone(slot));
            self.in_background(move || slots.reopen(&slot));
        }
        state.open.clone()
    }

    fn reopen(&self, slot: &Slot) {
        let (open, _) = OpenCard::by_any_library(&slot.card, self.options);
        let mut state = slot.state();
        match open {
            Some(card) => {
                self.tell(Notice::note(format!("the device '{}' is used again", card.name)));
                (state.open, state.opened) = (Some(Arc::new(card)), Instant::now());
            }
            None => state.wait(),
        }
    }

    /// Drops a card from the search, and reports that once.
    pub(super) fn drop_card(&self, slot: &Slot, card: &Arc<OpenCard>, reason: &DropReason) {
        let mut state = slot.state();
        if state.open.take_if(|open| Arc::ptr_eq(open, card)).is_none() {
            return;
        }
        let mut again = "";
        if !matches!(reason, DropReason::Slow) {
            // A card that worked for long is opened again as soon as at first.
            if state.opened.elapsed() >= LONGEST_PAUSE {
                state.pause = FIRST_PAUSE / 2;
            }
            state.wait();
            again = "; it is tried again later";
        }
        self.tell(Notice::warning(format!("the device '{}' is not used: {reason}{again}", card.name)));
    }

    /// Counts the keys of a batch of a device. Returns whether it turns out to be slower than half a
    /// thread of the CPU.
    pub(super) fn is_slow(&self, card: &OpenCard, tried: u64) -> bool {
        let Some(pace) = &self.pace else { return false };
        let (threads, of_cpu) = (pace.workers.load(Relaxed), pace.keys.load(Relaxed));
        let mut trial = card.trial.lock().unwrap_or_else(PoisonError::into_inner);
        let (began, before) = *trial.get_or_insert((Instant::now(), of_cpu));
        let keys = card.keys.fetch_add(tried, Relaxed) + tried;
        let at_full_load = keys as f64 * 100.0 / f64::from(self.options.device_load);
        began.elapsed() >= TRIAL && 2.0 * at_full_load * (threads as f64) < (of_cpu - before) as f64
    }

    fn tell(&self, notice: Notice) {
        self.notices.lock().unwrap_or_else(PoisonError::into_inner).push(notice);
    }

    pub(super) fn take_notices(&self) -> Vec<Notice> {
        std::mem::take(&mut *self.notices.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Runs `work` in a thread that nothing waits for. If no thread can start, nothing happens.
    fn in_background(&self, work: impl FnOnce() + Send + 'static) {
        let opening = Arc::clone(&self.opening);
        let _ = std::thread::Builder::new().name("device".to_owned()).spawn(move || {
            let _opening = opening;
            work();
        });
    }
}
