//! Reads the recordings for the pictures: CSV below a head of `#` lines.
//!
//! An error names the file, the line and the reason.

use std::error::Error;
use std::num::NonZeroU32;

use crate::Result;

/// A recording of engines side by side on one thread.
pub struct Engines {
    pub about: String,
    pub rows: Vec<Engine>,
}

/// The rate of an engine as a ratio to the reference engine: the median over the rounds, the least
/// and the greatest.
pub struct Engine {
    pub name: String,
    pub ratio: f64,
    pub from: f64,
    pub to: f64,
}

impl Engines {
    pub fn parse(file: &str, text: &str) -> Result<Self> {
        let columns = ["engine", "threads", "keys_per_second", "ratio", "ratio_from", "ratio_to"];
        let (about, cells) = parse(file, text, columns)?;
        let mut rows = Vec::<Engine>::new();
        for [engine, threads, rate, ratio, from, to] in cells {
            let row = Engine {
                name: engine.name()?,
                ratio: ratio.positive()?,
                from: from.positive()?,
                to: to.positive()?,
            };
            rate.positive()?;
            if threads.count()? != 1 {
                return Err(threads.wrong("engines are compared on 1 thread"));
            }
            if rows.iter().any(|other| other.name == row.name) {
                return Err(engine.wrong("occurs twice"));
            }
            if row.from > row.ratio || row.ratio > row.to {
                return Err(ratio.wrong("not between ratio_from and ratio_to"));
            }
            rows.push(row);
        }
        Ok(Self { about, rows })
    }
}

/// The content of a cell, and its place.
struct Cell {
    text: String,
    column: &'static str,
    place: String,
}

impl Cell {
    fn wrong(&self, reason: &str) -> Box<dyn Error> {
        format!("{}: {}: {reason}: '{}'", self.place, self.column, self.text).into()
    }

    fn name(&self) -> Result<String> {
        if self.text.is_empty() { Err(self.wrong("empty")) } else { Ok(self.text.clone()) }
    }

    fn count(&self) -> Result<u32> {
        let count = self.text.parse().map_err(|_| self.wrong("not a whole number above 0"))?;
        Ok(NonZeroU32::get(count))
    }

    fn positive(&self) -> Result<f64> {
        let number = self.text.parse().ok().filter(|&number: &f64| number > 0.0 && number.is_finite());
        number.ok_or_else(|| self.wrong("not a number above 0"))
    }
}

/// Returns a line about the measurement, from the head, and the rows of a recording.
///
/// # Errors
///
/// Returns the file, the line and the reason if the head, the columns or the rows are incomplete.
fn parse<const N: usize>(
    file: &str,
    text: &str,
    columns: [&'static str; N],
) -> Result<(String, Vec<[Cell; N]>)> {
    let (mut head, mut named, mut rows) = (Vec::new(), false, Vec::new());
    for (line, number) in text.lines().zip(1..) {
        if let Some(comment) = line.strip_prefix('#') {
            head.push(comment.trim());
            continue;
        }
        // A reader of the whole file would report wrong positions after comments, so it gets one
        // line.
        let mut line =
            csv::ReaderBuilder::new().has_headers(false).trim(csv::Trim::All).from_reader(line.as_bytes());
        let place = format!("{file}:{number}");
        for record in line.records() {
            let record = record.map_err(|error| format!("{place}: {error}"))?;
            if !named {
                if !record.iter().eq(columns) {
                    return Err(format!("{place}: the columns are not {}", columns.join(",")).into());
                }
                named = true;
                continue;
            }
            let cells = record.iter().zip(columns).map(|(text, column)| Cell {
                text: text.to_owned(),
                column,
                place: place.clone(),
            });
            let cells = cells.collect::<Vec<_>>().try_into().ok().filter(|_| record.len() == N);
            rows.push(cells.ok_or_else(|| format!("{place}: {} cells, not {N}", record.len()))?);
        }
    }
    let end = text.lines().count().max(1);
    if rows.is_empty() {
        return Err(format!("{file}:{end}: ends without a row").into());
    }
    let said = |key: &str| {
        let value = head.iter().find_map(|line| line.strip_prefix(key)?.strip_prefix(' '));
        value.map(str::trim).ok_or_else(|| format!("{file}:1: the head has no line '# {key} ...'"))
    };
    said("command")?;
    Ok((format!("{}; {}, commit {}", said("processor")?, said("date")?, said("commit")?), rows))
}

#[cfg(test)]
pub mod tests {
    use super::*;

    const HEAD: &str = "# date 2026-01-02\n# commit 123\n# command c\n# processor P & Q\n";

    pub fn engines(rows: &str) -> Result<Engines> {
        Engines::parse(
            "e.csv",
            &format!("{HEAD}engine,threads,keys_per_second,ratio,ratio_from,ratio_to\n{rows}"),
        )
    }

    #[test]
    fn a_wrong_recording_is_reported_with_file_line_and_reason() {
        let cases = [
            ("", "e.csv:5: ends without a row"),
            ("a,1,9,1,1\n", "e.csv:6: 5 cells, not 6"),
            ("a,1,9,1,1,1,1\n", "e.csv:6: 7 cells, not 6"),
            ("a,1,9,1,1,1\n\n# c\n,1,9,1,1,1\n", "e.csv:9: engine: empty: ''"),
            ("a,1,9,x,1,1\n", "e.csv:6: ratio: not a number above 0: 'x'"),
            ("a,1,0,1,1,1\n", "e.csv:6: keys_per_second: not a number above 0: '0'"),
            ("a,1,9,1,1,inf\n", "e.csv:6: ratio_to: not a number above 0: 'inf'"),
            ("a,0,9,1,1,1\n", "e.csv:6: threads: not a whole number above 0: '0'"),
            ("a,2,9,1,1,1\n", "e.csv:6: threads: engines are compared on 1 thread: '2'"),
            ("a,1,9,3,1,2\n", "e.csv:6: ratio: not between ratio_from and ratio_to: '3'"),
            ("a,1,9,1,1,1\na,1,9,1,1,1\n", "e.csv:7: engine: occurs twice: 'a'"),
        ];
        for (rows, expected) in cases {
            assert_eq!(engines(rows).err().unwrap().to_string(), expected);
        }
        let parse = |text: &str| Engines::parse("e.csv", text).err().unwrap().to_string();
        let columns = "engine,threads,keys_per_second,ratio,ratio_from,ratio_to";
        assert_eq!(
            parse(&format!("{columns}\na,1,9,1,1,1\n")),
            "e.csv:1: the head has no line '# command ...'"
        );
        assert!(parse("a,1,9,1\n").starts_with("e.csv:1: the columns are not engine,threads"));
    }
}
