mod dfa_scan;
mod four_gram_filter;
mod literals;
mod lookup;
mod needle;
mod pair_bitmap;
mod required_literals;
mod symbol_classes;
