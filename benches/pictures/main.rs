//! Draws the pictures in `docs` from recorded measurements and a recorded search.
//!
//! `cargo run --manifest-path benches/pictures/Cargo.toml` reads `engines.csv` and `threads.csv` in
//! `benches/recorded`, and `search.txt` beside this file. It writes `engines.svg`, `threads.svg`
//! and `search.svg` in `docs`. The same data gives the same bytes, because the place of a text is
//! its anchor or its column, and no font is measured.

mod recorded;
mod search;

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use recorded::{Engines, Scaling, Threads};
use search::Screen;

type Result<T> = std::result::Result<T, Box<dyn Error>>;
type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Pixel = (i32, i32);

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
fn pictures(root: &Path) -> Result<[(&'static str, String); 3]> {
    let read = |name: &str| fs::read_to_string(root.join(name)).map_err(|error| format!("{name}: {error}"));
    let [engines, threads, search] =
        ["benches/recorded/engines.csv", "benches/recorded/threads.csv", "benches/pictures/search.txt"];
    Ok([
        ("docs/engines.svg", draw_engines(&Engines::parse(engines, &read(engines)?)?)?),
        ("docs/threads.svg", draw_threads(&Threads::parse(threads, &read(threads)?)?)?),
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
const GRID: RGBColor = RGBColor(0xd8, 0xde, 0xe4);
const BAR: RGBColor = RGBColor(0x56, 0xb4, 0xe9);
/// The colors of Okabe and Ito, which people with any color vision can distinguish.
const COLORS: [RGBColor; 7] = [
    RGBColor(0x00, 0x72, 0xb2),
    RGBColor(0xd5, 0x5e, 0x00),
    RGBColor(0x00, 0x9e, 0x73),
    RGBColor(0xcc, 0x79, 0xa7),
    RGBColor(0x56, 0xb4, 0xe9),
    RGBColor(0xe6, 0x9f, 0x00),
    RGBColor(0x00, 0x00, 0x00),
];

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
            "Keys per second on one thread: times the reference engine",
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

fn draw_threads(threads: &Threads) -> Result<String> {
    let engines = &threads.engines;
    let points = engines.iter().flat_map(|engine| &engine.ratios);
    let most = points.clone().map(|&(count, _)| count).max().unwrap_or(1);
    let greatest = points.clone().map(|&(_, ratio)| ratio).fold(f64::from(most), f64::max);
    let counts = spread(points.map(|&(count, _)| count).collect());

    let legend = WIDTH as i32 - 210;
    let bottom = TOP + (2 * LINE * (engines.len() as i32 + 1)).max(300);
    let (left, right) = (PAD + 40, legend - 30);
    let (across, up) = (f64::from(right - left - 2 * LINE), f64::from(bottom - TOP - 10));
    let x = |count: u32| {
        left + LINE + (f64::from(count - 1) / f64::from(most.max(2) - 1) * across).round() as i32
    };
    let y = |ratio: f64| bottom - (ratio / greatest * up).round() as i32;

    picture(bottom + 3 * LINE + PAD, |area| {
        area.draw_text("Keys per second on more threads: times one thread", &title(), (PAD, PAD + 6))?;
        for ratio in round_numbers(greatest) {
            let color = if ratio == 0.0 { PALE_INK } else { GRID };
            area.draw(&PathElement::new([(left, y(ratio)), (right, y(ratio))], color))?;
            area.draw_text(&ratio.to_string(), &small(HPos::Right), (left - 8, y(ratio)))?;
        }
        for count in counts {
            area.draw(&PathElement::new([(x(count), bottom), (x(count), bottom + 5)], PALE_INK))?;
            area.draw_text(&count.to_string(), &small(HPos::Center), (x(count), bottom + 16))?;
        }
        area.draw_text("threads", &small(HPos::Center), (i32::midpoint(left, right), bottom + 36))?;

        let lines =
            engines.iter().map(|engine| engine.ratios.iter().map(|&(count, ratio)| (x(count), y(ratio))));
        for (n, line) in lines.clone().enumerate() {
            draw_line(area, n, line.collect())?;
        }
        area.draw(&PathElement::new([(x(1), y(1.0)), (x(most), y(f64::from(most)))], INK))?;
        for (n, line) in lines.enumerate() {
            draw_marks(area, n, line)?;
        }

        draw_legend(area, engines, legend)?;
        Ok(area.draw_text(&threads.about, &small(HPos::Left), (PAD, bottom + 3 * LINE + 4))?)
    })
}

/// Draws the name of each line and its last ratio, to the right of the pixel `left`.
fn draw_legend(area: &Area, engines: &[Scaling], left: i32) -> Result<()> {
    area.draw(&PathElement::new([(left, TOP + 10), (left + 30, TOP + 10)], INK))?;
    area.draw_text("ideal", &label(HPos::Left), (left + 40, TOP + 10))?;
    for (n, engine) in engines.iter().enumerate() {
        let y = TOP + 2 * LINE * (n as i32 + 1) + 5;
        draw_line(area, n, vec![(left, y), (left + 30, y)])?;
        draw_marks(area, n, [(left + 15, y)])?;
        area.draw_text(&engine.name, &label(HPos::Left), (left + 40, y))?;
        if let Some(&(count, ratio)) = engine.ratios.last() {
            let text = format!("{} on {count} thread{}", times(ratio), if count == 1 { "" } else { "s" });
            area.draw_text(&text, &small(HPos::Left), (left + 40, y + 17))?;
        }
    }
    Ok(())
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

/// Draws the line of the engine `n`.
fn draw_line(area: &Area, n: usize, line: Vec<Pixel>) -> Result<()> {
    Ok(area.draw(&PathElement::new(line, COLORS[n % COLORS.len()].stroke_width(3)))?)
}

/// Draws the marks of the engine `n`. Colors and shapes repeat together only after 28 engines.
fn draw_marks(area: &Area, n: usize, marks: impl IntoIterator<Item = Pixel>) -> Result<()> {
    let fill = COLORS[n % COLORS.len()].filled();
    for (x, y) in marks {
        match n % 4 {
            0 => area.draw(&Circle::new((x, y), 5, fill))?,
            1 => area.draw(&Rectangle::new([(x - 5, y - 5), (x + 5, y + 5)], fill))?,
            2 => area.draw(&Polygon::new([(x, y - 6), (x + 6, y + 5), (x - 6, y + 5)], fill))?,
            _ => area.draw(&Polygon::new([(x, y - 7), (x + 7, y), (x, y + 7), (x - 7, y)], fill))?,
        }
    }
    Ok(())
}

/// Returns the numbers of threads to print: the greatest, the least, and the others if their digits
/// have room.
fn spread(mut counts: Vec<u32>) -> Vec<u32> {
    counts.sort_unstable();
    let most = counts.last().copied().unwrap_or_default();
    let ends = [most, counts.first().copied().unwrap_or_default()];
    let mut kept = Vec::<u32>::new();
    for count in ends.into_iter().chain(counts.into_iter().rev()) {
        if kept.iter().all(|kept| kept.abs_diff(count) > most / 16) {
            kept.push(count);
        }
    }
    kept
}

/// Returns at most seven round numbers from 0 to `top`.
fn round_numbers(top: f64) -> Vec<f64> {
    let mut step = 1.0;
    for factor in [2.0, 2.5, 2.0].into_iter().cycle() {
        if top / step < 7.0 {
            break;
        }
        step *= factor;
    }
    (0..=(top / step) as u32).map(|n| f64::from(n) * step).collect()
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
    use super::recorded::tests::{engines, threads};
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
    fn any_number_of_engines_and_threads_is_drawn() {
        for count in [1, 2, 30] {
            let rows: String = (1..=count).map(|n| format!("e{n},1,9,{n},0.5,{}\n", n + 1)).collect();
            let svg = draw_engines(&engines(&rows).unwrap()).unwrap();
            assert!(svg.contains(">\nP &amp; Q; 2026-01-02, commit 123\n<"), "{svg}");
            assert_eq!(svg.matches("<rect").count(), 1 + count);

            let rows: String = (1..=count).map(|n| format!("e,{n},9,{n}\nf{n},1,9,1\n")).collect();
            let drawn = threads(&rows).unwrap();
            assert_eq!(drawn.engines.len(), 1 + count);
            assert_eq!(draw_threads(&drawn).unwrap(), draw_threads(&drawn).unwrap());
        }
    }
}
