//! The arithmetic of `kernel/field.cl` in PTX, for NVIDIA's GPUs. It keeps carries in the carry
//! flag.
//!
//! A product of words is a pair of instructions, one for its lower half and one for its upper half.
//! Assemblers merge the pair into one wide multiply-add if it adds to an aligned pair of registers.
//! So `e` holds the sums of products that begin at an even word. `o` holds those that begin at an
//! odd word, one register lower. A multiplication takes 64 wide multiply-adds, and 8 more to fold
//! the upper half.
//!
//! Operands 0 to 7 are the result, 8 to 15 are a, and 16 to 23 are b, each from the lowest word.
//! The result is written after all operands are read.

use std::fmt::Write as _;

/// The number of words of an element.
const WORDS: usize = 8;

/// 2^256 modulo p.
const FOLD: u32 = 38;

/// Returns the definitions of the macros that `field.cl` uses. Each macro is the text of an `asm`
/// statement.
pub(super) fn macros() -> String {
    let mut macros = String::new();
    for (name, text) in [("MULTIPLY", multiply()), ("ADD", add()), ("SUBTRACT", subtract())] {
        let _ = writeln!(macros, "#define PTX_{name} \"{}\"", text.replace('\n', "\\n\\t"));
    }
    macros
}

/// A block of PTX in braces, with its own registers.
struct Text(String);

impl Text {
    /// Returns a block that declares its registers.
    fn new() -> Self {
        Self("{\n.reg .u32 e<16>, o<16>, c;\n".to_owned())
    }

    /// Appends an instruction.
    fn line(&mut self, line: &str) {
        let _ = writeln!(self.0, "{line};");
    }

    /// Appends instructions that add a row of products, each word of `of` times `times`, to `sum`
    /// from register `at` on. They leave the carry in the flag.
    fn row(&mut self, sum: char, at: usize, of: [String; WORDS / 2], times: &str) {
        let mut carry_suffix = "";
        for (number, a) in of.iter().enumerate() {
            let (low, high) = (at + 2 * number, at + 2 * number + 1);
            self.line(&format!("mad{carry_suffix}.lo.cc.u32 {sum}{low}, {a}, {times}, {sum}{low}"));
            self.line(&format!("madc.hi.cc.u32 {sum}{high}, {a}, {times}, {sum}{high}"));
            carry_suffix = "c";
        }
    }

    /// Appends instructions that set the registers of `sum` to a row of products. They need no
    /// carry.
    fn first_row(&mut self, sum: char, of: [String; WORDS / 2], times: &str) {
        for (number, a) in of.iter().enumerate() {
            self.line(&format!("mul.lo.u32 {sum}{}, {a}, {times}", 2 * number));
            self.line(&format!("mul.hi.u32 {sum}{}, {a}, {times}", 2 * number + 1));
        }
    }

    /// Appends instructions that add 38 `c` to the words of `e`, and then 38 times the carry of
    /// that sum. This carry is at most 1. If it is 1, the lowest word is small, so the second sum
    /// cannot carry.
    fn fold(&mut self) {
        self.line(&format!("mul.lo.u32 c, c, {FOLD}"));
        self.line("add.cc.u32 e0, e0, c");
        (1..WORDS).for_each(|word| self.line(&format!("addc.cc.u32 e{word}, e{word}, 0")));
        self.line("addc.u32 c, 0, 0");
        self.line(&format!("mul.lo.u32 c, c, {FOLD}"));
        self.line("add.u32 e0, e0, c");
    }

    /// Appends instructions that write the result, and returns the text.
    fn end(mut self) -> String {
        (0..WORDS).for_each(|word| self.line(&format!("mov.u32 %{word}, e{word}")));
        self.0.push('}');
        self.0
    }
}

/// Returns the operand of a word of a.
fn a(word: usize) -> String {
    format!("%{}", WORDS + word)
}

/// Returns the operand of a word of b.
fn b(word: usize) -> String {
    format!("%{}", 2 * WORDS + word)
}

/// Returns the operands of every second word from `first`.
fn every_second(first: usize, name: fn(usize) -> String) -> [String; WORDS / 2] {
    std::array::from_fn(|number| name(first + 2 * number))
}

