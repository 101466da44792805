//! Tables for people.

/// Returns the lines of a table. All columns but the last are aligned to the right.
pub(super) fn lines<const N: usize>(rows: &[[String; N]]) -> impl Iterator<Item = String> {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; N] = std::array::from_fn(width);
    rows.iter().map(move |row| {
        let (last, first) = row.split_last().expect("a table has columns");
        let cells = first.iter().zip(widths).map(|(cell, width)| format!("{cell:>width$}  "));
        cells.chain([last.clone()]).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned() {
        let rows = [["a", "bb", "c"], ["é10", "b", "long"]].map(|row| row.map(str::to_owned));
        assert_eq!(lines(&rows).collect::<Vec<_>>(), ["  a  bb  c", "é10   b  long"]);
    }
}
