mod chacha;
mod sha2_constants;
mod sha512;
