//! Tests of the GPU engine as people use it: on any device, on a machine without one, and in a
//! program built without it.

#![cfg(unix)]

use crate::program::{program, run};

#[cfg(not(feature = "gpu"))]
#[test]
fn a_program_without_the_gpu_engine_says_so() {
    let ran = run(&mut program(&["--engine", "gpu", "abc"]));
    assert_eq!(ran.status, Some(2));
    let expected = "error: the engine 'gpu' cannot run here: this program was built without it; build it with `--features gpu`\n";
    assert!(ran.stderr.starts_with(expected), "{}", ran.stderr);
    let ran = run(&mut program(&["--gpu-device", "list"]));
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(2), ""));
    assert!(ran.stderr.starts_with(expected), "{}", ran.stderr);
}

#[test]
fn a_device_must_be_a_number() {
    for typed in ["x", "-1", "64", "0,", ""] {
        let ran = run(&mut program(&["--gpu-device", typed, "abc"]));
        let expected = format!(
            "error: --gpu-device must be a number from 0 to 63, or several separated by commas, not '{typed}'\n\
             hint: without --gpu-device, all GPUs are used; --gpu-device list prints them\n"
        );
        assert_eq!((ran.status, ran.stderr), (Some(2), expected));
    }
}

#[test]
fn a_load_must_be_a_percentage() {
    for typed in ["x", "9%", "101", "50 %", "-50%", ""] {
        let ran = run(&mut program(&["--gpu-load", typed, "abc"]));
        let expected = format!("error: --gpu-load must be a percentage from 10% to 100%, not '{typed}'\n");
        assert_eq!(ran.status, Some(2));
        assert!(ran.stderr.starts_with(&expected), "{}", ran.stderr);
    }
    if cfg!(not(feature = "gpu")) {
        let ran = run(&mut program(&["--gpu-load", "50%", "abc"]));
        assert_eq!(ran.status, Some(2));
        assert!(ran.stderr.starts_with("error: the engine 'gpu' cannot run here: "), "{}", ran.stderr);
    }
}

#[cfg(feature = "gpu")]
mod with_devices {
    use std::process::Stdio;
    use std::time::{Duration, Instant};

    use rustix::process::{Pid, Signal, kill_process};
    use tempfile::TempDir;

    use crate::program::{self, check_pair, objects, of_type, run, succeed, text, whole};
    use crate::require;

    /// Returns whether there is a device. Without one the test is skipped and says so.
    fn is_there() -> bool {
        let there = vanity_search::gpu::cards().is_ok();
        if !there {
            require::missing("opencl");
        }
        there
    }

    #[test]
    fn a_list_has_every_device_by_its_number() {
        if !is_there() {
            return;
        }
        let ran = succeed(&mut program::program(&["--gpu-device", "list"]));
        let cards = vanity_search::gpu::cards().unwrap();
        assert_eq!((ran.stdout.lines().count(), ran.stderr.as_str()), (cards.len(), ""));
        for (number, (line, card)) in ran.stdout.lines().zip(&cards).enumerate() {
            let place = card[0].address().map(|address| format!(", {address}")).unwrap_or_default();
            let start = format!("{number}: {}{place}, ", card[0].name());
            let memory = line.strip_prefix(&start).unwrap_or_else(|| panic!("{line}"));
            let is_gib = |text: &str| text.parse::<f64>().is_ok_and(|gib| gib > 0.0);
            let (free, all) = memory.split_once(" of ").unwrap_or(("1", memory));
            let all = all.strip_suffix(" free").unwrap_or(all).strip_suffix(" GiB").unwrap_or_default();
            assert!(is_gib(free) && is_gib(all), "{line}");
        }
    }

