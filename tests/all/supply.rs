//! `docs/design/dependencies.md` names every package that the program uses, with a reason.
//! `unsafe` code is only in the places that may have it. cargo-deny checks licenses, duplicates and
//! sources (`deny.toml`).

#![cfg(unix)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The paths that may have `unsafe`: the vectors, also in tests, the foreign calls of the GPU engine,
/// signals, the calls of Windows in the program and in its tests, and the example that tells Valgrind
/// which bytes are a seed.
const UNSAFE: [&str; 7] = [
    "crates/ed25519-batch/src/simd",
    "crates/ed25519-batch/tests/units/simd/sets.rs",
    "crates/vanity-search/src/gpu",
    "src/sys/signals.rs",
    "src/sys/windows",
    "tests/all/windows/foreign.rs",
    "crates/vanity-search/examples/constant_time.rs",
];

const DOCUMENT: &str = include_str!("../../docs/design/dependencies.md");
/// The manifests of the packages of this repository, the program's first.
const MANIFESTS: [&str; 5] = [
    include_str!("../../Cargo.toml"),
    include_str!("../../crates/ed25519-batch/Cargo.toml"),
    include_str!("../../crates/vanity-pattern/Cargo.toml"),
    include_str!("../../crates/vanity-search/Cargo.toml"),
    include_str!("../../benches/criterion/Cargo.toml"),
];
const README: &str = include_str!("../../README.md");

/// Bare `cargo bench` builds and runs what does not have `bench = false`.
#[test]
fn bare_cargo_bench_runs_one_bench() {
    let mut run = Vec::new();
    for manifest in MANIFESTS {
        let targets: Vec<&str> = manifest
            .split("\n[")
            .filter(|part| ["lib]", "[bin]]", "[bench]]"].iter().any(|kind| part.starts_with(kind)))
            .collect();
        assert!(targets.iter().any(|target| target.starts_with("lib]")), "a library is benched by default");
        run.extend(targets.into_iter().filter(|target| !target.contains("\nbench = false")));
    }
    assert!(matches!(run[..], [one] if one.contains("name = \"throughput\"")), "{run:?}");
}

/// Returns the names of the packages in a section of the manifests, without those of this repository.
fn direct(section: &str) -> BTreeSet<&'static str> {
    let texts = MANIFESTS.iter().flat_map(|manifest| manifest.split("\n["));
    let lines = texts.filter_map(|text| text.strip_prefix(section)).flat_map(str::lines);
    let lines = lines.filter(|line| !line.starts_with('#') && !line.contains("path = "));
    lines.filter_map(|line| Some(line.split_once(" = ")?.0)).collect()
}

/// Returns the cells of each row of the table below a heading of the document.
fn table(heading: &str) -> Vec<Vec<&'static str>> {
    let section = DOCUMENT.split("\n## ").find_map(|section| section.strip_prefix(heading)).unwrap();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    let cells = |row: &'static str| row.split(" | ").map(|cell| cell.trim_matches('`')).collect();
    rows.skip(2).map(cells).collect()
}

/// Returns the Rust files below a directory.
fn sources(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let of = |path: PathBuf| match path.is_dir() {
        true if path.ends_with("target") => Vec::new(),
        true => sources(&path),
        false if path.extension().is_some_and(|extension| extension == "rs") => vec![path],
        false => Vec::new(),
    };
    entries.flat_map(of).collect()
}

/// Returns the path, from the root of the package, and the text of each Rust file below
/// `directory`.
fn own_sources(directory: &str) -> Vec<(String, String)> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let own = sources(&here.join(directory)).into_iter().map(|path| {
        let name = path.strip_prefix(here).unwrap().to_str().unwrap().to_owned();
        (name, fs::read_to_string(path).unwrap())
    });
    own.collect()
}

#[test]
fn every_dependency_has_a_reason() {
    let of_program =
        ["dependencies]", "target.'cfg(unix)'.dependencies]", "target.'cfg(windows)'.dependencies]"];
    let of_program: BTreeSet<_> = of_program.into_iter().flat_map(direct).collect();
    let program = table("Of the program");
    assert_eq!(program.iter().map(|row| row[0]).collect::<BTreeSet<_>>(), of_program);
    assert!(program.iter().all(|row| row[1].len() > 10));
    let of_tests: BTreeSet<_> = direct("dev-dependencies]").difference(&of_program).copied().collect();
    let tests = table("Of tests and benches");
    assert_eq!(tests.iter().map(|row| row[0]).collect::<BTreeSet<_>>(), of_tests);
    assert!(tests.iter().all(|row| row[1].len() > 10));
    // No other section asks for packages.
    let sections = MANIFESTS[0].lines().filter(|line| line.starts_with('[') && line.contains("dependencies"));
    assert_eq!(
        sections.collect::<Vec<_>>(),
        [
            "[dependencies]",
            "[target.'cfg(unix)'.dependencies]",
            "[target.'cfg(windows)'.dependencies]",
            "[dev-dependencies]",
            "[target.'cfg(windows)'.dev-dependencies]"
        ]
    );
}

#[test]
fn unsafe_code_is_only_where_it_is_allowed() {
    // Because of this lint, every place with `unsafe` code must name the lint.
    let lints = MANIFESTS[0].split("[workspace.lints.rust]\n").nth(1).unwrap();
    assert!(lints.lines().take_while(|line| !line.is_empty()).any(|line| line == "unsafe_code = \"deny\""));
    let lint = ["unsafe", "code"].join("_");
    let mut places = BTreeSet::new();
    for directory in ["src", "crates", "tests", "benches", "fuzz"] {
        for (name, text) in own_sources(directory) {
            // The manifest of the fuzzers has no such lint.
            let word = if directory == "fuzz" { "unsafe" } else { &lint };
            if text.contains(word) && !name.ends_with("tests/all/supply.rs") {
                places.insert(name);
            }
        }
    }
    assert!(!places.is_empty());
    for place in places {
        assert!(UNSAFE.iter().any(|allowed| place.starts_with(allowed)), "{place}");
    }
}

#[test]
fn the_readme_names_the_oldest_rust() {
    assert!(README.contains(&format!("Rust {} or later", env!("CARGO_PKG_RUST_VERSION"))));
}
