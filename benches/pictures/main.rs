//! Draws the pictures in `docs` from recorded measurements and a recorded search.
//!
//! `cargo run --manifest-path benches/pictures/Cargo.toml` reads `engines.csv` of a recorded run in
//! `benches/recorded`, and `search.txt` beside this file. It writes `engines.svg` and `search.svg` in
//! `docs`. The same data gives the same bytes, because the place of a text is its anchor or its
//! column, and no font is measured.

mod recorded;
mod search;

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use recorded::Engines;
use search::Screen;

type Result<T> = std::result::Result<T, Box<dyn Error>>;
type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

fn main() -> ExitCode {
    match write(&root()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Returns the directory of the program, which has this package inside.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Writes all pictures, or none if one of the recordings is wrong.
fn write(root: &Path) -> Result<()> {
    let pictures = pictures(root)?;
    fs::create_dir_all(root.join("docs")).map_err(|error| format!("docs: {error}"))?;
    for (name, svg) in pictures {
        fs::write(root.join(name), svg).map_err(|error| format!("{name}: {error}"))?;
    }
    Ok(())
}

/// Returns the name and the text of each picture.
fn pictures(root: &Path) -> Result<[(&'static str, String); 2]> {
    let read = |name: &str| fs::read_to_string(root.join(name)).map_err(|error| format!("{name}: {error}"));
    let engines = "benches/recorded/2026-11-27-sapphire-rapids/engines.csv";
    let search = "benches/pictures/search.txt";
    Ok([
        ("docs/engines.svg", draw_engines(&Engines::parse(engines, &read(engines)?)?)?),
        ("docs/search.svg", Screen::parse(search, &read(search)?)?.draw()),
    ])
}

/// The width of a picture in pixels.
const WIDTH: u32 = 760;
/// The distance from the edge of a picture to its content.
const PAD: i32 = 24;
/// The top of the first bar or of the chart, below the title.
const TOP: i32 = 60;
/// The distance from one bar to the next.
const STEP: i32 = 40;
/// The distance from one line of text to the next.
const LINE: i32 = 20;

const INK: RGBColor = RGBColor(0x1f, 0x23, 0x28);
const PALE_INK: RGBColor = RGBColor(0x59, 0x63, 0x6e);
const BAR: RGBColor = RGBColor(0x56, 0xb4, 0xe9);

fn draw_engines(engines: &Engines) -> Result<String> {
    let rows = &engines.rows;
    let bottom = TOP + STEP * rows.len() as i32;
    let longest = rows.iter().map(|row| row.name.chars().count()).max().unwrap_or_default() as i32;
    // A character of the names is at most 9 pixels wide on average; the greatest ratio leaves 70
    // for its text.
    let left = PAD + 9 * longest + 12;
    let room = f64::from(WIDTH as i32 - PAD - 70 - left);
    let greatest = rows.iter().map(|row| row.to).fold(0.0, f64::max);
    let x = |ratio: f64| left + (ratio / greatest * room).round() as i32;

    picture(bottom + 2 * LINE + PAD, |area| {
        area.draw_text(
            "Keys per second on one thread: the speedup over the reference engine",
            &title(),
            (PAD, PAD + 6),
        )?;
        for (row, n) in rows.iter().zip(0..) {
            let y = TOP + STEP * n + STEP / 2;
            area.draw_text(&row.name, &label(HPos::Right), (left - 10, y))?;
            area.draw(&Rectangle::new([(left, y - 13), (x(row.ratio), y + 13)], BAR.filled()))?;
            if row.from < row.to {
                area.draw(&PathElement::new([(x(row.from), y), (x(row.to), y)], INK))?;
                for end in [x(row.from), x(row.to)] {
                    area.draw(&PathElement::new([(end, y - 4), (end, y + 4)], INK))?;
                }
            }
            area.draw_text(&times(row.ratio), &value(), (x(row.to) + 8, y))?;
        }
        area.draw(&PathElement::new([(left, TOP), (left, bottom)], PALE_INK))?;
        let how =
            "Bar and figure: the median over the rounds. Thin line: from the lowest round to the highest.";
        area.draw_text(how, &small(HPos::Left), (PAD, bottom + LINE))?;
        Ok(area.draw_text(&engines.about, &small(HPos::Left), (PAD, bottom + 2 * LINE))?)
    })
}

/// Returns the text of a picture on white, which looks the same in light and in dark mode.
fn picture(height: i32, draw: impl FnOnce(&Area) -> Result<()>) -> Result<String> {
    let mut svg = String::new();
    let area = SVGBackend::with_string(&mut svg, (WIDTH, height.unsigned_abs())).into_drawing_area();
    area.fill(&WHITE)?;
    draw(&area)?;
    area.present()?;
    drop(area);
    Ok(svg)
}

fn times(ratio: f64) -> String {
    if ratio < 9.95 { format!("{ratio:.1} ×") } else { format!("{ratio:.0} ×") }
}

fn title() -> TextStyle<'static> {
    style(17.0, FontStyle::Bold, &INK, HPos::Left)
}

fn label(side: HPos) -> TextStyle<'static> {
    style(14.0, FontStyle::Normal, &INK, side)
}

fn value() -> TextStyle<'static> {
    style(14.0, FontStyle::Bold, &INK, HPos::Left)
}

fn small(side: HPos) -> TextStyle<'static> {
    style(12.0, FontStyle::Normal, &PALE_INK, side)
}

/// Returns the style of text of this size in pixels. The back end divides sizes by 1.24.
fn style(pixels: f64, weight: FontStyle, color: &'static RGBColor, side: HPos) -> TextStyle<'static> {
    let font = FontDesc::new(FontFamily::SansSerif, pixels * 1.24, weight);
    TextStyle::from(font).color(color).pos(Pos::new(side, VPos::Center))
}

#[cfg(test)]
mod tests {
    use super::recorded::tests::engines;
    use super::*;

    #[test]
    fn pictures_show_the_recorded_data() {
        let root = root();
        for (name, svg) in pictures(&root).unwrap() {
            let kept = fs::read_to_string(root.join(name)).unwrap();
            assert!(
                kept == svg,
                "{name} is out of date: cargo run --manifest-path benches/pictures/Cargo.toml"
            );
        }
    }

    #[test]
    fn any_number_of_engines_is_drawn() {
        for count in [1, 2, 30] {
            let rows: String = (1..=count).map(|n| format!("e{n},1,9,{n},0.5,{}\n", n + 1)).collect();
            let svg = draw_engines(&engines(&rows).unwrap()).unwrap();
            assert!(svg.contains(">\nP &amp; Q; 2026-01-02, commit 123\n<"), "{svg}");
            assert_eq!(svg.matches("<rect").count(), 1 + count);
        }
    }
}
