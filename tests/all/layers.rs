//! The layers of the sources: each module uses only modules of lower layers, and no file reaches
//! itself again through what it imports.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;

/// The modules of each layer, the lowest first. Neighbors do not know each other.
const LAYERS: [&[&str]; 9] = [
    &["escape", "notice", "sys", "words"],
    &["key"],
    &["agent", "gpu", "store"],
    &["engine"],
    &["search"],
    &["ledger", "plan"],
    &["job"],
    &["cli", "report"],
    &["main"],
];

fn src() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// Returns the code of each file, by its path below `src`: without tests, comments, the root of the
/// library, and modules that are only for tests.
fn files() -> BTreeMap<String, String> {
    let for_tests = Regex::new(r"(?m)^#\[cfg\(test\)\]\n(?:pub\(crate\) )?mod (\w+);").unwrap();
    let mut files = BTreeMap::new();
    let mut only_for_tests = Vec::new();
    let mut directories = vec![src()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            // Windows separates by `\`.
            let name = path.strip_prefix(src()).unwrap().to_str().unwrap().replace('\\', "/");
            if path.is_dir() {
                directories.push(path);
            } else if name.ends_with(".rs") && !name.ends_with("tests.rs") && name != "lib.rs" {
                let text = fs::read_to_string(path).unwrap();
                let folder = name.trim_end_matches("mod.rs").trim_end_matches(".rs").trim_end_matches('/');
                only_for_tests
                    .extend(for_tests.captures_iter(&text).map(|found| format!("{folder}/{}", &found[1])));
                files.insert(name, code(&text));
            }
        }
    }
    files.retain(|name, _| {
        let is_of = |module: &String| {
            name.strip_prefix(module).is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
        };
        !only_for_tests.iter().any(is_of)
    });
    files
}

/// Returns what is compiled outside tests, without comments.
pub fn code(text: &str) -> String {
    let mut lines = Vec::new();
    let mut is_test = false;
    for line in text.lines() {
        is_test |= ["#[cfg(test)]", "#[cfg(all(test"].iter().any(|mark| line.starts_with(mark));
        if !is_test && !line.trim_start().starts_with("//") {
            lines.push(line);
        }
        // The item ends with a line that is not indented.
        is_test &= line != "}" && (line.starts_with(' ') || !line.ends_with(';'));
    }
    lines.join("\n")
}

/// Returns whether a place after this code is in an inline module.
fn is_inner(before: &str) -> bool {
    let is_item = |line: &&str| !line.is_empty() && !line.starts_with([' ', '}', '#']);
    before.lines().rev().find(is_item).is_some_and(|line| line.ends_with('{') && line.contains("mod "))
}

/// Returns the module of a file: `pattern::syntax` of `pattern/syntax/mod.rs`.
fn module(file: &str) -> Vec<String> {
    let path = file.trim_end_matches(".rs").trim_end_matches("/mod");
    path.split('/').map(str::to_owned).collect()
}

/// Returns the paths that code names, from the root of the library. Braces are multiplied out.
fn paths(file: &str, code: &str) -> BTreeSet<Vec<String>> {
    let start = Regex::new(r"\b(crate|vanity_ed25519|super)((?:::super)*)::").unwrap();
    let mut paths = BTreeSet::new();
    for found in start.captures_iter(code) {
        let mut base = Vec::new();
        let at = found.get(0).unwrap().start();
        // `$crate` in a macro is a path of the files that use the macro.
        if code[..at].ends_with('$') {
            continue;
        }
        if &found[1] == "super" {
            base = module(file);
            // In an inline module, `super` is the file itself.
            let inner = usize::from(is_inner(&code[..at]));
            (inner..=found[2].matches("super").count()).for_each(|_| drop(base.pop()));
        }
        let rest = &code[found.get(0).unwrap().end()..];
        expand(&base, rest, &mut paths);
    }
    paths
}

/// Adds the paths that begin with `base` and go on in `rest`, as far as they are names of modules.
fn expand(base: &[String], rest: &str, paths: &mut BTreeSet<Vec<String>>) {
    let name = Regex::new(r"^\s*([a-z_0-9]+)\s*(::)?").unwrap();
    if let Some(inner) = rest.strip_prefix('{') {
        let mut depth = 1;
        let mut from = 0;
        for (at, char) in inner.char_indices() {
            match char {
                '{' => depth += 1,
                '}' => depth -= 1,
                _ => {}
            }
            if depth == 0 || depth == 1 && char == ',' {
                let part = inner[from..at].trim();
                // Nothing follows the last comma.
                if !part.is_empty() {
                    expand(base, part, paths);
                }
                from = at + 1;
            }
            if depth == 0 {
                break;
            }
        }
        return;
    }
    match name.captures(rest) {
        Some(found) if found.get(2).is_some() => {
            let mut longer = base.to_vec();
            longer.push(found[1].to_owned());
            expand(&longer, &rest[found.get(0).unwrap().end()..], paths);
        }
        // A function, a type, or a module at the end.
        Some(found) => drop(paths.insert([base, &[found[1].to_owned()]].concat())),
        None => drop(paths.insert(base.to_vec())),
    }
}

