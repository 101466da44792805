//! A find on its route.

use zeroize::Zeroizing;

use super::place::Place;
use super::rescue::Attempt;
use crate::agent::AgentError;
use crate::key::{Format, Protection, Seed};
use crate::search::{Find, PublicFind};
use crate::store::{Kept, StoreError};

/// A find on its route. Each step changes it in place.
pub struct Parcel {
    pub find: PublicFind,
    /// The comment on the key.
    pub comment: String,
    pub place: Place,
    /// Whether the agent took the key, or `None` if it was not asked to.
    pub added: Option<Result<(), AgentError>>,
    /// Whether the private text is not encrypted, against the plan.
    pub is_exposed: bool,
    /// The key, until it is kept.
    key: Option<Key>,
    /// Why the places that were tried did not take the key.
    pub(super) refusals: Vec<String>,
    /// What to do about the first refusal.
    pub(super) hint: Option<String>,
}

/// A private key.
pub(super) struct Key {
    pub(super) seed: Seed,
    pub(super) text: Zeroizing<String>,
    pub(super) format: Format,
    /// Whether the text has the form that the plan asks for.
    is_as_asked: bool,
}

impl Parcel {
    /// Returns a find with the text of its private key. If that cannot have the form that the plan asks
    /// for, it has another one. With a protection this takes long.
    pub(super) fn of(find: Find, format: Format, comment: String, protection: Option<&Protection>) -> Self {
        let (find, seed) = (find.public(), find.seed);
        let error = match seed.private_text(format, &comment, protection) {
            Ok(text) => return Self::new(find, comment, seed, text, format),
            Err(error) => error,
        };
        let other = [(Format::Openssh, protection), (Format::Pkcs8, protection), (Format::Openssh, None)];
        let text = other.into_iter().find_map(|(format, protection)| {
            Some((seed.private_text(format, "", protection).ok()?, format, protection.is_some()))
        });
        let (text, format, is_encrypted) = text.unwrap_or((Zeroizing::default(), Format::Openssh, true));
        let mut parcel = Self::new(find, comment, seed, text, format);
        parcel.key.iter_mut().for_each(|key| key.is_as_asked = false);
        parcel.is_exposed = protection.is_some() && !is_encrypted;
        let exposed = if parcel.is_exposed { "; the private key is NOT ENCRYPTED" } else { "" };
        parcel.refusals.push(format!("cannot write the private key as asked: {error}{exposed}"));
        parcel.hint = error.hint();
        parcel
    }

    /// Returns a find whose private text has the form that the plan asks for.
    pub(crate) fn new(
        find: PublicFind,
        comment: String,
        seed: Seed,
        text: Zeroizing<String>,
        format: Format,
    ) -> Self {
        let key = Key { seed, text, format, is_as_asked: true };
        let (place, refusals) = (Place::Memory, Vec::new());
        Self { find, comment, place, added: None, is_exposed: false, key: Some(key), refusals, hint: None }
    }

    /// Returns a copy for which the places that are left are tried, because stdout did not take the key.
    pub(super) fn not_written(&self, why: &str) -> Self {
        let copy = |key: &Key| Key { seed: Seed::new(*key.seed.bytes()), text: key.text.clone(), ..*key };
        Self {
            find: self.find.clone(),
            comment: self.comment.clone(),
            place: Place::Memory,
            added: None,
            is_exposed: self.is_exposed,
            key: self.key.as_ref().map(copy),
            refusals: vec![why.to_owned()],
            hint: None,
        }
    }

    /// Whether such a try may keep the key, after those before it.
    pub(super) fn wants(&self, attempt: &Attempt) -> bool {
        let is_as_asked = self.key.as_ref().is_some_and(|key| key.is_as_asked);
        self.is_in_memory()
            && match attempt {
                Attempt::First => self.refusals.is_empty(),
                Attempt::Second => !self.refusals.is_empty() && is_as_asked,
                Attempt::Elsewhere { .. } => !self.refusals.is_empty(),
            }
    }

    /// Takes the outcome of a try. `has_own_name` is whether no other key can have the name of its file.
    pub(super) fn settle(&mut self, attempt: &Attempt, kept: Result<Kept, StoreError>, has_own_name: bool) {
        let is_again = matches!(attempt, Attempt::Second);
        match (attempt, kept) {
            (Attempt::Elsewhere { .. }, Ok(kept)) => self.place = Place::Elsewhere(kept),
            (_, Ok(kept)) => {
                self.place = Place::Files(kept);
                self.refusals.clear();
            }
            (Attempt::Elsewhere { .. }, Err(error)) => self.refusals.push(error.to_string()),
            (_, Err(error)) => {
                // The first try may have given the file its name.
                let is_there = is_again
                    && match &error {
                        StoreError::Exists(_) => has_own_name,
                        error => matches!(error, StoreError::WrongKey(_)),
                    };
                if error.is_on_disk() || is_there {
                    self.place = Place::Reported;
                }
                if !is_again {
                    self.hint = error.hint();
                    self.refusals.push(error.to_string());
                }
            }
        }
    }

    /// Whether the key is in memory alone.
    pub(super) fn is_in_memory(&self) -> bool {
        matches!(self.place, Place::Memory)
    }

    /// Whether no place has taken the key, but one has refused it.
    pub(super) fn is_refused(&self) -> bool {
        self.is_in_memory() && !self.refusals.is_empty()
    }

    /// Returns the text of the private key, if it is in memory alone.
    #[must_use]
    pub fn private_text(&self) -> &str {
        self.key.as_ref().map_or("", |key| &key.text)
    }

    /// Returns the files of the key, if it is in files.
    #[must_use]
    pub fn kept(&self) -> Option<&Kept> {
        match &self.place {
            Place::Files(kept) | Place::Elsewhere(kept) => Some(kept),
            _ => None,
        }
    }

    /// Returns the key, unless it is wiped.
    pub(super) fn key(&self) -> Option<&Key> {
        self.key.as_ref()
    }

    /// Wipes the private key, unless it is in memory alone.
    pub(super) fn wipe(&mut self) {
        if !self.is_in_memory() {
            self.key = None;
        }
    }
}
