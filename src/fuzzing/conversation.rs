//! Transcripts and prompts of any content: a digest of bounded size without control characters, and
//! no part of a prompt that was not there.

use crate::ingest::conversation::{Conversation, DigestFormatter, TranscriptRedactor, typed_part};
use crate::ingest::redact::Redactor;
use crate::text::tokens;

/// Tokens of a digest, at most.
const TOKENS_MAX: u32 = 400;

/// Panics when `data` as a transcript or a prompt violates an invariant.
pub fn conversation(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    check_typed(&text);
    let redactor = Redactor::builtin();
    let mut scrubber = TranscriptRedactor::new(vec![&redactor]);
    let digest = DigestFormatter { head: "head", folder: "/home/ana" };
    let conversation = Conversation::read(&text);
    let Some((said, first)) = digest.of(&conversation, &mut scrubber) else { return };
    assert!(tokens::fits(&said, TOKENS_MAX), "{said}");
    for line in [&said, &first] {
        assert!(!line.contains(|it: char| it.is_control() && it != '\n'), "{line:?}");
        assert!(redactor.scrub(line).hits.is_empty(), "{line}");
    }
    assert!(!first.contains('\n'));
}

/// Checks that what a person typed is the prompt with some parts taken out.
fn check_typed(prompt: &str) {
    let typed = typed_part(prompt);
    let mut rest = prompt.chars();
    assert!(typed.chars().all(|it| rest.any(|other| other == it)), "{typed}");
}
