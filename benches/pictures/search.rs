//! Draws the window of a terminal from the bytes that it received during a search.
//!
//! `record.sh` writes the recording. In it, `cat -v` has replaced control characters with text. The
//! picture shows the screen at the end, without the lines that were erased.

use std::fmt::Write as _;

use crate::{Result, escaped};

/// The screen of a terminal after a recorded command.
pub struct Screen {
    command: String,
    about: String,
    lines: Vec<Vec<Cell>>,
}

/// A character and its style.
#[derive(Clone, Copy)]
struct Cell {
    character: char,
    style: Style,
}

#[derive(Clone, Copy, Default, PartialEq)]
struct Style {
    bold: bool,
    faint: bool,
    green: bool,
}

impl Style {
    /// Returns the style after a sequence `ESC [ codes m`; `None` if a code is unknown.
    fn after(self, codes: &str) -> Option<Self> {
        codes.split(';').try_fold(self, |style, code| match code {
            "" | "0" => Some(Self::default()),
            "1" => Some(Self { bold: true, ..style }),
            "2" => Some(Self { faint: true, ..style }),
            "32" => Some(Self { green: true, ..style }),
            _ => None,
        })
    }

    fn color(self) -> &'static str {
        if self.green {
            GREEN
        } else if self.faint {
            FAINT
        } else {
            INK
        }
    }
}

impl Screen {
    /// Reads a recording.
    ///
    /// # Errors
    ///
    /// Returns the file, the line and the reason if the head is incomplete, or if the terminal
    /// received an unknown sequence.
    pub fn parse(file: &str, text: &str) -> Result<Self> {
        let head = text.lines().take_while(|line| line.starts_with("# "));
        let count = head.clone().count();
        let said = |key: &str| {
            let value = head.clone().find_map(|line| line[2..].strip_prefix(key)?.strip_prefix(' '));
            value
                .map(|value| value.trim().to_owned())
                .ok_or_else(|| format!("{file}:1: the head has no line '# {key} ...'"))
        };
        let about = format!("{}, commit {}, {}", said("date")?, said("commit")?, said("processor")?);
        let mut style = Style::default();
        let mut lines = Vec::new();
        for (line, number) in text.lines().zip(1..).skip(count) {
            let shown = show(line, &mut style).map_err(|what| format!("{file}:{number}: {what}"))?;
            lines.push(shown);
        }
        if lines.is_empty() {
            return Err(format!("{file}:{count}: ends without a line of the terminal").into());
        }
        Ok(Self { command: said("command")?, about, lines })
    }

    /// Draws the window, which is dark in light and in dark mode.
    pub fn draw(&self) -> String {
        let prompt = [("$ ", Style { faint: true, ..Style::default() }), (&self.command, Style::default())];
        let prompt = prompt
            .iter()
            .flat_map(|&(text, style)| text.chars().map(move |character| Cell { character, style }));
        let lines: Vec<Vec<Cell>> =
            [prompt.collect()].into_iter().chain(self.lines.iter().cloned()).collect();
        let longest = lines.iter().map(Vec::len).max().unwrap_or_default();
        let width = 2 * PAD + CHARACTER * longest;
        let height = BAR + LINE * lines.len() + 2 * PAD - LINE / 2;

        let (command, about) = (escaped(&self.command), escaped(&self.about));
        let mut svg = format!(
            "<svg width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
             xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-labelledby=\"title desc\" \
             font-family=\"ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace\" \
             font-size=\"13\">\n\
             <title id=\"title\">A search in a terminal: {command}</title>\n\
             <desc id=\"desc\">Recorded {about}. The terminal shows:\n"
        );
        for line in &lines {
            let text: String = line.iter().map(|cell| cell.character).collect();
            let _ = writeln!(svg, "{}", escaped(text.trim_end()));
        }
        let _ = write!(
            svg,
            "</desc>\n\
             <rect x=\"0.5\" y=\"0.5\" width=\"{}\" height=\"{}\" rx=\"8\" fill=\"{BACKGROUND}\" stroke=\"{EDGE}\"/>\n\
             <path d=\"M0.5 {BAR}.5H{}\" stroke=\"{EDGE}\"/>\n\
             <text x=\"{PAD}\" y=\"{}\" fill=\"{FAINT}\" font-size=\"11\">{about}</text>\n",
            width - 1,
            height - 1,
            width - 1,
            BAR - 11,
        );
        for (line, row) in lines.iter().zip(1..) {
            let y = BAR + PAD + LINE * row - LINE / 2;
            // With any font, a line has the width of its characters.
            let _ = write!(
                svg,
                "<text x=\"{PAD}\" y=\"{y}\" textLength=\"{}\" lengthAdjust=\"spacingAndGlyphs\" xml:space=\"preserve\">",
                CHARACTER * line.len(),
            );
            for run in line.chunk_by(|left, right| left.style == right.style) {
                let style = run[0].style;
                let text: String = run.iter().map(|cell| cell.character).collect();
                let weight = if style.bold { " font-weight=\"bold\"" } else { "" };
                let _ = write!(svg, "<tspan fill=\"{}\"{weight}>{}</tspan>", style.color(), escaped(&text));
            }
            svg.push_str("</text>\n");
        }
        svg + "</svg>\n"
    }
}

