//! Draws bars, in light and in dark mode.

use std::fmt::Write as _;

use serde_json::Value;

use crate::{Result, escaped};

/// One bar.
struct Bar {
    label: String,
    value: f64,
    /// The least and the greatest value, for a thin line.
    range: Option<(f64, f64)>,
    /// What stands behind the bar.
    text: String,
    is_own: bool,
}

/// Draws the speedup of each engine over the reference engine, from the output of `--bench --json`.
///
/// # Errors
///
/// Returns the file, the line and the reason if a line of JSON lacks a field.
pub fn of_engines(file: &str, text: &str) -> Result<String> {
    let mut bars = Vec::new();
    for (line, number) in text.lines().zip(1..).filter(|(line, _)| line.starts_with('{')) {
        let place = format!("{file}:{number}");
        let bench: Value = serde_json::from_str(line).map_err(|error| format!("{place}: {error}"))?;
        let ratio = |name: &str| bench[name].as_f64().ok_or(format!("{place}: no {name}"));
        let (value, least, most) = (ratio("ratio")?, ratio("ratio_min")?, ratio("ratio_max")?);
        bars.push(Bar {
            label: bench["engine"].as_str().ok_or(format!("{place}: no engine"))?.to_owned(),
            value,
            range: Some((least, most)),
            text: times(value),
            is_own: true,
        });
    }
    if bars.is_empty() {
        return Err(format!("{file}: no engine").into());
    }
    Ok(draw(
        "Keys per second on one thread: the speedup over the reference engine",
        &[
            "Bar and figure: the median over the rounds. Thin line: from the lowest round to the highest.",
            "AMD EPYC (Zen 4), 2026-11-29, commit 56d908c",
        ],
        &bars,
    ))
}

/// Draws the rates of programs, from the table of their run.
///
/// # Errors
///
/// Returns the file if it has no such table, or the line that has no rate.
pub fn of_tools(file: &str, text: &str) -> Result<String> {
    let lines = text.lines().zip(1..).skip_while(|(line, _)| !line.starts_with("program "));
    let rows = lines.skip(1).take_while(|(line, _)| !line.is_empty());
    let mut bars = Vec::new();
    for (line, number) in rows {
        let wrong = || format!("{file}:{number}: no name, rate and ratio: '{line}'");
        let mut columns = line.split("  ").map(str::trim).filter(|column| !column.is_empty());
        let (name, rate) = columns.next().zip(columns.next()).ok_or_else(wrong)?;
        let value = rate.replace(',', "").parse().map_err(|_| wrong())?;
        let ratio: f64 = columns.last().and_then(|ratio| ratio.parse().ok()).ok_or_else(wrong)?;
        // Neither the owner nor the version.
        let name = name.rsplit('/').next().unwrap_or(name);
        let name = name.strip_suffix(" (one reading)").unwrap_or(name);
        let name = if name.ends_with("(the plain loop)") { "the plain loop" } else { name };
        let is_version = |word: &str| {
            word.starts_with(|c: char| c.is_ascii_hexdigit()) && word.contains(|c: char| c.is_ascii_digit())
        };
        let words: Vec<&str> =
            name.split(' ').filter(|word| !is_version(word) || word.starts_with("avx")).collect();
        let name = words.join(" ");
        bars.push(Bar {
            is_own: name.starts_with("vanity-ed25519"),
            label: name,
            value,
            range: None,
            text: format!("{rate}, {}", times(ratio)),
        });
    }
    if bars.is_empty() {
        return Err(format!("{file}: no table of programs").into());
    }
    Ok(draw(
        "Keys per second of one core, and the speedup over the plain loop",
        &[
            "All in turn on one core of an AMD EPYC (Zen 4) at 3.65 GHz, 2026-11-28.",
            "Medians of five rounds (vanity-ssh-rs: one).",
        ],
        &bars,
    ))
}

/// The width of a picture in pixels.
const WIDTH: usize = 760;
/// The distance from the edge of a picture to its content.
const PAD: usize = 24;
/// The top of the first bar, below the title.
const TOP: usize = 56;
/// The distance from one bar to the next.
const STEP: usize = 30;
/// The distance from one line of text to the next.
const LINE: usize = 20;
/// The pixels of a character of a label, at most on average.
const CHARACTER: usize = 8;

const STYLE: &str = "<style>\
    .paper{fill:#fff}.ink{fill:#1f2328}.pale{fill:#59636e}.own{fill:#0969da}.other{fill:#afb8c1}.line{stroke:#1f2328}\
    @media(prefers-color-scheme:dark){.paper{fill:#0d1117}.ink{fill:#e6edf3}.pale{fill:#9198a1}.own{fill:#4493f8}\
    .other{fill:#656c76}.line{stroke:#e6edf3}}</style>";

