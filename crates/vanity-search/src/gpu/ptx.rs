//! The arithmetic of `kernel/field.cl` in PTX, for NVIDIA's GPUs. It keeps carries in the carry
//! flag.
//!
//! A product of words is a pair of instructions, one for its lower half and one for its upper half.
//! Assemblers merge the pair into one wide multiply-add if it adds to an aligned pair of registers.
//! So `e` holds the sums of products that begin at an even word. `o` holds those that begin at an
//! odd word, one register lower. A multiplication takes 64 wide multiply-adds, a square 36, and both
//! take 8 more to fold the upper half.
//!
//! Each word of b gives two rows of products: one with the odd words of a, whose last pair holds
//! nothing yet, and one with the even words of a, which carries out of its four pairs. That carry
//! goes to the highest word of the first row. This is below 2^32 - 1, as the upper half of a product.
//!
//! Operands 0 to 7 are the result, 8 to 15 are a, and 16 to 23 are b, each from the lowest word.
//! The result is written after all operands are read.

use std::fmt::Write as _;

/// The number of words of an element.
const WORDS: usize = 8;

/// 2^256 modulo p, and 2^255 modulo p.
const FOLD: u32 = 38;
const FOLD_HALF: u32 = 19;

/// Returns the definitions of the macros that `field.cl` uses. Each macro is the text of an `asm`
/// statement.
pub(super) fn macros() -> String {
    let mut macros = String::new();
    let texts = [("MULTIPLY", multiply()), ("SQUARE", square()), ("ADD", add()), ("SUBTRACT", subtract())];
    for (name, text) in texts {
        let _ = writeln!(macros, "#define PTX_{name} \"{}\"", text.replace('\n', "\\n\\t"));
    }
    macros
}

/// A block of PTX in braces, with its own registers.
struct Text(String);

impl Text {
    /// Returns a block that declares its registers.
    fn new() -> Self {
        Self("{\n.reg .u32 e<16>, o<16>, c;\n.reg .u64 d;\n".to_owned())
    }

    /// Appends an instruction.
    fn line(&mut self, line: &str) {
        let _ = writeln!(self.0, "{line};");
    }

    /// Appends instructions that add a row of products, each word of `of` times `times`, to `sum`
    /// from register `at` on. They leave the carry in the flag. If `is_new` is true, the last pair
    /// of `sum` holds nothing yet, and no carry leaves it.
    fn row(&mut self, sum: char, at: usize, of: &[String], times: &str, is_new: bool) {
        let mut carry_suffix = "";
        for (number, a) in of.iter().enumerate() {
            let registers = [0, 1].map(|half| format!("{sum}{}", at + 2 * number + half));
            let is_new = is_new && number + 1 == of.len();
            let flag = if is_new { "" } else { ".cc" };
            let [low, high] = &registers;
            let [to_low, to_high] = if is_new { ["0", "0"] } else { [low.as_str(), high.as_str()] };
            self.line(&format!("mad{carry_suffix}.lo.cc.u32 {low}, {a}, {times}, {to_low}"));
            self.line(&format!("madc.hi{flag}.u32 {high}, {a}, {times}, {to_high}"));
            carry_suffix = "c";
        }
    }

    /// Appends instructions that set the registers of `sum` to a row of products. They need no
    /// carry. With halves instead of a wide product, the assembler takes some pairs apart again.
    fn first_row(&mut self, sum: char, of: [String; WORDS / 2], times: &str) {
        for (number, a) in of.iter().enumerate() {
            self.line(&format!("mul.wide.u32 d, {a}, {times}"));
            self.line(&format!("mov.b64 {{{sum}{}, {sum}{}}}, d", 2 * number, 2 * number + 1));
        }
    }

    /// Appends instructions that fold a product of sixteen words in `e`.
    fn fold_product(&mut self) {
        let upper = |word: usize| format!("e{}", WORDS + word);
        let fold = FOLD.to_string();
        self.first_row('o', every_second(1, upper), &fold);
        self.row('e', 0, &every_second(0, upper), &fold, false);
        self.line("addc.u32 c, o7, 0");
        self.line("add.cc.u32 e1, e1, o0");
        (2..WORDS).for_each(|at| self.line(&format!("addc.cc.u32 e{at}, e{at}, o{}", at - 1)));
        self.line("addc.u32 c, c, 0");
        self.fold();
    }

