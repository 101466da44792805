//! The guide `docs/many-machines.md` shows the files and the commands that
//! `tests/many-machines/run` runs.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

const GUIDE: &str = include_str!("../../docs/many-machines.md");
const RUN: &str = include_str!("../many-machines/run");

/// Returns the fenced blocks, without their fences.
fn blocks(text: &str) -> Vec<&str> {
    let fenced = text.split("\n```").skip(1).step_by(2);
    fenced.map(|block| block.split_once('\n').unwrap().1).collect()
}

#[test]
fn the_guide_shows_what_the_script_runs() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/many-machines");
    let files: BTreeSet<String> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap())
        .collect();
    let (shown, commands): (Vec<String>, Vec<String>) =
        blocks(GUIDE).into_iter().map(|block| format!("{block}\n")).partition(|block| files.contains(block));
    let shown = BTreeSet::from_iter(shown);
    assert_eq!(shown, files, "the guide does not show every file as it is");

    let run: BTreeSet<&str> = RUN.lines().map(str::trim).collect();
    for command in commands.iter().flat_map(|block| block.lines()) {
        // In the script each node has one processor, and output goes to files.
        let is_run = |line: &&str| {
            let line = line.replace("--cpus-per-task=1 ", "");
            line.strip_prefix(command).is_some_and(|rest| rest.is_empty() || rest.starts_with(" > "))
        };
        assert!(run.iter().any(is_run), "'{command}' is not run by tests/many-machines/run");
    }
    assert!(commands.len() >= 5, "{commands:?}");
}
