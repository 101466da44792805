//! The messages of the agent protocol that this program uses (draft-ietf-sshm-ssh-agent, section
//! 3).
//!
//! A request begins with its length. Requests that hold a seed are written into memory of their
//! final size, so that none of it moves, and are wiped.

use std::num::NonZeroU32;

use ssh_encoding::{Decode as _, Encode as _};
use zeroize::Zeroizing;

use super::error::AgentError;
use crate::key::blanked;
use crate::key::{PublicKey, Seed};
use crate::wire;

/// The numbers of the messages (section 5.1).
const FAILURE: u8 = 5;
const SUCCESS: u8 = 6;
const REQUEST_IDENTITIES: u8 = 11;
const IDENTITIES_ANSWER: u8 = 12;
const ADD_IDENTITY: u8 = 17;
const REMOVE_IDENTITY: u8 = 18;
const ADD_ID_CONSTRAINED: u8 = 25;

/// The numbers of the constraints (section 5.2).
const CONSTRAIN_LIFETIME: u8 = 1;
const CONSTRAIN_CONFIRM: u8 = 2;

/// The most bytes of a request without its comment: the numbers, the lengths, the algorithm, the
/// public key twice, the seed and the constraints take 134.
const REQUEST: usize = 160;

/// How an agent holds a key.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Constraints {
    /// The seconds after which the agent drops the key, as `ssh-add -t` sets them.
    pub lifetime: Option<NonZeroU32>,
    /// Whether the agent asks the user before each use, as `ssh-add -c` sets it.
    pub confirm: bool,
}

impl Constraints {
    /// Whether there are none.
    pub(super) fn is_empty(self) -> bool {
        self == Self::default()
    }
}

/// A request, with its length.
pub(super) struct Request(Zeroizing<Vec<u8>>);

#[derive(PartialEq, Eq, Debug)]
pub(super) enum Answer {
    Success,
    Failure,
    /// The keys that the agent has.
    Identities(Vec<Identity>),
}

/// A key that the agent has.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct Identity {
    pub(super) blob: Vec<u8>,
    pub(super) comment: Vec<u8>,
}

impl Request {
    /// Asks for the keys that the agent has.
    pub(super) fn identities() -> Result<Self, AgentError> {
        Self::write(0, |body| REQUEST_IDENTITIES.encode(body))
    }

    pub(super) fn add(seed: &Seed, comment: &str, constraints: Constraints) -> Result<Self, AgentError> {
        let comment = blanked(comment);
        let PublicKey(public_key) = seed.public_key();
        let mut pair = Zeroizing::new([0; 64]);
        pair[..32].copy_from_slice(seed.bytes());
        pair[32..].copy_from_slice(&public_key);
        Self::write(comment.len(), |body| {
            if constraints.is_empty() { ADD_IDENTITY } else { ADD_ID_CONSTRAINED }.encode(body)?;
            wire::ALGORITHM.encode(body)?;
            public_key[..].encode(body)?;
            pair[..].encode(body)?;
            comment.as_str().encode(body)?;
            if let Some(seconds) = constraints.lifetime {
                CONSTRAIN_LIFETIME.encode(body)?;
                seconds.get().encode(body)?;
            }
            if constraints.confirm {
                CONSTRAIN_CONFIRM.encode(body)?;
            }
            Ok(())
        })
    }

    /// Removes the key of this blob.
    pub(super) fn remove(blob: &[u8]) -> Result<Self, AgentError> {
        Self::write(0, |body| {
            REMOVE_IDENTITY.encode(body)?;
            blob.encode(body)
        })
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }

    fn write(
        comment: usize,
        body: impl FnOnce(&mut Vec<u8>) -> ssh_encoding::Result<()>,
    ) -> Result<Self, AgentError> {
        let mut request = Zeroizing::new(Vec::with_capacity(REQUEST + comment));
        let before = request.capacity();
        request.extend_from_slice(&[0; 4]);
        // Only a comment of more than 4 GiB does not fit.
        body(&mut request).map_err(|_| AgentError::Refused)?;
        debug_assert_eq!(request.capacity(), before, "the seed has moved");
        let length = u32::try_from(request.len() - 4).map_err(|_| AgentError::Refused)?;
        request[..4].copy_from_slice(&length.to_be_bytes());
        Ok(Self(request))
    }
}