    #[test]
    fn without_a_device_the_reason_is_printed_and_auto_uses_another_engine() {
        // In an empty directory OpenCL finds no driver.
        let empty = TempDir::new().unwrap();
        let alone = |args: &[&str]| {
            let mut command = program::program(args);
            command.env("OCL_ICD_VENDORS", empty.path()).env("OPENCL_VENDOR_PATH", empty.path());
            // CUDA, if it is installed, shows no device.
            command.env("CUDA_VISIBLE_DEVICES", "");
            command
        };
        let ran = run(&mut alone(&["--engine", "gpu", "abc"]));
        assert_eq!(ran.status, Some(2), "{}", ran.stderr);
        let printed =
            ran.stderr.strip_prefix("error: the engine 'gpu' cannot run here: ").unwrap_or_default();
        let reasons = [
            "no CUDA driver was found; ",
            "found a CUDA driver, but not its compiler NVRTC; ",
            "the CUDA driver does not work (",
            "CUDA found no device; ",
        ];
        assert!(reasons.iter().any(|reason| printed.starts_with(reason)), "{}", ran.stderr);
        assert!(["; OpenCL ", "; no OpenCL "].iter().any(|of| printed.contains(of)), "{}", ran.stderr);
        assert!(ran.stderr.contains("\nhint: engines of this machine: auto, "), "{}", ran.stderr);
        // This search is long enough for `auto` to ask for devices.
        let ran = run(&mut alone(&["--timeout", "1s", "abcdefghijklmn"]));
        assert_eq!(ran.status, Some(3), "{}", ran.stderr);
    }

    #[test]
    fn the_gpu_engine_finds_keys_of_every_kind() {
        if !is_there() {
            return;
        }
        let directory = TempDir::new().unwrap();
        let keys = directory.path().join("keys");
        for args in [
            &["abc"][..],
            &["--prefix", "ab"],
            &["--suffix", "ab"],
            &["--word", "a"],
            &["--regex", "^A.*9$"],
            &["--in", "fingerprint", "abc"],
            &["--gpu-load", "50%", "abd"],
        ] {
            let base = ["--json", "--engine", "gpu", "-n", "2", "-d", keys.to_str().unwrap()];
            let ran = succeed(&mut program::program(&[&base[..], args].concat()));
            let objects = objects(&ran.stdout);
            let summary = of_type(&objects, "summary")[0];
            assert_eq!((text(summary, "engine"), whole(summary, "found")), ("gpu", 2), "{args:?}");
            for found in of_type(&objects, "found") {
                check_pair(std::path::Path::new(text(found, "private_key_file")));
            }
        }
    }

    #[test]
    fn an_estimate_names_the_table_and_the_batch_of_the_device() {
        if !is_there() {
            return;
        }
        let ran = succeed(&mut program::program(&["--estimate", "--json", "--engine", "gpu", "abc"]));
        let tuning = &objects(&ran.stdout)[0]["tuning"];
        assert!((11..=126).contains(&whole(tuning, "windows")), "{tuning}");
        assert!(whole(tuning, "table_bytes") > 0 && whole(tuning, "batch_keys") > 0, "{tuning}");
        assert_eq!(whole(tuning, "prefetch_vectors"), 0, "{tuning}");
    }

    #[test]
    fn a_device_that_does_not_exist_is_refused_with_the_list() {
        if !is_there() {
            return;
        }
        let ran = run(&mut program::program(&["--gpu-device", "63", "abc"]));
        assert_eq!(ran.status, Some(2));
        let expected = "error: the engine 'gpu' cannot run here: device 63 does not exist; found 0: ";
        assert!(ran.stderr.starts_with(expected), "{}", ran.stderr);
    }

