//! Draws the pictures in `docs` from recorded measurements and a recorded search.
//!
//! `cargo run --manifest-path benches/pictures/Cargo.toml` reads a run of `--bench` and one of other
//! tools in `benches/recorded`, and `search.txt` beside this file. It writes `engines.svg`,
//! `tools.svg` and `search.svg` in `docs`. The same data gives the same bytes, because the place of
//! a text is its anchor or its column, and no font is measured.

mod bars;
mod search;

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use search::Screen;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

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
    for (name, svg) in pictures(root)? {
        fs::write(root.join(name), svg).map_err(|error| format!("{name}: {error}"))?;
    }
    Ok(())
}

/// Returns the name and the text of each picture.
fn pictures(root: &Path) -> Result<[(&'static str, String); 3]> {
    let read = |name: &str| fs::read_to_string(root.join(name)).map_err(|error| format!("{name}: {error}"));
    let engines = "benches/recorded/2026-11-29-zen-4/bench.jsonl";
    let tools = "benches/recorded/2026-11-28-zen-4/peers.txt";
    let search = "benches/pictures/search.txt";
    Ok([
        ("docs/engines.svg", bars::of_engines(engines, &read(engines)?)?),
        ("docs/tools.svg", bars::of_tools(tools, &read(tools)?)?),
        ("docs/search.svg", Screen::parse(search, &read(search)?)?.draw()),
    ])
}

/// Escapes what has a meaning in SVG.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
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
}
