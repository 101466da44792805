use vanity_pattern::Odds;

#[test]
fn only_a_chance_is_accepted() {
    for bad in [0.0, -0.5, 1.1, f64::NAN, f64::INFINITY] {
        assert_eq!(Odds::new(bad), None, "{bad}");
    }
    assert_eq!(Odds::new(1.0 + 1e-12).map(|odds| odds.probability()), Some(1.0));
}

#[test]
fn half_and_ninety_five_percent() {
    let odds = Odds::new(1e-6).unwrap();
    assert!((odds.attempts_for(0.5) - 693_147.0).abs() < 1.0);
    assert!((odds.attempts_for(0.95) - 2_995_731.0).abs() < 1.0);
    assert!((odds.chance_after(1e6) - 0.632_12).abs() < 1e-5);
    let tiny = Odds::new(1e-60).unwrap();
    assert!((tiny.chance_after(1e40) / 1e-20 - 1.0).abs() < 1e-12);
    assert!((tiny.bits() - 199.3).abs() < 0.1);
}

#[test]
fn a_certain_match_needs_one_key() {
    let certain = Odds::new(1.0).unwrap();
    assert_eq!(certain.attempts_for(0.95), 1.0);
    assert_eq!(certain.chance_after(0.0), 0.0);
    assert_eq!(certain.chance_after(1.0), 1.0);
    let likely = Odds::new(0.99).unwrap();
    assert_eq!(likely.attempts_for(0.5), 1.0);
}
