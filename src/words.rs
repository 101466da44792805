//! Numbers in sentences.

use indicatif::HumanCount;

/// Returns a number and its noun: `1 key`, `2 keys`, `1,000 keys`. `one` is the singular.
#[must_use]
pub fn counted(number: u64, one: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{} {one}s", grouped(number)) }
}

/// Returns `is` after one thing, and `are` after any other number of things.
#[must_use]
pub fn are(number: u64) -> &'static str {
    if number == 1 { "is" } else { "are" }
}

/// Returns a whole number with commas between groups of three digits.
#[must_use]
pub fn grouped(number: u64) -> String {
    HumanCount(number).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_and_counted() {
        let numbers = [0, 7, 999, 1000, 12_345, 1_234_567].map(grouped);
        assert_eq!(numbers, ["0", "7", "999", "1,000", "12,345", "1,234,567"]);
        assert_eq!(
            [0, 1, 2, 1000].map(|number| counted(number, "key")),
            ["0 keys", "1 key", "2 keys", "1,000 keys"]
        );
    }
}
