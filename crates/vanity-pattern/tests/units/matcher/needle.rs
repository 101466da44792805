use vanity_pattern::internals::needle::Positions;
use vanity_pattern::wire::BODY_LEN;

#[test]
fn starts_are_a_set_of_positions() {
    assert_eq!(Positions::ALL.each().collect::<Vec<_>>(), (0..BODY_LEN).collect::<Vec<_>>());
    let last = Positions::only(41).or(Positions::only(42));
    assert_eq!(last.each().collect::<Vec<_>>(), [41, 42]);
    assert_eq!(Positions::of_bits(0b101).and_next(), Positions::of_bits(0b1111));
    assert_eq!(last.and_next(), last);
    assert_eq!(last.and(Positions::only(42).or(Positions::only(7))), Positions::only(42));
}
