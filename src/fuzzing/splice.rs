//! Changes of a file in place, of any file and any words: the new bytes are read as they should be,
//! and what is beside the change stays as it was, to the byte.

use crate::memory::compile::agent_edit_write_back::{EditKind, splice_text};

/// Panics when a change violates an invariant. `data` is a byte for the kind of the change, one for
/// the node, then the file and the words, with a zero byte between them.
pub fn splice(data: &[u8]) {
    let [kind, nth, rest @ ..] = data else { return };
    let mut parts = rest.splitn(2, |it| *it == 0);
    let (file, words) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let words = String::from_utf8_lossy(words);
    let kind = match kind % 4 {
        0 => EditKind::Replace,
        1 => EditKind::Append,
        2 => EditKind::Remove,
        _ => EditKind::Lift,
    };
    let Some(changed) = splice_text(file, usize::from(*nth), kind, &words) else { return };
    let n_same = file.iter().zip(&changed).take_while(|(a, b)| a == b).count();
    let longest = file.len().min(changed.len()) - n_same;
    let ends = file.iter().rev().zip(changed.iter().rev());
    let n_same_after = ends.take(longest).take_while(|(a, b)| a == b).count();
    if let EditKind::Append = kind {
        // Nothing is taken out: the file is its beginning and its end, and between them is all
        // that is new.
        assert_eq!(n_same + n_same_after, file.len(), "{:?}", String::from_utf8_lossy(&changed));
    }
}
