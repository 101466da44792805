//! Everything that `--json` prints obeys the published schema, and the schema refuses everything
//! else.

#![cfg(unix)]

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use crate::ssh_agent::imitate;
use crate::{documents, program, require};
use program::{NEVER, at_once, check_secret, objects, program, run, text};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;
use vanity_search::engine::{Listed, list};

const SCHEMA: &str = include_str!("../../docs/vanity-ed25519.schema.json");

fn schema() -> Value {
    serde_json::from_str(SCHEMA).unwrap()
}

/// Checks the schema itself. Then prints for each object why the schema refuses it, or null.
const VALIDATE: &str = "
import json, sys
from jsonschema import Draft202012Validator
schema, objects = json.load(sys.stdin)
Draft202012Validator.check_schema(schema)
validator = Draft202012Validator(schema)
faults = (next(validator.iter_errors(object), None) for object in objects)
print(json.dumps([fault and fault.message for fault in faults]))
";

/// The Python that has the package jsonschema.
static PYTHON: LazyLock<Option<&str>> = LazyLock::new(|| {
    ["/usr/bin/python3", "python3"].into_iter().find(|python| {
        let mut has_package = Command::new(python);
        has_package.args(["-c", "import jsonschema"]).stderr(Stdio::null());
        has_package.status().is_ok_and(|status| status.success())
    })
});

/// Checks that objects obey the schema.
pub fn validate(objects: &[Value]) {
    judge(objects, &[]);
}

/// Checks that the schema accepts the objects `right` and refuses the objects `wrong`, which come with
/// what is wrong with them.
fn judge(right: &[Value], wrong: &[(Value, String)]) {
    let Some(python) = *PYTHON else {
        require::missing("python3-jsonschema");
        return;
    };
    let objects: Vec<&Value> = right.iter().chain(wrong.iter().map(|(object, _)| object)).collect();
    let mut validator = Command::new(python);
    validator.args(["-c", VALIDATE]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut validator = program::start(&mut validator);
    serde_json::to_writer(validator.stdin.take().unwrap(), &json!([schema(), objects])).unwrap();
    let ran = validator.end();
    assert_eq!(ran.status, Some(0));
    let faults: Vec<Option<String>> = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(faults.len(), objects.len());
    let (accepted, refused) = faults.split_at(right.len());
    for (object, fault) in right.iter().zip(accepted) {
        assert_eq!(*fault, None, "{object}");
    }
    for ((object, how), fault) in wrong.iter().zip(refused) {
        assert!(fault.is_some(), "{how}: {object}");
    }
}

/// Returns the fields of each type of object.
fn fields(schema: &Value) -> BTreeMap<String, BTreeSet<String>> {
    let types = schema["oneOf"].as_array().unwrap().iter().map(|one| {
        let name = one["$ref"].as_str().unwrap().strip_prefix("#/$defs/").unwrap();
        let properties = schema["$defs"][name]["properties"].as_object().unwrap();
        (name.to_owned(), properties.keys().cloned().collect())
    });
    types.collect()
}

/// Runs the program, which must end with `status`. Returns the objects that it printed.
fn printed(args: &[&str], status: i32) -> Vec<Value> {
    let ran = run(&mut program(args));
    assert_eq!(ran.status, Some(status), "{args:?}: {ran:?}");
    objects(&ran.stdout)
}

/// Returns the objects that a search prints if a signal ends it. It comes after the estimate, or while
/// a key is encrypted, which has no estimate before its end.
fn interrupted(args: &[&str], is_encrypting: bool) -> Vec<Value> {
    let mut child = program::start(program(&["--json", "-q"]).args(args).stdout(Stdio::piped()));
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut lines = String::new();
    if is_encrypting {
        program::wait_for_encryption(child.id());
    } else {
        stdout.read_line(&mut lines).unwrap();
    }
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    stdout.read_to_string(&mut lines).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(143), "{lines}");
    objects(&lines)
}

/// The objects of runs of every kind.
static EVERY_OBJECT: LazyLock<Vec<Value>> = LazyLock::new(every_object);

