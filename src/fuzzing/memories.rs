//! Lines of memories of any content: read, refused with a reason, and read again as written.

use crate::memory::typed::{LineDefaults, NumberedLine, read_lines};
use crate::model::tree::NodeType;

/// Panics when `data` as a file of memories violates an invariant.
pub fn memories(data: &[u8]) {
    let lines = read(data);
    let n_breaks = data.iter().filter(|it| **it == b'\n').count();
    assert!(lines.len() <= 1 + n_breaks);
    for line in &lines {
        let Ok(written) = line.written() else { continue };
        assert!(!written.contains('\n'), "{written}");
        let again = read(written.as_bytes());
        assert_eq!(again.len(), 1, "{written}");
        assert_eq!(again[0].written().as_ref(), Ok(&written), "a memory changes as it is written");
    }
    // A bad line costs itself, wherever it is.
    let middle = data.iter().position(|it| *it == b'\n').map_or(data.len(), |it| it + 1);
    let (before, after) = data.split_at(middle);
    for garbage in [b"\n{\"id\":\"a\n".as_slice(), b"\n\xff\n", b"\n[]\n"] {
        let torn = [before, garbage, after].concat();
        assert_eq!(good(&read(&torn)), good(&lines));
    }
}

fn read(data: &[u8]) -> Vec<NumberedLine<'static>> {
    let file = LineDefaults { memory_type: NodeType::Core, archived: false };
    let mut lines = Vec::new();
    read_lines(&mut &data[..], "file", file, &mut lines).expect("memory can be read");
    lines
}

fn good(lines: &[NumberedLine<'_>]) -> Vec<String> {
    lines.iter().filter_map(|it| it.written().ok()).collect()
}
