//! The states of the published program. Each is the previous one plus one change.
//!
//! The published record of January 2026 (4-vCPU EPYC Genoa) gives a figure for each state. The
//! states are rebuilt here from their description, with current crates. [`Loop`] is the search loop
//! of all states. Types choose its pieces, so each state compiles to its own loop without choices
//! at run time. [`all`] lists the states, and [`check`] checks that they search for the same thing.

use std::hint::black_box;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier, LazyLock};
use std::thread;
use std::time::Instant;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use curve25519_dalek::constants::ED25519_BASEPOINT_POINT;
use curve25519_dalek::edwards::{EdwardsBasepointTableRadix256, EdwardsPoint};
use curve25519_dalek::traits::BasepointTable as _;
use ed25519_dalek::SigningKey;
use getrandom::SysRng;
use pkcs8::der::asn1::{BitStringRef, OctetStringRef};
use pkcs8::spki::SubjectPublicKeyInfo;
use pkcs8::{AlgorithmIdentifierRef, Document, ObjectIdentifier, PrivateKeyInfo, SecretDocument};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _, TryRng as _};
use sha2::{Digest as _, Sha512};
use vanity_search::wire::{self, KEY_LEN};

/// 32 secret bytes.
pub type Seed = [u8; 32];

/// The public key: y, with the sign of x as the highest bit.
pub type PublicKey = [u8; KEY_LEN];

/// The word of every measurement. It is too long to be found.
const WORD: &str = "vanity";

/// One state of the published program, or a further variant of it.
pub struct Variant {
    /// The number of the change in the published record, and the change.
    pub name: &'static str,
    search: fn(&str, &Arc<AtomicU64>) -> Box<dyn Search>,
}

/// The number of variants.
pub const VARIANTS: usize = 8;

/// Returns every variant, in the order of the published record.
///
/// Number 4 changed no code. Number 6 is the plain loop of today. The last two change its
/// fixed-base multiplication: the first calls the same radix-16 table without `SigningKey`, the
/// second uses radix 256.
#[rustfmt::skip]
pub fn all() -> [Variant; VARIANTS] {
    [
        //       seeds      public key  private DER  public text  patterns   counter
        variant::<FromOs,   Signing,    EveryKey,    DerText,     MadeAnew,  PerKey  >("original"),
        variant::<FromOs,   Signing,    MatchOnly,   DerText,     MadeAnew,  PerKey  >("1 deferred private DER"),
        variant::<FromOs,   Signing,    MatchOnly,   DerText,     MadeOnce,  PerKey  >("2 precomputed patterns"),
        variant::<ChaCha20, Signing,    MatchOnly,   DerText,     MadeOnce,  PerKey  >("3 ChaCha20"),
        variant::<ChaCha20, Signing,    MatchOnly,   DerText,     MadeOnce,  PerBatch>("5 batched counter"),
        variant::<ChaCha20, Signing,    MatchOnly,   WireText,    MadeOnce,  PerBatch>("6 wire format"),
        variant::<ChaCha20, Radix16,    MatchOnly,   WireText,    MadeOnce,  PerBatch>("radix-16 mul_base"),
        variant::<ChaCha20, Radix256,   MatchOnly,   WireText,    MadeOnce,  PerBatch>("radix-256 table"),
    ]
}

