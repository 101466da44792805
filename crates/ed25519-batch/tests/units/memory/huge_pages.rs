use ed25519_batch::internals::{HUGE, map};
use ed25519_batch::memory::Zeros;

#[test]
fn more_than_the_address_space_is_refused() {
    assert!(Zeros::<u64>::try_new(1 << 50).is_none());
}

#[test]
fn zeros_of_any_size_are_writable() {
    for len in [0, 1, 1000, HUGE / 16, HUGE / 16 + 1, HUGE / 8, HUGE] {
        let mut zeros = Zeros::<u64>::new(len);
        assert_eq!(zeros.len(), len);
        assert!(zeros.iter().all(|word| *word == 0));
        zeros.fill(7);
        assert_eq!(zeros.iter().sum::<u64>(), 7 * len as u64);
    }
}

#[test]
fn a_mapping_has_whole_huge_pages() {
    for bytes in [1, HUGE, HUGE + 1] {
        let (map, first) = map(bytes).unwrap();
        assert!(map[first..].as_ptr().addr().is_multiple_of(HUGE));
        assert!(map.len() - first >= bytes.next_multiple_of(HUGE), "{bytes}");
    }
}
