//! Damaged files of memories: each line is taken as it is, or refused with its number.

use super::*;
use crate::fuzzing::random_cases::Dice;
use crate::model::identity::ContentHash;

/// A line of a damaged file, and what must become of it.
struct Fragment {
    bytes: Vec<u8>,
    fate: Fate,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Good,
    Bad,
    /// Damaged, and perhaps still a memory.
    Either,
}

struct Damage(Dice);

impl Damage {
    /// Damages a line.
    fn apply(&mut self, good: &[u8], other: &[u8]) -> Fragment {
        let mut bytes = good.to_vec();
        let at = self.0.below(good.len());
        let text = String::from_utf8(good.to_vec()).unwrap();
        let swapped = |from: &str, to: &str| text.replacen(from, to, 1).into_bytes();
        let (bytes, fate) = match self.0.below(16) {
            0 => (good[..at].to_vec(), if at == 0 { Fate::Either } else { Fate::Bad }),
            1 => {
                bytes[at] ^= 1 << self.0.below(8);
                (bytes, Fate::Either)
            }
            2 => {
                bytes[at] = *self.0.pick(&[0xff, 0xc0, 0x80, 0xed]);
                let is_text = std::str::from_utf8(&bytes).is_ok();
                (bytes, if is_text { Fate::Either } else { Fate::Bad })
            }
            3 => (swapped(r#""content":"#, r#""content":[7],"was":"#), Fate::Bad),
            4 => (swapped(r#""access_count":0"#, r#""access_count":1e999"#), Fate::Bad),
            5 => (
                swapped(r#""access_count":0"#, r#""access_count":99999999999999999999"#),
                Fate::Bad,
            ),
            6 => (swapped(r#""archived":false"#, r#""archived":"false""#), Fate::Bad),
            7 => (swapped(r#""tags":["#, r#""tags":[null,"#), Fate::Bad),
            // Again, as old: nothing changes.
            8 => (good.to_vec(), Fate::Either),
            9 => ([b"\xef\xbb\xbf", good].concat(), Fate::Good),
            10 => ([good, b"\r"].concat(), Fate::Good),
            11 => ([good, other].concat(), Fate::Bad),
            12 => (good.iter().flat_map(|it| [*it, 0]).collect(), Fate::Bad),
            13 => (vec![b'['; 1 + self.0.below(5_000)], Fate::Bad),
            14 => (swapped(r#""id":""#, r#""id":"x"#), Fate::Bad),
            _ => (swapped(r#""created_at":""#, r#""created_at":"-"#), Fate::Bad),
        };
        // A line break by chance would make two lines.
        let bytes = bytes.into_iter().map(|it| if it == b'\n' { b' ' } else { it }).collect();
        Fragment { bytes, fate }
    }
}

/// Returns the id and the line of a memory of a file.
fn good_line(file: usize, nth: usize) -> (String, String) {
    // Ids of which no two differ in a bit alone.
    let number = ContentHash::of(&format!("{file} {nth}")).0;
    let id = format!("{:08x}-0000-4000-8000-{:012x}", number >> 32, number & 0xffff_ffff);
    let memory_type = ["core", "learning", "task"][nth % 3];
    let mut memory = json!({
        "id": id, "type": memory_type, "content": format!("Füllung {nth} of file {file} 🦀"),
        "category": "other", "created_at": "2026-01-01T10:00:00Z",
        "updated_at": "2026-01-01T10:00:00Z", "accessed_at": "2026-01-01T10:00:00Z",
        "access_count": 0, "tags": ["a", "漢"], "importance": "low", "archived": false,
    });
    if memory_type == "task" {
        memory["category"] = "blocked".into();
        memory["task_metadata"] = json!({"status": "blocked", "blockers": ["review"]});
    }
    (id, memory.to_string())
}

#[test]
fn damaged_files_lose_the_damaged_lines_alone() {
    const LINES: usize = 6;
    let n_files = n_cases(300) as usize;
    let mut world = World::new();
    world.reopen(TypedMemorySettings { max_core: Some(u32::MAX), ..Default::default() });
    let memory = world.memory();
    let mut expected = BTreeMap::new();
    let mut n_refused = 0;
    for file in 0..n_files {
        let mut damage = Damage(Dice::new(file as u64));
        let mut fragments = Vec::new();
        for nth in 0..LINES {
            let (id, good) = good_line(file, nth);
            let fragment = match damage.0.one_in(2) {
                true => Fragment { bytes: good.clone().into_bytes(), fate: Fate::Good },
                false => damage.apply(good.as_bytes(), good_line(file, nth + 1).1.as_bytes()),
            };
            if fragment.fate == Fate::Good {
                expected.insert(id, good);
            }
            fragments.push(fragment);
        }
        let mut bytes: Vec<u8> = Vec::new();
        for fragment in &fragments {
            bytes.extend(&fragment.bytes);
            bytes.push(b'\n');
        }
        if damage.0.one_in(2) {
            bytes.pop();
        }
        crate::fuzzing::memories::memories(&bytes);
        let done = import(memory, &[("f", CORE, &bytes)]);
        let numbers = done.refused.iter().map(|it| {
            let (place, why) = it.split_once(": ").unwrap();
            assert!(!why.is_empty() && !why.contains('\n'), "{it:?}");
            place.strip_prefix("f:").unwrap().parse::<usize>().unwrap() - 1
        });
        let numbers: Vec<usize> = numbers.collect();
        let refused: BTreeSet<usize> = numbers.iter().copied().collect();
        assert_eq!(refused.len(), numbers.len(), "file {file}: {:?}", done.refused);
        for (nth, fragment) in fragments.iter().enumerate() {
            let is_refused = refused.contains(&nth);
            let shown = String::from_utf8_lossy(&fragment.bytes);
            assert!(!is_refused || fragment.fate != Fate::Good, "file {file}: {shown}");
            assert!(is_refused || fragment.fate != Fate::Bad, "file {file}: {shown}");
        }
        let n_lines = fragments.iter().filter(|it| !it.bytes.is_empty()).count();
        let n_read = done.n_added + done.n_updated + done.n_unchanged + done.refused.len();
        assert_eq!(n_read, n_lines, "file {file}");
        n_refused += refused.len();
    }
    assert!(n_files < n_refused, "{n_refused}");
    let out = export(memory);
    let lines: BTreeSet<&str> = out.values().flat_map(|it| it.lines()).collect();
    for (id, good) in &expected {
        assert!(lines.contains(good.as_str()), "{id}");
    }
    assert!(3 * n_files < expected.len(), "{}", expected.len());
    world.assert_sound();
}