/// The pixels around the text.
const PAD: usize = 16;
/// The width of a character in pixels.
const CHARACTER: usize = 8;
/// The pixels from one line to the next.
const LINE: usize = 20;
/// The height of the title bar in pixels.
const BAR: usize = 30;

const BACKGROUND: &str = "#161B22";
const EDGE: &str = "#3D444D";
const INK: &str = "#E6EDF3";
const FAINT: &str = "#9198A1";
const GREEN: &str = "#3FB950";

/// Returns the cells that a terminal shows at the end of a received line.
///
/// # Errors
///
/// Returns an unknown sequence.
fn show(line: &str, style: &mut Style) -> std::result::Result<Vec<Cell>, String> {
    let (mut cells, mut column, mut rest) = (Vec::<Cell>::new(), 0, line);
    while let Some(character) = rest.chars().next() {
        rest = &rest[character.len_utf8()..];
        if character != '^' {
            let blank = Cell { character: ' ', style: Style::default() };
            cells.resize(cells.len().max(column + 1), blank);
            cells[column] = Cell { character, style: *style };
            column += 1;
        } else if let Some(after) = rest.strip_prefix('M') {
            (column, rest) = (0, after);
        } else {
            let end = rest.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(rest.len());
            let (sequence, after) = rest.split_at((end + 1).min(rest.len()));
            let unknown = || format!("'^{sequence}' is not known");
            // The recording has ^[ for ESC, and a bracket follows.
            match sequence.strip_prefix("[[").ok_or_else(unknown)? {
                "2K" => cells.clear(),
                "0J" => cells.truncate(column),
                codes => {
                    let codes = codes.strip_suffix('m').ok_or_else(unknown)?;
                    *style = style.after(codes).ok_or_else(unknown)?;
                }
            }
            rest = after;
        }
    }
    while cells.pop_if(|cell| cell.character == ' ').is_some() {}
    Ok(cells)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "# date 2026-01-02\n# commit 123\n# command c <x>\n# processor P & Q\n";

    fn shown(line: &str) -> String {
        let cells = show(line, &mut Style::default()).unwrap();
        cells.iter().map(|cell| cell.character).collect()
    }

    #[test]
    fn a_screen_keeps_what_was_not_erased_or_overwritten() {
        assert_eq!(shown("rate 1^M^[[2Kfound^M"), "found");
        assert_eq!(shown("rate 1^M^M^[[0Jfound^M"), "found");
        assert_eq!(shown("abcd^Mxy"), "xycd");
        assert_eq!(shown("^[[1ma^[[32mb^[[0mc"), "abc");
    }

    #[test]
    fn a_picture_is_well_formed_and_has_the_text() {
        let screen =
            Screen::parse("s.txt", &format!("{HEAD}^[[1ma^[[0m <b>^M\n  ^[[2m& c^[[0m^M\n")).unwrap();
        let svg = screen.draw();
        let [bold, plain, faint] = [
            "<tspan fill=\"#E6EDF3\" font-weight=\"bold\">a</tspan>",
            "<tspan fill=\"#E6EDF3\"> &lt;b&gt;</tspan>",
            "<tspan fill=\"#E6EDF3\">  </tspan><tspan fill=\"#9198A1\">&amp; c</tspan></text>",
        ];
        assert!([bold, plain, faint].iter().all(|run| svg.contains(run)), "{svg}");
        assert!(svg.contains("c &lt;x&gt;</title>") && svg.contains("commit 123, P &amp; Q."), "{svg}");
        assert_eq!(svg.matches("<text").count(), svg.matches("</text>").count());
    }

    #[test]
    fn a_wrong_recording_is_named_by_file_line_and_reason() {
        let error = |text: &str| Screen::parse("s.txt", text).err().unwrap().to_string();
        assert_eq!(error(HEAD), "s.txt:4: ends without a line of the terminal");
        assert_eq!(error(&format!("{HEAD}a^[[31mb\n")), "s.txt:5: '^[[31m' is not known");
        assert_eq!(error(&format!("{HEAD}a\n^[[5Ab\n")), "s.txt:6: '^[[5A' is not known");
        assert_eq!(error(&format!("{HEAD}a^@\n")), "s.txt:5: '^@' is not known");
        assert_eq!(error("# date d\na\n"), "s.txt:1: the head has no line '# commit ...'");
    }
}
