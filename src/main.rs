//! The command `vanity-ed25519`.

fn main() {
    vanity_ed25519::program::main()
}
