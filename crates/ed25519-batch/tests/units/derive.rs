use ed25519_batch::{BackEnd, Deriver, Sizing, Unavailable, without_sign};

#[test]
fn any_number_of_seeds_is_derived() {
    for back_end in BackEnd::ALL {
        let deriver = match Deriver::new(back_end, Sizing::for_keys(1e4)) {
            Ok(deriver) => deriver,
            Err(error) => {
                assert_ne!(error, Unavailable::SelfTest);
                crate::require::missing(back_end.name());
                continue;
            }
        };
        let mut worker = deriver.worker();
        for count in [0, 1, 7, 600, 5000] {
            let seeds: Vec<[u8; 32]> = (0..count).map(|at: usize| [at as u8 ^ (at >> 8) as u8; 32]).collect();
            let mut keys = vec![[0; 32]; count];
            worker.derive(&seeds, &mut keys);
            for (seed, key) in seeds.iter().zip(&keys).step_by(97) {
                let known = ed25519_dalek::SigningKey::from_bytes(seed).verifying_key().to_bytes();
                assert_eq!(*key, without_sign(known), "{} of {count}", back_end.name());
            }
        }
    }
}

#[test]
fn names_are_found_again() {
    for back_end in BackEnd::ALL {
        assert_eq!(BackEnd::by_name(back_end.name()), Some(back_end));
        assert!(back_end.is_built() || back_end.check().is_err());
    }
    assert_eq!(BackEnd::by_name("abacus"), None);
    assert!(BackEnd::fastest().check().is_ok());
}
