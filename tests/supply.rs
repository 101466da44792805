//! What the program is made of is what `docs/dependencies.md` says, and `unsafe` stands where it may.
//!
//! `SNAPSHOTS=overwrite` writes the list of all packages, to be read before it is kept.

#![cfg(unix)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::require;
use serde_json::Value;

/// What may have `unsafe`: the room of the vectors, that of the graphics processors' foreign calls, and what tells Valgrind of a seed.
const UNSAFE: [&str; 3] = ["src/gpu", "src/simd", "examples/constant_time.rs"];

const DOCUMENT: &str = include_str!("../docs/dependencies.md");
const PACKAGES: &str = include_str!("../docs/dependencies.txt");
const LOCK: &str = include_str!("../Cargo.lock");
const README: &str = include_str!("../README.md");

/// What cargo knows of the packages that are there without a network.
fn metadata(options: &[&str]) -> Option<Value> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .args(["metadata", "--offline", "--locked", "--all-features", "--format-version", "1"])
        .args(options);
    let output = cargo.current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap();
    output.status.success().then(|| serde_json::from_slice(&output.stdout).unwrap())
}

/// Those for all systems, or else those for this one, which were needed to compile this.
fn packages() -> Vec<Value> {
    let all = metadata(&[]).unwrap_or_else(|| {
        // `cargo fetch --locked` gets them.
        require::missing("packages-for-all-systems");
        let version = Command::new("rustc").arg("-vV").output().unwrap().stdout;
        let version = String::from_utf8(version).unwrap();
        let host = version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
        metadata(&["--filter-platform", host]).unwrap()
    });
    let ours = |package: &Value| package["name"] == env!("CARGO_PKG_NAME");
    all["packages"].as_array().unwrap().iter().filter(|package| !ours(package)).cloned().collect()
}

/// What the manifest asks for: names by kind.
fn direct(kind: &Value) -> BTreeSet<String> {
    let ours = &metadata(&["--no-deps"]).unwrap()["packages"][0];
    let of_kind = ours["dependencies"].as_array().unwrap().iter().filter(|one| one["kind"] == *kind);
    of_kind.map(|one| one["name"].as_str().unwrap().to_owned()).collect()
}