fn every_object() -> Vec<Value> {
    let directory = TempDir::new().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    // The least likely pattern of all is made of this. Another pattern, `.*`, is certain.
    let whole = "abcdefghijklmnopqrstuvwxyz0123456789+/abcdA";
    fs::write(path("passphrase"), "two words\n").unwrap();
    let runs: &[(&[&str], i32)] = &[
        (&["--json", "ab"], 0),
        (&["--json", "-n", "3", "-t", "2", "ab", "+a"], 0),
        (&["--json", "--any", "-n", "2", "--format", "openssh", "ab", "+a"], 0),
        (&["--json", "-C", "", "ab", "-o", &path("id_x")], 0),
        (&["--json", "-C", "a ö", "ab", "-o", &path("key.pem")], 0),
        (&["--json", "--format", "ppk", "ab"], 0),
        (&["--json", "-n", "2", "ab", "+a", "-d", &path("keys")], 0),
        (&["--json", "--passphrase-file", &path("passphrase"), "ab"], 0),
        (
            &[
                "--json",
                "--rounds",
                "1",
                "--passphrase-file",
                &path("passphrase"),
                "--format",
                "openssh",
                "ab",
            ],
            0,
        ),
        (&["--json", "--in", "fingerprint", "ab"], 0),
        (&["--json", "--host-key=bob", "-d", &path("host"), "ab"], 0),
        (&["--json", "--regex", "^[AB].*c", "--engine", "reference"], 0),
        (&["--json", "--timeout", "200ms", NEVER], 3),
        (&["--json", "--timeout", "200ms", "ab", NEVER, "-d", &path("keys")], 3),
        (&["--json", "--estimate", "-t", "1", "ab"], 0),
        (&["--json", "--estimate", "-t", "1", "--regex", ".*"], 0),
        (&["--json", "--estimate", "-t", "1", "--prefix", "-s", "Alice"], 0),
        (&["--json", "--estimate", "-t", "1", "--within", "1s", NEVER], 0),
        (&["--json", "--estimate", "-t", "1", "--within", "1h", "ab", NEVER], 0),
        (&["--json", "--estimate", "-t", "1", "-s", "--regex", &format!("^B{}$", &whole[1..])], 0),
        (&["--json", "--estimate", "-t", "1", "ab", "cd", NEVER], 0),
        (&["--json", "--estimate", "-t", "1", "-n", "2", "ab", "cd"], 0),
        (&["--json", "--bench", "0.1", "-t", "2", "--engine", "portable", "--table-memory", "16KiB"], 0),
    ];
    let of_run = |(number, (args, status)): (usize, &(&[&str], i32))| {
        // The other engines take long to find their tables.
        let names_engine = number < 2 || args.contains(&"--engine");
        let engine: &[&str] = if names_engine { &[] } else { &["--engine", "reference"] };
        printed(&[engine, args].concat(), *status)
    };
    let mut all = at_once(runs.iter().enumerate(), of_run).concat();
    // One small table is found at once.
    let soon = ["--engine", "portable", "--table-memory", "16KiB", "-t", "1"];
    all.extend(interrupted(&[&soon[..], &["--however-long", NEVER]].concat(), false));
    // The encryption takes minutes. Its key is given up. Only Linux shows when it begins.
    let secret = path("passphrase");
    let args = ["--rounds", "10000", "--passphrase-file", &secret, "ab", "-o", &path("id_z")];
    if cfg!(target_os = "linux") {
        all.extend(interrupted(&args, true));
    }
    imitate(&directory.path().join("agent"), |_, _| None);
    for args in [&["--json", "--agent", "ab"][..], &["--json", "--agent", "ab", "-o", &path("id_a")]] {
        let ran = run(program(args).env("SSH_AUTH_SOCK", path("agent")));
        assert_eq!(ran.status, Some(0), "{ran:?}");
        all.extend(objects(&ran.stdout));
    }
    let with_progress = [&[NEVER, "bcdefghijabcdefghija"][..], &["-n", "3", NEVER]].map(|patterns| {
        let mut search = program(&["-q", "-t", "1", "--progress", "json", "--timeout", "2s"]);
        program::start(search.args(patterns).stdout(Stdio::piped()).stderr(Stdio::piped()))
    });
    for ran in with_progress.map(program::Running::end) {
        assert_eq!((ran.status, ran.stdout.as_str()), (Some(3), ""), "{ran:?}");
        all.extend(objects(&ran.stderr));
    }
    all
}

/// Some run prints each field of the schema, so the schema promises no field that does not exist.
#[test]
fn every_object_of_every_run_obeys_the_schema() {
    validate(&EVERY_OBJECT);
    let (mut seen, mut reasons) = (BTreeMap::<_, BTreeSet<_>>::new(), BTreeSet::new());
    for object in &*EVERY_OBJECT {
        let names = object.as_object().unwrap().keys().cloned();
        seen.entry(text(object, "type").to_owned()).or_default().extend(names);
        reasons.extend(object.get("reason").map(Value::to_string));
    }
    assert_eq!(seen, fields(&schema()));
    assert_eq!(Vec::from_iter(reasons), ["\"complete\"", "\"signal\"", "\"timeout\""]);
}