/// Returns the text of a multiplication.
fn multiply() -> String {
    let mut text = Text::new();
    text.first_row('e', every_second(0, a), &b(0));
    text.first_row('o', every_second(1, a), &b(0));
    (WORDS..2 * WORDS).for_each(|at| text.line(&format!("mov.u32 e{at}, 0")));
    (WORDS..2 * WORDS).for_each(|at| text.line(&format!("mov.u32 o{at}, 0")));
    for word in 1..WORDS {
        // For each sum: the first word of a to multiply, and the first register to add to.
        let odd = word % 2;
        for (sum, first, at) in [('e', odd, word + odd), ('o', 1 - odd, word - odd)] {
            text.row(sum, at, every_second(first, a), &b(word));
            // A carry into word 16 is impossible, because the whole product has 16 words.
            if at + WORDS < 2 * WORDS {
                text.line(&format!("addc.u32 {sum}{0}, {sum}{0}, 0", at + WORDS));
            }
        }
    }
    text.line("add.cc.u32 e1, e1, o0");
    (2..2 * WORDS).for_each(|at| text.line(&format!("addc.cc.u32 e{at}, e{at}, o{}", at - 1)));

    let upper = |word: usize| format!("e{}", WORDS + word);
    let fold = FOLD.to_string();
    text.first_row('o', every_second(1, upper), &fold);
    text.row('e', 0, every_second(0, upper), &fold);
    text.line("addc.u32 c, o7, 0");
    text.line("add.cc.u32 e1, e1, o0");
    (2..WORDS).for_each(|at| text.line(&format!("addc.cc.u32 e{at}, e{at}, o{}", at - 1)));
    text.line("addc.u32 c, c, 0");
    text.fold();
    text.end()
}

/// Returns the text of an addition.
fn add() -> String {
    let mut text = Text::new();
    text.line(&format!("add.cc.u32 e0, {}, {}", a(0), b(0)));
    (1..WORDS).for_each(|word| text.line(&format!("addc.cc.u32 e{word}, {}, {}", a(word), b(word))));
    text.line("addc.u32 c, 0, 0");
    text.fold();
    text.end()
}