fn draw(title: &str, notes: &[&str], bars: &[Bar]) -> String {
    let longest = bars.iter().map(|bar| bar.label.chars().count()).max().unwrap_or_default();
    let left = PAD + CHARACTER * longest + 12;
    let text = CHARACTER * bars.iter().map(|bar| bar.text.chars().count()).max().unwrap_or_default() + 12;
    let greatest = bars.iter().map(|bar| bar.range.map_or(bar.value, |(_, most)| most)).fold(0.0, f64::max);
    let room = (WIDTH - PAD - text - left) as f64;
    let width = |value: f64| (value / greatest * room).round().max(1.0) as usize;
    let bottom = TOP + STEP * bars.len();
    let height = bottom + LINE * notes.len() + PAD;

    let mut svg = format!(
        "<svg width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\" \
         xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-labelledby=\"title desc\" \
         font-family=\"sans-serif\" font-size=\"14\">\n<title id=\"title\">{}</title>\n<desc id=\"desc\">",
        escaped(title),
    );
    for bar in bars {
        let _ = writeln!(svg, "{}: {}.", escaped(&bar.label), escaped(&bar.text));
    }
    let _ = writeln!(
        svg,
        "{}</desc>\n{STYLE}\n<rect class=\"paper\" width=\"{WIDTH}\" height=\"{height}\" rx=\"8\"/>\n\
         <text class=\"ink\" x=\"{PAD}\" y=\"36\" font-size=\"17\" font-weight=\"bold\">{}</text>",
        escaped(&notes.join(" ")),
        escaped(title),
    );
    for (bar, y) in bars.iter().zip((TOP..).step_by(STEP)) {
        let class = if bar.is_own { "own" } else { "other" };
        let end = left + width(bar.range.map_or(bar.value, |(_, most)| most));
        let base = y + 16;
        let _ = writeln!(
            svg,
            "<text class=\"ink\" x=\"{}\" y=\"{base}\" text-anchor=\"end\">{}</text>\n\
             <rect class=\"{class}\" x=\"{left}\" y=\"{}\" width=\"{}\" height=\"18\"/>",
            left - 10,
            escaped(&bar.label),
            y + 2,
            width(bar.value),
        );
        if let Some((least, most)) = bar.range.filter(|(least, most)| least < most) {
            let [least, most] = [least, most].map(|value| left + width(value));
            let (middle, top, foot) = (y + 11, y + 7, y + 15);
            let _ = writeln!(
                svg,
                "<path class=\"line\" fill=\"none\" d=\"M{least} {middle}H{most}M{least} {top}V{foot}M{most} {top}V{foot}\"/>"
            );
        }
        let _ = writeln!(
            svg,
            "<text class=\"ink\" x=\"{}\" y=\"{base}\" font-weight=\"bold\">{}</text>",
            end + 8,
            escaped(&bar.text)
        );
    }
    for (note, y) in notes.iter().zip((bottom + LINE..).step_by(LINE)) {
        let _ = writeln!(
            svg,
            "<text class=\"pale\" x=\"{PAD}\" y=\"{y}\" font-size=\"12\">{}</text>",
            escaped(note)
        );
    }
    svg + "</svg>\n"
}

/// Returns a ratio with two digits.
fn times(ratio: f64) -> String {
    let digits = usize::from(ratio < 9.95) + usize::from(ratio < 0.995);
    format!("{ratio:.digits$} ×")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_has_every_row_a_title_and_a_description() {
        let text = "program  median\na/b 1a2b3c4     1,234   1,000   2,000   1.20\nvanity-ed25519, avx2   9,000  8,000  9,100  9.99\n\nend";
        let svg = of_tools("t.txt", text).unwrap();
        for part in [
            "<title id",
            ">b</text>",
            "1,234, 1.2 ×",
            "vanity-ed25519, avx2: 9,000, 10 ×.",
            "class=\"own\"",
            "class=\"other\"",
        ] {
            assert!(svg.contains(part), "{part}: {svg}");
        }
        let line = "{\"engine\":\"a<b\",\"ratio\":2,\"ratio_min\":1,\"ratio_max\":3}";
        let svg = of_engines("e.jsonl", &format!("head\n{line}\n")).unwrap();
        assert!(svg.contains(">a&lt;b</text>") && svg.contains("2.0 ×") && svg.contains("<path"), "{svg}");
    }

    #[test]
    fn a_wrong_recording_is_named_by_file_line_and_reason() {
        let error = |result: Result<String>| result.err().unwrap().to_string();
        assert_eq!(error(of_tools("t.txt", "a\n")), "t.txt: no table of programs");
        assert_eq!(
            error(of_tools("t.txt", "program x\nb  many\n")),
            "t.txt:2: no name, rate and ratio: 'b  many'"
        );
        assert_eq!(error(of_engines("e.jsonl", "")), "e.jsonl: no engine");
        assert_eq!(error(of_engines("e.jsonl", "{\"engine\":\"a\"}")), "e.jsonl:1: no ratio");
    }
}