    /// Appends instructions that fold the bits from 255 up of a number. It is in `e` and, from bit
    /// 256 up, in `c`.
    fn fold(&mut self) {
        self.line(&format!("shf.l.wrap.b32 c, e{}, c, 1", WORDS - 1));
        self.line(&format!("and.b32 e{0}, e{0}, 0x7fffffff", WORDS - 1));
        self.line(&format!("mul.lo.u32 c, c, {FOLD_HALF}"));
        self.line("add.cc.u32 e0, e0, c");
        (1..WORDS - 1).for_each(|word| self.line(&format!("addc.cc.u32 e{word}, e{word}, 0")));
        self.line(&format!("addc.u32 e{0}, e{0}, 0", WORDS - 1));
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
    for word in 1..WORDS {
        // The sums for the odd words of a and for the even words.
        let [odd, even] = if word % 2 == 1 { ['e', 'o'] } else { ['o', 'e'] };
        let (odd_at, even_at) = (word + word % 2, word - word % 2);
        text.row(odd, odd_at, &every_second(1, a), &b(word), true);
        text.row(even, even_at, &every_second(0, a), &b(word), false);
        text.line(&format!("addc.u32 {odd}{0}, {odd}{0}, 0", odd_at + WORDS - 1));
    }
    text.line("add.cc.u32 e1, e1, o0");
    (2..2 * WORDS - 1).for_each(|at| text.line(&format!("addc.cc.u32 e{at}, e{at}, o{}", at - 1)));
    text.line(&format!("addc.u32 e{0}, e{0}, 0", 2 * WORDS - 1));
    text.fold_product();
    text.end()
}

/// Returns the text of a square: the products of different words, doubled, and the squares of words.
/// Each row ends in a pair that holds nothing yet, so no carry leaves it.
fn square() -> String {
    let mut text = Text::new();
    for word in 1..WORDS {
        // The word times all lower words. `e` takes the products whose place is even.
        for (sum, first) in [('e', word % 2), ('o', 1 - word % 2)] {
            let lower: Vec<String> = (first..word).step_by(2).map(a).collect();
            let at = word + first - usize::from(sum == 'o');
            if !lower.is_empty() {
                text.row(sum, at, &lower, &a(word), true);
            }
        }
    }
    text.line("mov.u32 e1, o0");
    text.line("add.cc.u32 e2, e2, o1");
    (3..2 * WORDS - 2).for_each(|at| text.line(&format!("addc.cc.u32 e{at}, e{at}, o{}", at - 1)));
    text.line(&format!("addc.u32 e{}, o{}, 0", 2 * WORDS - 2, 2 * WORDS - 3));
    // The sum is below 2^480, so its double has one bit in the highest word.
    text.line(&format!("shr.u32 e{}, e{}, 31", 2 * WORDS - 1, 2 * WORDS - 2));
    for at in (2..2 * WORDS - 1).rev() {
        text.line(&format!("shf.l.wrap.b32 e{at}, e{}, e{at}, 1", at - 1));
    }
    text.line("shl.b32 e1, e1, 1");
    text.line("mov.u32 e0, 0");
    let mut carry_suffix = "";
    for word in 0..WORDS {
        let (low, high, a) = (2 * word, 2 * word + 1, a(word));
        let flag = if word + 1 < WORDS { ".cc" } else { "" };
        text.line(&format!("mad{carry_suffix}.lo.cc.u32 e{low}, {a}, {a}, e{low}"));
        text.line(&format!("madc.hi{flag}.u32 e{high}, {a}, {a}, e{high}"));
        carry_suffix = "c";
    }
    text.fold_product();
    text.end()
}

/// Returns the text of an addition of tight numbers. If it carries, the remaining number is below
/// 2^12, so the second addition does not carry.
fn add() -> String {
    let mut text = Text::new();
    text.line(&format!("add.cc.u32 e0, {}, {}", a(0), b(0)));
    (1..WORDS).for_each(|word| text.line(&format!("addc.cc.u32 e{word}, {}, {}", a(word), b(word))));
    text.line("addc.u32 c, 0, 0");
    text.line(&format!("mad.lo.u32 e0, c, {FOLD}, e0"));
    text.end()
}

/// Returns the text of a subtraction of tight numbers. If it borrows, the remaining number is above
/// 2^254, so the second subtraction does not borrow.
fn subtract() -> String {
    let mut text = Text::new();
    text.line(&format!("sub.cc.u32 e0, {}, {}", a(0), b(0)));
    (1..WORDS).for_each(|word| text.line(&format!("subc.cc.u32 e{word}, {}, {}", a(word), b(word))));
    // `c` is all ones after a borrow, so the mask makes it 38.
    text.line("subc.u32 c, 0, 0");
    text.line(&format!("and.b32 c, c, {FOLD}"));
    text.line("sub.cc.u32 e0, e0, c");
    (1..WORDS - 1).for_each(|word| text.line(&format!("subc.cc.u32 e{word}, e{word}, 0")));
    text.line(&format!("subc.u32 e{0}, e{0}, 0", WORDS - 1));
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
        let mut registers: HashMap<String, u64> = HashMap::new();
        for word in 0..WORDS {
            registers.insert(super::a(word), u64::from(a[word]));
            registers.insert(super::b(word), u64::from(b[word]));
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
            if let Some(halves) = line.strip_prefix("mov.b64 {").and_then(|rest| rest.strip_suffix("}, d")) {
                let (low, high) = halves.split_once(", ").unwrap();
                let wide = registers["d"];
                registers.insert(low.to_owned(), wide & 0xffff_ffff);
                registers.insert(high.to_owned(), wide >> 32);
                continue;
            }
            let operands: Vec<&str> = operands.split(", ").collect();
            let value = |operand: &str| {
                let number = operand
                    .strip_prefix("0x")
                    .map_or_else(|| operand.parse().ok(), |digits| u64::from_str_radix(digits, 16).ok());
                let read = || registers.get(operand).copied();
                number.or_else(read).unwrap_or_else(|| panic!("{operand} is read before it is set: {line}"))
            };
            let read: Vec<u64> = operands[1..].iter().map(|operand| value(operand)).collect();
            let name = name.strip_suffix(".u32").or(name.strip_suffix(".b32")).unwrap();
            let (name, sets) = name.strip_suffix(".cc").map_or((name, false), |name| (name, true));
            let carry_in = || u64::from(carry.unwrap());
            let half = |product: u64, name: &str| {
                if name.ends_with("hi") { product >> 32 } else { product & 0xffff_ffff }
            };
            let (result, carry_out) = match name {
                "mul.lo" => (half(read[0] * read[1], name), false),
                "mul.wide" => {
                    products += 1;
                    registers.insert(operands[0].to_owned(), read[0] * read[1]);
                    continue;
                }
                "shl" => (read[0] << read[1], false),
                "shr" => (read[0] >> read[1], false),
                "shf.l.wrap" => ((read[1] << 32 | read[0]) << read[2] >> 32, false),
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
            registers.insert(operands[0].to_owned(), result & 0xffff_ffff);
        }
        (std::array::from_fn(|word| registers[&format!("%{word}")] as u32), products)
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
        let most = (&one << 255) + 2047u32;
        for near in [BigUint::ZERO, &one << 255, p.clone(), &p * 2u32, end.clone(), &one << 128, most] {
            for step in 0..40u32 {
                numbers.push(&near + step);
                numbers.extend((near >= BigUint::from(step)).then(|| &near - step));
            }
        }
        for word in 0..WORDS {
            numbers.push(BigUint::from(u32::MAX) << (32 * word));
            numbers.push(&end - 1u32 - (BigUint::from(u32::MAX) << (32 * word)));
        }
        numbers.into_iter().filter(|number| *number < end).map(words_of).collect()
    }

    fn words_of(number: BigUint) -> Words8 {
        let mut words = number.to_u32_digits();
        words.resize(WORDS, 0);
        words.try_into().unwrap()
    }

    /// Returns whether a number is below 2^255 + 2^11.
    fn is_tight(words: &Words8) -> bool {
        number(words) < (BigUint::from(1u32) << 255) + 2048u32
    }

    #[test]
    fn the_text_multiplies_adds_and_subtracts() {
        let p: BigUint = (BigUint::from(1u32) << 255) - 19u32;
        let (multiply, square, add, subtract) = (multiply(), square(), add(), subtract());
        let check = |a: &Words8, b: &Words8| {
            let (of_a, of_b) = (number(a), number(b));
            let product = interpret(&multiply, a, b).0;
            assert_eq!(number(&product) % &p, &of_a * &of_b % &p, "{a:x?} * {b:x?}");
            assert!(is_tight(&product), "{a:x?} * {b:x?} = {product:x?}");
            let squared = interpret(&square, a, a).0;
            assert_eq!(number(&squared) % &p, &of_a * &of_a % &p, "{a:x?} squared");
            assert!(is_tight(&squared), "{a:x?} squared = {squared:x?}");
            if !is_tight(a) || !is_tight(b) {
                return;
            }
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
        // All pairs near the ends of the range of tight numbers.
        let end: BigUint = (BigUint::from(1u32) << 255) + 2048u32;
        let down = [1u32, 2, 2047, 2048, 2049, 2066, 2067, 2068].map(|less| words_of(&end - less));
        let ends = [[0u32, 1, 37, 38].map(|number| words_of(number.into())).to_vec(), down.to_vec()].concat();
        for a in &ends {
            ends.iter().for_each(|b| check(a, b));
        }
        let mut random = rand_chacha::ChaCha8Rng::from_seed([3; 32]);
        for round in 0..4000 {
            let mut word = || std::array::from_fn(|_| random.next_u32());
            let (mut a, mut b): (Words8, Words8) = (word(), word());
            if round % 2 == 1 {
                a[WORDS - 1] &= 0x7fff_ffff;
                b[WORDS - 1] &= 0x7fff_ffff;
            }
            check(&a, &b);
        }
    }

    #[test]
    fn a_multiplication_has_72_wide_multiply_adds_and_a_square_44() {
        let count = |text: String| interpret(&text, &[1; WORDS], &[1; WORDS]).1;
        assert_eq!((count(multiply()), count(square())), (72, 44));
    }
}