/// Returns the file that a path leads to: that of the longest module in it.
fn file_of(path: &[String], files: &BTreeMap<String, String>) -> Option<String> {
    (1..=path.len()).rev().find_map(|len| {
        let name = path[..len].join("/");
        [format!("{name}.rs"), format!("{name}/mod.rs")].into_iter().find(|name| files.contains_key(name))
    })
}

/// What the root of the library takes from packages.
const PACKAGES: [&str; 3] = ["escape", "pattern", "wire"];

/// Returns the files that each file imports from.
fn imports() -> BTreeMap<String, BTreeSet<String>> {
    let files = files();
    let of = |(file, code): (&String, &String)| {
        let imported = paths(file, code)
            .into_iter()
            .filter(|path| !path.first().is_some_and(|module| PACKAGES.contains(&module.as_str())))
            .map(|path| file_of(&path, &files).unwrap_or_else(|| panic!("{file}: {path:?} is in no file")));
        (file.clone(), imported.filter(|other| other != file).collect())
    };
    files.iter().map(of).collect()
}

/// Returns the module at the root that a file belongs to.
fn root_of(file: &str) -> &str {
    file.split('/').next().unwrap().trim_end_matches(".rs")
}

#[test]
fn every_form_of_an_import_is_seen() {
    let text = "use crate::a::{b::{C, d}, e::*, self};\nuse crate::{\n    n::O,\n};\n\
                #[cfg(test)]\nmod tests {\n    use crate::unseen;\n}\n\
                pub use crate::f as g;\n\
                mod inner {\n    use super::super::h;\n}\n\
                fn i() {\n    use super::j::K;\n    crate::l::m();\n}\n";
    let seen: Vec<_> = paths("folder/file.rs", &code(text)).iter().map(|path| path.join("::")).collect();
    assert_eq!(seen, ["a::b", "a::b::d", "a::e", "a::self", "f", "folder::h", "folder::j", "l::m", "n"]);
}

#[test]
fn a_module_uses_only_modules_of_lower_layers() {
    let layer = |module: &str| LAYERS.iter().position(|modules| modules.contains(&module));
    let mut wrong = Vec::new();
    let mut arrows = 0;
    for (file, imported) in imports() {
        let from = layer(root_of(&file)).unwrap_or_else(|| panic!("{file} is in no layer"));
        for other in imported.iter().filter(|other| root_of(other) != root_of(&file)) {
            arrows += 1;
            if layer(root_of(other)).unwrap() >= from {
                wrong.push(format!("{file} uses {other}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(arrows > 150, "only {arrows} imports were seen");
}

/// Returns the files that a file imports, and those that these import, and so on.
fn reached(file: &str, imports: &BTreeMap<String, BTreeSet<String>>) -> BTreeSet<String> {
    let mut reached = BTreeSet::new();
    let mut next: Vec<&String> = imports[file].iter().collect();
    while let Some(file) = next.pop() {
        if reached.insert(file.clone()) {
            next.extend(&imports[file]);
        }
    }
    reached
}

#[test]
fn no_file_imports_itself_through_others() {
    let mut imports = imports();
    // A `mod.rs` exports items of its files.
    for file in files().keys().filter(|file| file.ends_with("/mod.rs")) {
        let folder = file.trim_end_matches("mod.rs");
        let of_folder = |other: &&String| {
            let rest = other.strip_prefix(folder).unwrap_or("mod.rs");
            rest != "mod.rs"
                && (!rest.contains('/') || rest.ends_with("/mod.rs") && rest.matches('/').count() == 1)
        };
        let files: Vec<String> = imports.keys().filter(of_folder).cloned().collect();
        imports.get_mut(file).unwrap().extend(files);
    }
    let circles: Vec<&String> =
        imports.keys().filter(|file| reached(file, &imports).contains(*file)).collect();
    let among = |file: &&String| {
        let others = imports[*file].iter().filter(|other| circles.contains(other));
        format!("{file} uses {}", others.cloned().collect::<Vec<_>>().join(", "))
    };
    assert!(circles.is_empty(), "circles: {:#?}", circles.iter().map(among).collect::<Vec<_>>());
}