/// Returns the text of a subtraction.
fn subtract() -> String {
    let mut text = Text::new();
    text.line(&format!("sub.cc.u32 e0, {}, {}", a(0), b(0)));
    (1..WORDS).for_each(|word| text.line(&format!("subc.cc.u32 e{word}, {}, {}", a(word), b(word))));
    // `c` is all ones after a borrow, so the mask makes it 38. As in `fold`, this happens twice.
    text.line("subc.u32 c, 0, 0");
    text.line(&format!("and.b32 c, c, {FOLD}"));
    text.line("sub.cc.u32 e0, e0, c");
    (1..WORDS).for_each(|word| text.line(&format!("subc.cc.u32 e{word}, e{word}, 0")));
    text.line("subc.u32 c, 0, 0");
    text.line(&format!("and.b32 c, c, {FOLD}"));
    text.line("sub.u32 e0, e0, c");
    text.end()
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use num_bigint::BigUint;
    use rand_core::{Rng as _, SeedableRng as _};

    use super::*;

    type Words8 = [u32; WORDS];

    /// Interprets each instruction as the PTX ISA defines it (sections 9.7.1 and 9.7.2). Returns
    /// the result and the number of wide multiply-adds.
    fn interpret(text: &str, a: &Words8, b: &Words8) -> (Words8, usize) {
        let mut registers: HashMap<String, u32> = HashMap::new();
        for word in 0..WORDS {
            registers.insert(super::a(word), a[word]);
            registers.insert(super::b(word), b[word]);
        }
        // The carry flag, or `None` as long as no instruction has set it.
        let mut carry: Option<bool> = None;
        let mut products = 0;
        let body = text.strip_prefix("{\n").and_then(|text| text.strip_suffix("}")).unwrap();
        for line in body.lines() {
            let line = line.strip_suffix(';').unwrap();
            if line.starts_with(".reg") {
                continue;
            }
            let (name, operands) = line.split_once(' ').unwrap();
            let operands: Vec<&str> = operands.split(", ").collect();
            let value = |operand: &str| {
                u64::from(operand.parse().unwrap_or_else(|_| {
                    *registers
                        .get(operand)
                        .unwrap_or_else(|| panic!("{operand} is read before it is set: {line}"))
                }))
            };
            let read: Vec<u64> = operands[1..].iter().map(|operand| value(operand)).collect();
            let name = name.strip_suffix(".u32").or(name.strip_suffix(".b32")).unwrap();
            let (name, sets) = name.strip_suffix(".cc").map_or((name, false), |name| (name, true));
            let carry_in = || u64::from(carry.unwrap());
            let half = |product: u64, name: &str| {
                if name.ends_with("hi") { product >> 32 } else { product & 0xffff_ffff }
            };
            let (result, carry_out) = match name {
                "mul.lo" | "mul.hi" => (half(read[0] * read[1], name), false),
                "mad.lo" => {
                    let sum = half(read[0] * read[1], name) + read[2];
                    (sum, sum >> 32 != 0)
                }
                "madc.lo" | "madc.hi" => {
                    let sum = half(read[0] * read[1], name) + read[2] + carry_in();
                    (sum, sum >> 32 != 0)
                }
                "add" | "addc" => {
                    let sum = read[0] + read[1] + if name == "addc" { carry_in() } else { 0 };
                    (sum, sum >> 32 != 0)
                }
                "sub" | "subc" => {
                    let less = read[1] + if name == "subc" { carry_in() } else { 0 };
                    (read[0].wrapping_sub(less), read[0] < less)
                }
                "and" => (read[0] & read[1], false),
                "mov" => (read[0], false),
                other => panic!("{other}: {line}"),
            };
            products += usize::from(name.contains(".hi"));
            if sets {
                carry = Some(carry_out);
            }
            registers.insert(operands[0].to_owned(), result as u32);
        }
        (std::array::from_fn(|word| registers[&format!("%{word}")]), products)
    }

    fn number(words: &Words8) -> BigUint {
        BigUint::new(words.to_vec())
    }

    /// Returns numbers near the ends of the range, near multiples of p and of 2^255, and numbers
    /// with single extreme words.
    fn extremes() -> Vec<Words8> {
        let one = BigUint::from(1u32);
        let end: BigUint = &one << 256;
        let p: BigUint = (&one << 255) - 19u32;
        let mut numbers = Vec::new();
        for near in [BigUint::ZERO, &one << 255, p.clone(), &p * 2u32, end.clone(), &one << 128] {
            for step in 0..40u32 {
                numbers.push(&near + step);
                numbers.extend((near >= BigUint::from(step)).then(|| &near - step));
            }
        }
        for word in 0..WORDS {
            numbers.push(BigUint::from(u32::MAX) << (32 * word));
            numbers.push(&end - 1u32 - (BigUint::from(u32::MAX) << (32 * word)));
        }
        let words = |number: BigUint| {
            let mut words = number.to_u32_digits();
            words.resize(WORDS, 0);
            words.try_into().unwrap()
        };
        numbers.into_iter().filter(|number| *number < end).map(words).collect()
    }

    #[test]
    fn the_text_multiplies_adds_and_subtracts() {
        let p: BigUint = (BigUint::from(1u32) << 255) - 19u32;
        let (multiply, add, subtract) = (multiply(), add(), subtract());
        let check = |a: &Words8, b: &Words8| {
            let (of_a, of_b) = (number(a), number(b));
            assert_eq!(number(&interpret(&multiply, a, b).0) % &p, &of_a * &of_b % &p, "{a:x?} * {b:x?}");
            assert_eq!(number(&interpret(&add, a, b).0) % &p, (&of_a + &of_b) % &p, "{a:x?} + {b:x?}");
            let difference = (&of_a + &p * 4u32 - &of_b) % &p;
            assert_eq!(number(&interpret(&subtract, a, b).0) % &p, difference, "{a:x?} - {b:x?}");
        };
        let extremes = extremes();
        for (at, a) in extremes.iter().enumerate() {
            // Combine each number with itself and with some others.
            for step in [0, 1, 40, 81, 200, 333] {
                check(a, &extremes[(at + step) % extremes.len()]);
            }
        }
        let mut random = rand_chacha::ChaCha8Rng::from_seed([3; 32]);
        for _ in 0..2000 {
            let mut word = || std::array::from_fn(|_| random.next_u32());
            check(&word(), &word());
        }
    }

    #[test]
    fn a_multiplication_has_72_wide_multiply_adds() {
        assert_eq!(interpret(&multiply(), &[1; WORDS], &[1; WORDS]).1, 72);
    }
}
