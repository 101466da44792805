//! A find on its route.

use zeroize::Zeroizing;

use super::agent::Added;
use super::place::Place;
use crate::key::{Format, Protection, Seed};
use crate::search::PublicFind;
use crate::store::Kept;

/// A find on its route. Each step changes it in place.
pub struct Parcel {
    pub find: PublicFind,
    pub place: Place,
    /// Whether the agent took the key, or `None` if it was not asked to.
    pub added: Option<Added>,
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
    pub(super) fn of(
        find: PublicFind,
        seed: Seed,
        format: Format,
        comment: &str,
        protection: Option<&Protection>,
    ) -> Self {
        let error = match seed.private_text(format, comment, protection) {
            Ok(text) => return Self::new(find, seed, text, format),
            Err(error) => error,
        };
        let other = [(Format::Openssh, protection), (Format::Pkcs8, protection), (Format::Openssh, None)];
        let text = other.into_iter().find_map(|(format, protection)| {
            Some((seed.private_text(format, "", protection).ok()?, format, protection.is_some()))
        });
        let (text, format, is_encrypted) = text.unwrap_or((Zeroizing::default(), Format::Openssh, true));
        let mut parcel = Self::new(find, seed, text, format);
        parcel.key.iter_mut().for_each(|key| key.is_as_asked = false);
        parcel.is_exposed = protection.is_some() && !is_encrypted;
        let exposed = if parcel.is_exposed { "; the private key is NOT ENCRYPTED" } else { "" };
        parcel.refusals.push(format!("cannot write the private key as asked: {error}{exposed}"));
        parcel.hint = error.hint();
        parcel
    }

    /// Returns a find whose private text has the form that the plan asks for.
    pub(crate) fn new(find: PublicFind, seed: Seed, text: Zeroizing<String>, format: Format) -> Self {
        let key = Key { seed, text, format, is_as_asked: true };
        let (place, refusals) = (Place::Memory, Vec::new());
        Self { find, place, added: None, is_exposed: false, key: Some(key), refusals, hint: None }
    }

    /// Returns a copy for which the places that are left are tried, because stdout did not take the key.
    pub(super) fn not_written(&self, why: &str) -> Self {
        let copy = |key: &Key| Key { seed: Seed::new(*key.seed.bytes()), text: key.text.clone(), ..*key };
        Self {
            find: self.find.clone(),
            place: Place::Memory,
            added: None,
            is_exposed: self.is_exposed,
            key: self.key.as_ref().map(copy),
            refusals: vec![why.to_owned()],
            hint: None,
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

    /// Whether the text has the form that the plan asks for.
    pub(super) fn is_as_asked(&self) -> bool {
        self.key.as_ref().is_some_and(|key| key.is_as_asked)
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
