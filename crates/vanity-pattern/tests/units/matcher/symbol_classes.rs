use vanity_pattern::internals::symbol_classes::SymbolClasses;
use vanity_pattern::wire::Symbols;

fn set(symbols: &[u8]) -> Symbols {
    symbols.iter().fold(Symbols::default(), |set, byte| set.or(Symbols::of(*byte)))
}

#[test]
fn symbols_that_no_literal_distinguishes_have_one_class() {
    let classes = SymbolClasses::new([set(b"aA4"), set(b"x"), set(b"iI1"), set(b"lL1"), set(b"4")]);
    let of = |byte| classes.of(Symbols::of(byte).first().unwrap());
    assert_eq!(classes.count(), 4);
    assert!([b'a', b'A', b'4'].into_iter().all(|byte| of(byte) == of(b'a')));
    assert!([b'i', b'I', b'1', b'l', b'L'].into_iter().all(|byte| of(byte) == of(b'l')));
    assert!([b'X', b'b', b'+', b'9'].into_iter().all(|byte| of(byte) == of(b'Z')));
    let apart = [of(b'a'), of(b'x'), of(b'l'), of(b'Z')];
    assert!((1..4).all(|at| !apart[at..].contains(&apart[at - 1])));
    let shares: f64 = apart.iter().map(|class| classes.share(*class)).sum();
    assert_eq!(shares, 1.0);
    assert_eq!(SymbolClasses::new([]).count(), 1);
    assert!(classes.has_unused());
    let of_each = SymbolClasses::new((0..64).map(|value| Symbols(1 << value)));
    assert!(of_each.count() == 64 && !of_each.has_unused());
}
