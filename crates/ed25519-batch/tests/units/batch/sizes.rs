use ed25519_batch::Sizing;
use ed25519_batch::internals::Table;
use ed25519_batch::internals::sizes::*;

fn limited(expected_keys: f64, table_memory: usize) -> Vec<usize> {
    windows(Sizing { table_memory: Some(table_memory), ..Sizing::for_keys(expected_keys) })
}

#[test]
fn no_table_exceeds_its_limit() {
    for limit in WINDOWS {
        let allowed = limited(1e18, Table::bytes(limit));
        assert_eq!(allowed.last(), Some(&limit));
        assert_eq!(allowed[0], limit.max(FIRST_WINDOWS), "it starts small");
        assert!(allowed.is_sorted_by(|few, many| few > many));
    }
    assert_eq!(limited(1e18, 0), WINDOWS[..1]);
    let usual = windows(Sizing::for_keys(1e18));
    assert!(usual.into_iter().all(|windows| Table::bytes(windows) <= MOST_MEMORY));
}

#[test]
fn a_short_search_builds_no_large_table() {
    let most = |expected_keys| *limited(expected_keys, 512 << 20).last().unwrap();
    assert!([1e4, 1e6, 1e8, 1e10].map(most).is_sorted_by(|few, many| few > many));
    assert_eq!((most(1.0), most(f64::INFINITY)), (FIRST_WINDOWS, 13));
}