/// The cells of the rows of the table below a heading of the document.
fn table(heading: &str) -> Vec<Vec<&'static str>> {
    let section = DOCUMENT.split("\n## ").find_map(|section| section.strip_prefix(heading)).unwrap();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    let cells = |row: &'static str| row.split(" | ").map(|cell| cell.trim_matches('`')).collect();
    rows.skip(2).map(cells).collect()
}

/// The files with Rust below a directory.
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

/// Where the package's own sources are, and each of them relative to that.
fn own_sources(directory: &str) -> Vec<(String, String)> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let own = sources(&here.join(directory)).into_iter().map(|path| {
        let name = path.strip_prefix(here).unwrap().to_str().unwrap().to_owned();
        (name, fs::read_to_string(path).unwrap())
    });
    own.collect()
}

/// The rooms whose code, but for tests, names a package.
fn rooms(package: &str) -> String {
    let path = format!("{}::", package.replace('-', "_"));
    let names_it = |text: &str| {
        let code =
            text.split("#[cfg(test)]").next().unwrap().lines().map(|line| line.split("//").next().unwrap());
        code.flat_map(|line| line.match_indices(&path).map(move |(at, _)| line[..at].chars().next_back()))
            .any(|before| before.is_none_or(|c| !c.is_alphanumeric() && c != '_' && c != ':'))
    };
    let own = own_sources("src");
    let using = own.iter().filter(|(name, text)| !name.ends_with("tests.rs") && names_it(text));
    let room = |name: &str| name.split('/').nth(1).unwrap().trim_end_matches(".rs").to_owned();
    using.map(|(name, _)| room(name)).collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join(", ")
}

#[test]
fn every_package_that_is_asked_for_has_its_reason() {
    let licences: BTreeMap<String, String> = packages()
        .iter()
        .map(|package| [&package["name"], &package["license"]].map(|text| text.as_str().unwrap().to_owned()))
        .map(|[name, licence]| (name, licence))
        .collect();
    let program = table("Of the program");
    let names: BTreeSet<String> = program.iter().map(|row| row[0].to_owned()).collect();
    assert_eq!(names, direct(&Value::Null));
    for row in &program {
        let [name, licence, used, why] = row[..] else { panic!("{row:?}") };
        assert_eq!(licence, licences[name], "{name}");
        assert_eq!(used, rooms(name), "{name}");
        assert!(why.len() > 10, "{name}");
    }
    let tests = table("Of tests and benches");
    let names: BTreeSet<String> = tests.iter().map(|row| row[0].to_owned()).collect();
    assert_eq!(names, direct(&"dev".into()).difference(&direct(&Value::Null)).cloned().collect());
    assert!(tests.iter().all(|row| row[1] == licences[row[0]] && row[2].len() > 10));
    assert_eq!(direct(&"build".into()), BTreeSet::new());
}

/// A package of the lock file, and what it needs: names, with versions where several are locked.
struct Locked {
    name: &'static str,
    version: &'static str,
    needs: Vec<&'static str>,
}

fn locked() -> Vec<Locked> {
    let field = |block: &'static str, name: &str| {
        let line = block.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        line.trim_start_matches(" = ").trim_matches('"')
    };
    let package = |block: &'static str| Locked {
        name: field(block, "name"),
        version: field(block, "version"),
        needs: block.lines().filter_map(|line| line.strip_prefix(" \"")?.strip_suffix("\",")).collect(),
    };
    LOCK.split("\n[[package]]\n").skip(1).map(package).collect()
}

/// Names of more than one locked version, with these.
fn several() -> BTreeMap<&'static str, Vec<&'static str>> {
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    locked().iter().for_each(|package| versions.entry(package.name).or_default().push(package.version));
    versions.retain(|_, versions| versions.len() > 1);
    versions
}

impl Locked {
    /// As the others name it.
    fn called(&self) -> String {
        if several().contains_key(self.name) {
            format!("{} {}", self.name, self.version)
        } else {
            self.name.to_owned()
        }
    }
}

#[test]
fn every_package_is_listed_with_its_licence_and_with_what_needs_it() {
    let mut licences: BTreeMap<String, String> = BTreeMap::new();
    // What is not here, because it is for another system, is believed.
    for line in PACKAGES.lines().filter(|line| line.contains("; ")) {
        let mut parts = line.split("; ");
        licences.insert(parts.next().unwrap().to_owned(), parts.next().unwrap().to_owned());
    }
    let locked = locked();
    for package in packages() {
        let [name, version, licence] =
            ["name", "version", "license"].map(|field| package[field].as_str().unwrap());
        let package = locked.iter().find(|locked| locked.name == name && locked.version == version).unwrap();
        licences.insert(package.called(), licence.to_owned());
    }
    // Whatever the program's own packages need, features that only tests switch on among it.
    let mut of_program = direct(&Value::Null);
    loop {
        let of_it = locked.iter().filter(|package| of_program.contains(&package.called()));
        let more: Vec<String> =
            of_it.flat_map(|package| &package.needs).map(|&name| name.to_owned()).collect();
        let before = of_program.len();
        of_program.extend(more);
        if of_program.len() == before {
            break;
        }
    }
    let list = |wanted: bool| -> String {
        let some = locked.iter().filter(|package| package.name != env!("CARGO_PKG_NAME"));
        let some = some.filter(|package| of_program.contains(&package.called()) == wanted);
        let line = |package: &Locked| {
            let called = package.called();
            let by = locked.iter().filter(|other| other.needs.contains(&&*called));
            let by: Vec<String> = by.map(Locked::called).collect();
            let licence = licences.get(&called).map_or("?", |licence| licence);
            format!("{called}; {licence}; for {}\n", by.join(", "))
        };
        some.map(line).collect()
    };
    let text = format!(
        "The program, on some system at least:\n\n{}\nTests and benches beside it:\n\n{}",
        list(true),
        list(false)
    );
    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/dependencies.txt");
    snapbox::assert_data_eq!(text, snapbox::Data::read_from(&list, None).raw());
}

#[test]
fn every_licence_is_compatible() {
    let used: BTreeSet<&str> = PACKAGES.lines().filter_map(|line| line.split("; ").nth(1)).collect();
    let listed: BTreeSet<&str> = table("Licences").iter().map(|row| row[0]).collect();
    assert_eq!(used, listed);
}

#[test]
fn every_package_of_several_versions_has_its_reason() {
    let listed = table("Several versions").iter().map(|row| (row[0], row[1].to_owned())).collect();
    let locked: BTreeMap<&str, String> =
        several().into_iter().map(|(name, versions)| (name, versions.join(", "))).collect();
    assert_eq!(locked, listed);
}

#[test]
fn unsafe_code_stands_where_it_may() {
    // Without this lint the compiler would take it anywhere; with it, every place has to name the lint.
    let manifest = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml")).unwrap();
    let lints = manifest.split("[lints.rust]\n").nth(1).unwrap();
    assert!(lints.lines().take_while(|line| !line.is_empty()).any(|line| line == "unsafe_code = \"deny\""));
    let lint = ["unsafe", "code"].join("_");
    let mut places = BTreeSet::new();
    for directory in ["src", "tests", "benches", "examples", "fuzz"] {
        for (name, text) in own_sources(directory) {
            // The manifest of the fuzzers has no such lint.
            let word = if directory == "fuzz" { "unsafe" } else { &lint };
            if text.contains(word) && !name.ends_with("tests/supply.rs") {
                places.insert(name);
            }
        }
    }
    assert!(!places.is_empty());
    for place in places {
        assert!(UNSAFE.iter().any(|room| place.starts_with(room)), "{place}");
    }
}

#[test]
fn no_package_needs_a_newer_rust_than_is_stated() {
    let version = |text: &str| -> Vec<u32> {
        let parts = text.split('.').take(2);
        parts.map(|part| part.parse().unwrap()).collect()
    };
    let stated = env!("CARGO_PKG_RUST_VERSION");
    for package in packages() {
        let needed = package["rust_version"].as_str().unwrap_or("1.0");
        assert!(version(needed) <= version(stated), "{}: {needed}", package["name"]);
    }
    assert!(README.contains(&format!("Rust {stated} or later")));
}