fn variant<S, K, P, T, R, C>(name: &'static str) -> Variant
where
    S: Seeds + 'static,
    K: Keys + 'static,
    P: Private + 'static,
    T: Text + 'static,
    R: Rule + 'static,
    C: Counter + 'static,
{
    Variant {
        name,
        search: |word, total| {
            Box::new(Loop {
                seeds: S::new(),
                keys: K::new(),
                rule: R::new(word),
                counter: C::new(Arc::clone(total)),
                pieces: PhantomData::<(P, T)>,
            })
        },
    }
}

/// The result for one seed.
pub struct Candidate {
    public: PublicKey,
    text: String,
    matched: bool,
    private: Option<SecretDocument>,
}

/// The search of one thread.
pub trait Search {
    /// Tries `keys` candidates and counts them.
    fn run(&mut self, keys: u64);

    /// Tries one seed.
    fn candidate(&self, seed: &Seed) -> Candidate;
}

/// The loop of every variant.
struct Loop<S, K, P, T, R, C> {
    seeds: S,
    keys: K,
    rule: R,
    counter: C,
    pieces: PhantomData<(P, T)>,
}

impl<S: Seeds, K: Keys, P: Private, T: Text, R: Rule, C: Counter> Search for Loop<S, K, P, T, R, C> {
    fn run(&mut self, keys: u64) {
        for _ in 0..keys {
            let seed = self.seeds.next();
            black_box(&self.candidate(&seed));
            self.counter.add_one();
        }
    }

    #[inline(always)]
    fn candidate(&self, seed: &Seed) -> Candidate {
        let public = self.keys.public(seed);
        let text = T::text(public);
        let matched = self.rule.matches(&text);
        let private = (P::EVERY_KEY || matched).then(|| private_der(seed, public));
        Candidate { public, text, matched, private }
    }
}

/// Where seeds come from.
trait Seeds {
    fn new() -> Self;
    fn next(&mut self) -> Seed;
}

/// Seeds from the operating system, with a call for each seed.
struct FromOs;

impl Seeds for FromOs {
    fn new() -> Self {
        Self
    }

    fn next(&mut self) -> Seed {
        let mut seed = [0; 32];
        SysRng.try_fill_bytes(&mut seed).expect("the system has random bytes");
        seed
    }
}

/// Seeds from ChaCha20 in the process, with a key from the operating system.
struct ChaCha20(ChaCha20Rng);

impl Seeds for ChaCha20 {
    fn new() -> Self {
        Self(ChaCha20Rng::try_from_rng(&mut SysRng).expect("the system has random bytes"))
    }

    fn next(&mut self) -> Seed {
        let mut seed = [0; 32];
        self.0.fill_bytes(&mut seed);
        seed
    }
}

/// How a seed becomes a public key.
trait Keys {
    fn new() -> Self;
    fn public(&self, seed: &Seed) -> PublicKey;
}

/// Keys by `SigningKey`, which calls `EdwardsPoint::mul_base`.
struct Signing;

impl Keys for Signing {
    fn new() -> Self {
        Self
    }

    fn public(&self, seed: &Seed) -> PublicKey {
        SigningKey::from_bytes(seed).verifying_key().to_bytes()
    }
}

/// Returns the half of SHA-512 of the seed that becomes the scalar when it is clamped.
fn scalar_bytes(seed: &Seed) -> [u8; 32] {
    let hash: [u8; 64] = Sha512::digest(seed).into();
    *hash.first_chunk().expect("64 bytes begin with 32")
}

/// Keys by the radix-16 table that is part of dalek: 64 additions, 30 KB.
struct Radix16;

impl Keys for Radix16 {
    fn new() -> Self {
        Self
    }

    fn public(&self, seed: &Seed) -> PublicKey {
        EdwardsPoint::mul_base_clamped(scalar_bytes(seed)).compress().to_bytes()
    }
}

/// Keys by a radix-256 table, built once: 33 additions, 480 KB.
struct Radix256(&'static EdwardsBasepointTableRadix256);

impl Keys for Radix256 {
    fn new() -> Self {
        static TABLE: LazyLock<Box<EdwardsBasepointTableRadix256>> =
            LazyLock::new(|| Box::new(EdwardsBasepointTableRadix256::create(&ED25519_BASEPOINT_POINT)));
        Self(&TABLE)
    }

    fn public(&self, seed: &Seed) -> PublicKey {
        self.0.mul_base_clamped(scalar_bytes(seed)).compress().to_bytes()
    }
}

/// When the private key is encoded.
trait Private {
    const EVERY_KEY: bool;
}

/// The private key is encoded for every candidate.
struct EveryKey;

impl Private for EveryKey {
    const EVERY_KEY: bool = true;
}

/// The private key is encoded only for a match.
struct MatchOnly;

impl Private for MatchOnly {
    const EVERY_KEY: bool = false;
}

/// Ed25519 (RFC 8410, section 3).
const ED25519: AlgorithmIdentifierRef =
    AlgorithmIdentifierRef { oid: ObjectIdentifier::new_unwrap("1.3.101.112"), parameters: None };

/// Returns the PKCS#8 form that `SigningKey::to_pkcs8_der` of ed25519-dalek makes.
fn private_der(seed: &Seed, public: PublicKey) -> SecretDocument {
    // The private key is an octet string inside of another one (RFC 8410, section 7).
    let mut inner = [4; 34];
    inner[1] = 32;
    inner[2..].copy_from_slice(seed);
    let info = PrivateKeyInfo {
        algorithm: ED25519,
        private_key: OctetStringRef::new(&inner).expect("34 bytes are not too many"),
        public_key: BitStringRef::from_bytes(&public).ok(),
    };
    SecretDocument::try_from(info).expect("32 bytes of seed and 32 of public key have a DER form")
}

/// The public text that is searched.
trait Text {
    fn text(public: PublicKey) -> String;
}

/// DER SubjectPublicKeyInfo in base64, the content of a public PEM file.
struct DerText;

impl Text for DerText {
    fn text(public: PublicKey) -> String {
        let subject_public_key = BitStringRef::from_bytes(&public).expect("32 bytes are not too many");
        let info = SubjectPublicKeyInfo { algorithm: ED25519, subject_public_key };
        STANDARD.encode(Document::try_from(info).expect("32 bytes have a DER form").as_bytes())
    }
}

/// The SSH blob in base64, the text of a public line.
struct WireText;

impl Text for WireText {
    fn text(public: PublicKey) -> String {
        STANDARD.encode(wire::blob(&public))
    }
}

/// Whether a text holds the word, case ignored, with `+` or `/` on both sides.
trait Rule {
    fn new(word: &str) -> Self;
    fn matches(&self, text: &str) -> bool;
}

/// Returns the four forms of the word in a text in lower case.
fn patterns(word: &str) -> [String; 4] {
    let word = word.to_lowercase();
    [format!("+{word}+"), format!("+{word}/"), format!("/{word}+"), format!("/{word}/")]
}

fn holds_any(text: &str, patterns: &[String; 4]) -> bool {
    let text = text.to_lowercase();
    patterns.iter().any(|pattern| text.contains(pattern.as_str()))
}

/// A rule that makes the patterns for every candidate.
struct MadeAnew(String);

impl Rule for MadeAnew {
    fn new(word: &str) -> Self {
        Self(word.to_owned())
    }

    fn matches(&self, text: &str) -> bool {
        holds_any(text, &patterns(&self.0))
    }
}

/// A rule that makes the patterns before the loop.
struct MadeOnce([String; 4]);

impl Rule for MadeOnce {
    fn new(word: &str) -> Self {
        Self(patterns(word))
    }

    fn matches(&self, text: &str) -> bool {
        holds_any(text, &self.0)
    }
}

/// How candidates are added to the count that all threads share.
trait Counter {
    fn new(total: Arc<AtomicU64>) -> Self;
    fn add_one(&mut self);
}

/// A counter with a shared addition for every candidate.
struct PerKey(Arc<AtomicU64>);

impl Counter for PerKey {
    fn new(total: Arc<AtomicU64>) -> Self {
        Self(total)
    }

    fn add_one(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// A counter with a shared addition for every 256 candidates, and one for the rest at the end.
struct PerBatch {
    total: Arc<AtomicU64>,
    pending: u64,
}

impl PerBatch {
    const SIZE: u64 = 256;
}

impl Counter for PerBatch {
    fn new(total: Arc<AtomicU64>) -> Self {
        Self { total, pending: 0 }
    }

    fn add_one(&mut self) {
        self.pending += 1;
        if self.pending == Self::SIZE {
            self.total.fetch_add(self.pending, Ordering::Relaxed);
            self.pending = 0;
        }
    }
}

impl Drop for PerBatch {
    fn drop(&mut self) {
        self.total.fetch_add(self.pending, Ordering::Relaxed);
    }
}

/// The work of one thread.
pub struct Span {
    /// The number of candidates tried.
    pub keys: u64,
    /// The time before the first candidate.
    pub from: Instant,
    /// The time after the last candidate.
    pub to: Instant,
}

/// Runs `work` on a search in each of `threads` threads, which start together and share one count.
/// `work` returns how many candidates it tried.
///
/// # Panics
///
/// Panics if the shared count is not the number of candidates.
pub fn on_threads(
    variant: &Variant,
    threads: usize,
    work: impl Fn(&mut dyn Search) -> u64 + Sync,
) -> Vec<Span> {
    let total = Arc::new(AtomicU64::new(0));
    let ready = Barrier::new(threads);
    let one = || {
        let mut search = (variant.search)(WORD, &total);
        ready.wait();
        let from = Instant::now();
        let keys = work(search.as_mut());
        Span { keys, from, to: Instant::now() }
    };
    let spans: Vec<Span> = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(one)).collect();
        workers.into_iter().map(|worker| worker.join().expect("a search does not panic")).collect()
    });
    let keys: u64 = spans.iter().map(|span| span.keys).sum();
    assert_eq!(total.load(Ordering::Relaxed), keys, "{}: every candidate is counted", variant.name);
    spans
}

/// RFC 8032, section 7.1, test 1.
const KNOWN_SEED: Seed = [
    0x9d, 0x61, 0xb1, 0x9d, 0xef, 0xfd, 0x5a, 0x60, 0xba, 0x84, 0x4a, 0xf4, 0x92, 0xec, 0x2c, 0xc4, 0x44,
    0x49, 0xc5, 0x69, 0x7b, 0x32, 0x69, 0x19, 0x70, 0x3b, 0xac, 0x03, 0x1c, 0xae, 0x7f, 0x60,
];
const KNOWN_PUBLIC: PublicKey = [
    0xd7, 0x5a, 0x98, 0x01, 0x82, 0xb1, 0x0a, 0xb7, 0xd5, 0x4b, 0xfe, 0xd3, 0xc9, 0x64, 0x07, 0x3a, 0x0e,
    0xe1, 0x72, 0xf3, 0xda, 0xa6, 0x23, 0x25, 0xaf, 0x02, 0x1a, 0x68, 0xf7, 0x07, 0x51, 0x1a,
];

/// Checks that all variants make the same key from a seed, and that each finds exactly the words
/// that its text has.
///
/// The DER text and the wire text of a key differ in their bit alignment, so each has its own word.
///
/// # Panics
///
/// Panics if a variant makes another key or decides wrongly about a word.
pub fn check() {
    let variants = all();
    let planted = [planted(&variants[0]), planted(&variants[VARIANTS - 1])];
    for (index, variant) in variants.iter().enumerate() {
        let name = variant.name;
        let mut matches = 0;
        for (_, word) in &planted {
            let search = (variant.search)(word, &Arc::default());
            assert_eq!(search.candidate(&KNOWN_SEED).public, KNOWN_PUBLIC, "{name}");
            for (seed, _) in &planted {
                let candidate = search.candidate(seed);
                let expected = SigningKey::from_bytes(seed).verifying_key().to_bytes();
                assert_eq!(candidate.public, expected, "{name}");
                assert_eq!(candidate.matched, holds_word(&candidate.text, word), "{name}: {word}");
                assert_eq!(candidate.private.is_some(), candidate.matched || index == 0, "{name}");
                matches += usize::from(candidate.matched);
            }
        }
        assert!(matches > 0, "{name}: finds the word planted in its text");
    }
}

/// Returns a seed, and a word between `+` or `/` in the text of its key, with the case of its
/// letters changed.
fn planted(variant: &Variant) -> (Seed, String) {
    let search = (variant.search)(WORD, &Arc::default());
    let bounded = |text: &str| {
        let pieces: Vec<&str> = text.split(['+', '/']).collect();
        let inner = pieces.get(1..pieces.len() - 1)?;
        inner.iter().find(|piece| piece.contains(|c: char| c.is_ascii_alphabetic())).map(|&word| {
            let other =
                |c: char| if c.is_lowercase() { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() };
            word.chars().map(other).collect()
        })
    };
    (0..=u8::MAX)
        .find_map(|n| Some(([n; 32], bounded(&search.candidate(&[n; 32]).text)?)))
        .expect("one text in three holds a bounded word")
}

/// Applies the match rule in the simplest way.
fn holds_word(text: &str, word: &str) -> bool {
    let bound = |byte: u8| byte == b'+' || byte == b'/';
    text.as_bytes().windows(word.len() + 2).any(|window| {
        bound(window[0])
            && bound(window[word.len() + 1])
            && window[1..=word.len()].eq_ignore_ascii_case(word.as_bytes())
    })
}
