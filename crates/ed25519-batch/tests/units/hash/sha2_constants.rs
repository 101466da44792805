use ed25519_batch::sha2_constants::*;
use num_bigint::BigUint;

#[test]
fn the_constants_are_fractions_of_roots_of_primes() {
    let is_prime = |number: &u64| (2..*number).all(|divisor| !number.is_multiple_of(divisor));
    let primes: Vec<u64> = (2..).filter(is_prime).take(80).collect();
    let fractions = |degree: u32| {
        let fraction = move |prime: &u64| {
            let root = (BigUint::from(*prime) << (64 * degree)).nth_root(degree);
            root.iter_u64_digits().next().unwrap()
        };
        primes.iter().map(fraction)
    };
    assert!(fractions(3).eq(SHA512_ROUND));
    assert!(fractions(2).take(8).eq(SHA512_INITIAL));
    // FIPS 180-4, sections 4.2.2 and 5.3.3.
    assert_eq!((SHA256_ROUND[0], SHA256_ROUND[63]), (0x428a_2f98, 0xc671_78f2));
    assert_eq!((SHA256_INITIAL[0], SHA256_INITIAL[7]), (0x6a09_e667, 0x5be0_cd19));
}
