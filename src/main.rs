//! The `remindb` program: parses arguments, runs, exits.
fn main() {}
