//! Counts cl100k tokens: a JSON array of texts on standard input, one of numbers on standard
//! output.
//!
//! The count is that of `tiktoken-rs`, not of the library, so that the check of a budget is
//! independent of the code that keeps it.

use std::io;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let texts: Vec<String> = serde_json::from_reader(io::stdin())?;
    let vocabulary = tiktoken_rs::cl100k_base()?;
    let counts: Vec<usize> = texts.iter().map(|it| vocabulary.encode_ordinary(it).len()).collect();
    serde_json::to_writer(io::stdout(), &counts)?;
    Ok(())
}