    /// Returns the arguments of a search on the processor that the first device joins.
    fn joined<'a>(more: &[&'a str]) -> Vec<&'a str> {
        [&["--json", "--engine", "auto", "--gpu-device", "0"], more].concat()
    }

    #[test]
    fn a_device_joins_a_search_of_the_processor() {
        if !is_there() {
            return;
        }
        let mut search = program::program(&joined(&["--however-long", "abcdefghijklmnopq"]));
        let mut child = program::start(search.stdout(Stdio::piped()).stderr(Stdio::piped()));
        let stderr = std::io::BufReader::new(child.stderr.take().unwrap());
        let mut lines = std::io::BufRead::lines(stderr).map(Result::unwrap);
        let line = lines.find(|line| line.contains("' searches, too")).expect("a device joins");
        kill_process(Pid::from_child(&child), Signal::INT).unwrap();
        let rest: Vec<String> = lines.collect();
        assert_eq!(child.wait().unwrap().code(), Some(130), "{rest:?}");
        let stdout = std::io::read_to_string(child.stdout.take().unwrap()).unwrap();
        let objects = objects(&stdout);
        let summary = of_type(&objects, "summary")[0];
        let device = &summary["devices"][0];
        assert_eq!(text(summary, "engine"), "gpu+cpu");
        assert_eq!(line, format!("note: the device '{}' searches, too", text(device, "name")));
        assert!(device["since_seconds"].as_f64().unwrap() > 0.0, "{summary}");
        let named = format!("(gpu+cpu with {} since ", text(device, "name"));
        assert!(rest.iter().any(|line| line.contains(&named)), "{rest:?}");
    }

    /// The kernel is not yet compiled. The process ends all the same.
    #[test]
    fn a_search_that_ends_before_a_device_is_ready_does_not_notice_it() {
        if !is_there() {
            return;
        }
        for _ in 0..5 {
            let empty = TempDir::new().unwrap();
            let began = Instant::now();
            let ran = succeed(program::program(&joined(&["ab"])).env("POCL_CACHE_DIR", empty.path()));
            println!("{:?}", began.elapsed());
            let objects = objects(&ran.stdout);
            let summary = of_type(&objects, "summary")[0];
            assert!(
                summary["devices"] == serde_json::json!([]) && text(summary, "engine") != "gpu+cpu",
                "{summary}"
            );
            assert!(!ran.stderr.contains("device"), "{}", ran.stderr);
        }
    }

    /// The compiler of a device has handlers for these signals.
    #[test]
    fn signals_end_a_search_that_asks_for_devices() {
        if !is_there() {
            return;
        }
        // `auto` asks for devices in the first second.
        for (signals, after, statuses) in [
            (&[Signal::USR1][..], 200, &[138][..]),
            (&[Signal::QUIT], 400, &[131]),
            (&[Signal::XCPU], 2000, &[152]),
            (&[Signal::INT, Signal::TERM], 2000, &[130, 143]),
        ] {
            let mut search = program::program(&["-q", "--however-long", "abcdefghijklmnopq"]);
            let child = program::start(search.stdout(Stdio::piped()).stderr(Stdio::piped()));
            std::thread::sleep(Duration::from_millis(after));
            #[cfg(target_os = "linux")]
            crate::signals::check_masks(&child);
            signals.iter().for_each(|signal| kill_process(Pid::from_child(&child), *signal).unwrap());
            let ran = child.end();
            assert!(statuses.contains(&ran.status.unwrap()), "{signals:?}: {ran:?}");
        }
    }

    #[test]
    fn an_interrupt_ends_a_search_within_a_second() {
        if !is_there() {
            return;
        }
        program::within_a_second(interrupted);
    }

    /// Interrupts a search, and returns how long it went on.
    fn interrupted() -> Duration {
        let mut search = program::program(&["--engine", "gpu", "--however-long", "abcdefghijklmnopq"]);
        let mut child = program::start(search.stdout(Stdio::piped()).stderr(Stdio::piped()));
        // The program prints the odds when the search begins.
        let mut line = String::new();
        let mut stderr = std::io::BufReader::new(child.stderr.take().unwrap());
        std::io::BufRead::read_line(&mut stderr, &mut line).unwrap();
        std::thread::sleep(Duration::from_secs(1));
        let began = Instant::now();
        kill_process(Pid::from_child(&child), Signal::INT).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(130));
        began.elapsed()
    }
}
