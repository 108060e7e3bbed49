use super::*;

fn note(path: &str, text: &str) -> NoteFile {
    NoteFile { path: path.to_owned(), text: text.to_owned() }
}

#[test]
fn the_best_files_are_read_until_the_answer_is_there() {
    let notes = [
        note("a.md", "The lease\nand the lock."),
        note("b.md", "A lease."),
        note("c.md", "Nothing."),
    ];
    let words = ["lease".to_owned(), "lock".to_owned()];
    let lines = "a.md:1:The lease\na.md:2:and the lock.\nb.md:1:A lease.\n";
    let grepped = tokens::count(lines);
    let first = grepped + notes[0].tokens();
    assert_eq!(search_tokens(&notes, &words, |it| it.path == "a.md"), Some(first));
    let both = first + notes[1].tokens();
    assert_eq!(search_tokens(&notes, &words, |it| it.path == "b.md"), Some(both));
    assert_eq!(search_tokens(&notes, &words, |it| it.path == "c.md"), None);
    assert_eq!(search_tokens(&notes, &[], |_| true), None);
}
