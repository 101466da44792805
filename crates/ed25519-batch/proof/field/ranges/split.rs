//! The theorem of the split of a product, which the ranges of doubles use: Gappa proves it for the
//! constants of the back end and for the largest factors, and the instructions are those of the
//! theorem.

use std::process::Command;

use super::{Bounded, Fma, LOOSE, PRODUCT, Ranges, fma};
use crate::simd::model::power_of_two;

/// Runs Gappa on `split.g`. Returns whether it proves all claims, without a remark, or
/// `None` if Gappa is missing.
fn is_proved([a, b]: [i128; 2], low: f64, error: i32) -> Option<bool> {
    // Both constants are multiples of 2^51.
    let [high, low] = [fma::HIGH, low].map(|number| format!("{}b51", number / power_of_two(51)));
    let text = include_str!("split.g")
        .replace("$HIGH", &high)
        .replace("$BOTH", &format!("({high} + {low})"))
        .replace("$LOW", &low)
        .replace("$A", &a.to_string())
        .replace("$B", &b.to_string())
        .replace("$ERROR", &error.to_string());
    let script =
        std::env::temp_dir().join(format!("vanity-split-{}-{a}-{error}-{low}.g", std::process::id()));
    std::fs::write(&script, text).unwrap();
    let output = Command::new("gappa").arg(&script).output();
    std::fs::remove_file(script).unwrap();
    match output {
        Ok(output) => Some(output.status.success() && output.stderr.is_empty() && output.stdout.is_empty()),
        Err(_) => {
            crate::require::missing("gappa");
            None
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "runs other programs")]
fn gappa_proves_the_split() {
    let largest = |of: usize| {
        let spans = Fma::<Ranges>::claimed()[of];
        spans.as_flattened().iter().map(|end| end.abs()).max().unwrap()
    };
    let (product, loose) = (largest(PRODUCT), largest(LOOSE));
    // Of a square, one factor is doubled.
    let factors = [product, loose.max(2 * product)];
    let Some(is_right) = is_proved(factors, fma::LOW, 50) else { return };
    assert!(is_right);
    println!("split: Gappa proves it for factors up to {} and {}", factors[0], factors[1]);
    // Controls, which it must not prove: a larger factor, a smaller error, another constant.
    assert_eq!(is_proved([2 * product, factors[1]], fma::LOW, 50), Some(false));
    assert_eq!(is_proved(factors, fma::LOW, 49), Some(false));
    assert_eq!(is_proved(factors, fma::LOW / 1.5, 50), Some(false));
}

/// Computes with the names of registers: returns what the instructions of a function leave in each.
#[cfg(target_arch = "x86_64")]
fn interpreted(instructions: &[String]) -> std::collections::BTreeMap<String, String> {
    let mut registers = std::collections::BTreeMap::new();
    for instruction in instructions {
        let (name, operands) = instruction.split_once(char::is_whitespace).unwrap_or((instruction, ""));
        let vector = |operand: &str| operand.contains("ymm") || operand.contains("zmm");
        // In AT&T's order the destination is the last operand. Commas in parentheses are of an address.
        let mut depth = 0;
        let parts: Vec<&str> = operands
            .trim()
            .split(|char| {
                depth += i32::from(char == '(') - i32::from(char == ')');
                char == ',' && depth == 0
            })
            .collect();
        let Some(to) = parts.last().filter(|to| vector(to)) else {
            let is_store = parts.first().is_some_and(|from| vector(from));
            if is_store {
                let value = registers.get(parts[0]).cloned().unwrap_or_else(|| parts[0].to_owned());
                registers.insert((*parts.last().unwrap()).to_owned(), value);
            }
            continue;
        };
        let value = |operand: &str| registers.get(operand).cloned().unwrap_or_else(|| operand.to_owned());
        let [first, second] =
            [0, 1].map(|at| parts.get(at).map(|operand| value(operand)).unwrap_or_default());
        let result = match name {
            "vmovapd" | "vmovaps" | "vmovdqa" | "vmovdqa64" | "vmovups" | "vmovupd" | "vmovdqu"
            | "vmovdqu64" => first,
            "vfmadd231pd" => format!("fma({second}, {first}, {})", value(to)),
            "vsubpd" => format!("({second} - {first})"),
            "vpaddq" => format!("sum({second}, {first})"),
            _ => format!("{name} {operands}"),
        };
        registers.insert((*to).to_owned(), result);
    }
    registers
}

/// Reads the compiled assembly: its results are those of the theorem, whatever the registers.
#[cfg(target_arch = "x86_64")]
#[test]
#[cfg_attr(miri, ignore = "runs other programs")]
fn the_assembly_is_the_split() {
    use ed25519_batch::simd::compiled_splits;
    let functions = compiled_splits();
    let program = std::env::current_exe().unwrap();
    let Ok(names) = Command::new("nm").arg(&program).output() else {
        return crate::require::missing("objdump");
    };
    let names = String::from_utf8(names.stdout).unwrap();
    for function in functions {
        let symbol = names.lines().find(|line| line.contains(function)).expect(function);
        let symbol = symbol.split_whitespace().last().unwrap();
        let output = Command::new("objdump")
            .args(["--no-show-raw-insn", "--no-addresses", &format!("--disassemble={symbol}")])
            .arg(&program)
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let instructions: Vec<String> =
            text.lines().filter_map(|line| line.strip_prefix('\t')).map(str::to_owned).collect();
        let count =
            |name: &str| instructions.iter().filter(|instruction| instruction.starts_with(name)).count();
        assert_eq!(
            [count("vfmadd"), count("vsub"), count("vpaddq")],
            [2, 1, 2],
            "{function}: {instructions:#?}"
        );
        // Braces would be a rounding or a mask of their own.
        assert!(!text.contains('{'), "{function}: {instructions:#?}");
        let results = interpreted(&instructions);
        // h = fma(a, b, high), and l = fma(a, b, both - h).
        let h = results
            .values()
            .find_map(|value| {
                Some(value.strip_prefix("sum(")?.strip_suffix(')')?.split_once(", ")?.1)
                    .filter(|h| !h.contains(" - "))
            })
            .expect(function);
        let inner = h.strip_prefix("fma(").and_then(|h| h.strip_suffix(')')).expect(h);
        let [a, b, high] = inner.split(", ").collect::<Vec<_>>().try_into().unwrap();
        let is_l = |value: &&String| {
            value.starts_with("sum(")
                && value.contains(&format!(", fma({a}, {b}, ("))
                && value.ends_with(&format!(" - {h})))"))
        };
        let l = results.values().find(is_l);
        assert!(l.is_some(), "{function}: {results:#?}");
        println!("{function}: h = {h}, sum of l = {}", l.unwrap());
        assert!([a, b, high].iter().all(|name| !name.contains("fma")));
    }
}