impl Answer {
    /// Reads an answer, without its length.
    pub(super) fn read(mut body: &[u8]) -> Result<Self, AgentError> {
        let rest = &mut body;
        let mut read = || {
            Ok::<_, ssh_encoding::Error>(match u8::decode(rest)? {
                SUCCESS => Some(Self::Success),
                FAILURE => Some(Self::Failure),
                IDENTITIES_ANSWER => {
                    let mut identities = Vec::new();
                    for _ in 0..u32::decode(rest)? {
                        identities.push(Identity { blob: Vec::decode(rest)?, comment: Vec::decode(rest)? });
                    }
                    Some(Self::Identities(identities))
                }
                _ => None,
            })
        };
        read().ok().flatten().ok_or(AgentError::NoAnswer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ed25519_batch::rfc8032_vectors;

    /// The layout is that of section 3.2.3 (EdDSA keys), put together by hand.
    #[test]
    fn a_request_has_its_layout() {
        let (seed, public_key) = rfc8032_vectors::pairs()[0];
        let mut body = [&b"\x00\x00\x00\x0bssh-ed25519\x00\x00\x00\x20"[..], &public_key].concat();
        body.extend([&b"\x00\x00\x00\x40"[..], &seed, &public_key, b"\x00\x00\x00\x03a b"].concat());
        for (lifetime, confirm, number, end) in [
            (None, false, 17, &b""[..]),
            (Some(28_800), false, 25, b"\x01\x00\x00\x70\x80"),
            (None, true, 25, b"\x02"),
            (Some(u32::MAX), true, 25, b"\x01\xff\xff\xff\xff\x02"),
        ] {
            let constraints = Constraints { lifetime: lifetime.and_then(NonZeroU32::new), confirm };
            let request = Request::add(&Seed::new(seed), "a\nb", constraints).unwrap();
            let wanted = [&[number][..], &body, end].concat();
            assert_eq!(request.bytes()[..4], (wanted.len() as u32).to_be_bytes());
            assert_eq!(request.bytes()[4..], wanted);
        }
        assert_eq!(Request::identities().unwrap().bytes(), b"\x00\x00\x00\x01\x0b");
        let remove = Request::remove(&wire::blob(&public_key)).unwrap();
        assert_eq!(remove.bytes()[..9], *b"\x00\x00\x00\x38\x12\x00\x00\x00\x33");
        assert_eq!(remove.bytes()[9..], wire::blob(&public_key));
    }

    #[test]
    fn a_long_comment_does_not_move_the_seed() {
        let comment = "x".repeat(100_000);
        let constraints = Constraints { lifetime: NonZeroU32::new(1), confirm: true };
        let request = Request::add(&Seed::new([7; 32]), &comment, constraints).unwrap();
        assert!(request.bytes().len() > comment.len() && request.bytes().len() < comment.len() + REQUEST);
    }

    #[test]
    fn an_answer_is_read_or_refused() {
        let read = |body: &[u8]| Answer::read(body).ok();
        assert_eq!(read(&[6]), Some(Answer::Success));
        assert_eq!(read(&[5]), Some(Answer::Failure));
        assert_eq!(read(b"\x0c\x00\x00\x00\x00"), Some(Answer::Identities(Vec::new())));
        let two = b"\x0c\x00\x00\x00\x02\x00\x00\x00\x01a\x00\x00\x00\x00\x00\x00\x00\x02bc\x00\x00\x00\x01d";
        let identity = |blob: &[u8], comment: &[u8]| Identity { blob: blob.into(), comment: comment.into() };
        assert_eq!(read(two), Some(Answer::Identities(vec![identity(b"a", b""), identity(b"bc", b"d")])));
        for wrong in [&b""[..], b"\x0e", b"\x0c", b"\x0c\xff\xff\xff\xff", &two[..two.len() - 1]] {
            assert_eq!(read(wrong), None, "{wrong:?}");
        }
    }
}
