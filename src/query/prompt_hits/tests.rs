//! Tests for prompt hits: prompts about the notes bring their texts, others bring nothing.

use super::*;
use crate::memory::Memory;

const QUESTIONS: &str = include_str!("../../../tests/data/eval/questions.txt");
const UNRELATED: &str = include_str!("../../../tests/data/hook/unrelated.txt");
const BUDGET: u32 = 400;

fn hits(memory: &Memory, prompt: &str, given: &[String]) -> Option<PromptHitsText> {
    let query = PromptHitsRequest { prompt, given, budget: BUDGET, now: UnixMillis(0) };
    memory.read(|reader| prompt_hits(reader, &query)).unwrap()
}

fn notes() -> (tempfile::TempDir, Memory) {
    let folder = tempfile::tempdir().unwrap();
    let memory = Memory::create(&folder.path().join("memory.db")).unwrap();
    let notes = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/eval/notes");
    memory.compile(&notes, "").unwrap();
    (folder, memory)
}

#[test]
fn a_question_about_the_notes_brings_texts() {
    let (_folder, memory) = notes();
    let (mut n_told, mut n_right) = (0, 0);
    for line in QUESTIONS.lines() {
        let (question, answer) = line.split_once(" => ").unwrap();
        let Some(hits) = hits(&memory, question, &[]) else { continue };
        assert!(crate::text::tokens::fits(&hits.text, BUDGET), "{question}");
        n_told += 1;
        n_right += usize::from(hits.text.contains(answer));
    }
    assert_eq!((n_told, n_right), (38, 38));
}

#[test]
fn quotes_around_a_prompt_make_no_phrase() {
    let (_folder, memory) = notes();
    let question = "where is the key for the tool shed";
    let plain = hits(&memory, question, &[]).unwrap();
    assert_eq!(hits(&memory, &format!("\"{question}?\""), &[]).unwrap(), plain);
}

#[test]
fn texts_that_were_given_are_not_given_again() {
    let (_folder, memory) = notes();
    let question = "where is the key for the tool shed";
    let first = hits(&memory, question, &[]).unwrap();
    assert_eq!(hits(&memory, question, &first.ids), None);
    let rest = hits(&memory, question, &first.ids[..1]).unwrap();
    assert_eq!(rest.ids, first.ids[1..]);
}

#[test]
fn a_prompt_about_something_else_brings_nothing() {
    let (_folder, memory) = notes();
    let told = UNRELATED.lines().filter(|it| hits(&memory, it, &[]).is_some());
    assert_eq!(told.collect::<Vec<_>>(), Vec::<&str>::new());
}