/// The schema refuses an object with a field too few, a field too many, or a wrong value in a
/// field.
#[test]
fn an_object_that_is_changed_anywhere_is_refused() {
    let (mut right, mut wrong) = (Vec::new(), Vec::new());
    let mut refused = |object: Value, how: String| wrong.push((object, how));
    // One object of each set of fields is enough. The values that a field can have depend on the
    // type of the object, and not on its other fields.
    let (mut shapes, mut tried) = (BTreeSet::new(), HashSet::new());
    for object in &*EVERY_OBJECT {
        let fields: Vec<String> = object.as_object().unwrap().keys().cloned().collect();
        if !shapes.insert((text(object, "type"), fields)) {
            continue;
        }
        right.push(object.clone());
        let changed = |name: &str, value: Value| {
            let mut object = object.clone();
            object[name] = value;
            object
        };
        refused(changed("more", json!(1)), "a field more".to_owned());
        for other in ["estimate", "found", "summary", "bench", "progress"] {
            if object["type"] != other {
                refused(changed("type", other.into()), "another type".to_owned());
            }
        }
        for (name, value) in object.as_object().unwrap() {
            let mut less = object.clone();
            less.as_object_mut().unwrap().remove(name);
            // A key in files need not be in the agent. A search has no suggestions, only several
            // patterns have a least likely one, and some engines have nothing to choose.
            let can_miss = ["suggestions", "last_chance_max", "tuning", "keys_per_second_one_thread"];
            let in_files = name == "agent" && object.get("private_key_file").is_some();
            if !in_files && !can_miss.contains(&name.as_str()) {
                refused(less, format!("no {name}"));
            }
            if !tried.insert((text(object, "type"), name, std::mem::discriminant(value))) {
                continue;
            }
            for wrong in [json!(null), json!(true), json!(-1), json!([]), json!({}), json!("")] {
                // These values are right, too.
                let can_be_empty = ["given_up", "suggestions", "devices"].contains(&name.as_str());
                if value.is_boolean() && wrong.is_boolean() || can_be_empty && wrong == json!([]) {
                    continue;
                }
                let how = format!("{name} is {wrong}");
                refused(changed(name, wrong), how);
            }
            if value.is_number() {
                refused(changed(name, value.to_string().into()), format!("{name} is text"));
            } else {
                refused(changed(name, json!(1.5)), format!("{name} is a number"));
            }
            if value.is_u64() && name != "threads" {
                for number in [json!((1_u64 << 53)), json!(u64::MAX), json!(0.5), json!("12"), json!("1e20")]
                {
                    let how = format!("{name} is {number}");
                    refused(changed(name, number), how);
                }
                right.push(changed(name, json!(u64::MAX.to_string())));
            }
        }
    }
    judge(&right, &wrong);
}

/// An object that names a file has no secret, and the schema allows none there.
#[test]
fn a_secret_is_printed_only_without_a_file() {
    let directory = TempDir::new().unwrap();
    let private = directory.path().join("id_x");
    let ran = run(program(&["--json", "ab", "-o"]).arg(&private));
    check_secret(&ran, &fs::read_to_string(&private).unwrap());
    let in_file = objects(&ran.stdout).remove(1);
    let on_stdout = printed(&["--json", "ab"], 0).remove(1);
    assert!(in_file.get("private_key").is_none());
    let both = |object: &Value, field: &str, other: &Value| {
        let mut both = object.clone();
        both[field] = other[field].clone();
        (both, format!("with {field}"))
    };
    let wrong = [
        both(&in_file, "private_key", &on_stdout),
        both(&on_stdout, "private_key_file", &in_file),
        both(&on_stdout, "public_key_file", &in_file),
    ];
    judge(&[in_file, on_stdout], &wrong);
}

#[test]
fn the_schema_describes_every_field() {
    let schema = schema();
    for (name, definition) in schema["$defs"].as_object().unwrap() {
        assert!(definition["description"].is_string(), "{name}");
        if let Some(properties) = definition.get("properties") {
            assert_eq!(definition["additionalProperties"], false, "{name}");
            for (field, property) in properties.as_object().unwrap() {
                assert!(property["description"].is_string(), "{name}.{field}");
            }
        }
    }
    let engines: Vec<&str> = schema["$defs"]["engine"]["enum"]
        .as_array()
        .unwrap()
        .iter()
        .map(|name| name.as_str().unwrap())
        .collect();
    let mut expected: Vec<&str> = list().map(Listed::name).collect();
    // `auto` may combine several engines into this one.
    expected.insert(1, vanity_search::engine::HYBRID);
    assert_eq!(engines, expected);
    let most = vanity_search::search::MAX_THREADS;
    assert_eq!(schema["$defs"]["threads"]["maximum"], most);
}

/// Returns the words in backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// The table in docs/reference.md names the fields that the schema has.
#[test]
fn the_document_names_the_same_fields() {
    let document = documents::read("docs/reference.md");
    let (_, section) = document.split_once("\n### Fields\n").unwrap();
    let (section, _) = section.split_once("\n### ").unwrap();
    let mut documented: BTreeMap<String, (BTreeSet<&str>, BTreeSet<&str>)> = BTreeMap::new();
    let mut object = String::new();
    for row in section.lines().filter(|line| line.starts_with('|')).skip(2) {
        let cells: Vec<&str> = row.split(" | ").collect();
        if let Some(name) = quoted(cells[0]).next() {
            name.clone_into(&mut object);
        } else if cells[0].contains("all") {
            continue;
        }
        let (heads, words) = documented.entry(object.clone()).or_default();
        heads.extend(quoted(cells[1]));
        words.extend(quoted(row));
    }
    let fields = fields(&schema());
    assert_eq!(documented.keys().collect::<Vec<_>>(), fields.keys().collect::<Vec<_>>());
    for (object, (heads, words)) in &documented {
        let fields: BTreeSet<&str> =
            fields[object].iter().map(String::as_str).filter(|field| *field != "type").collect();
        assert!(heads.is_subset(&fields), "{object}: {heads:?}");
        assert!(fields.is_subset(words), "{object}: {words:?}");
    }
}
