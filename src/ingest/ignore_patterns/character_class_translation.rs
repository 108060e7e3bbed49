//! Translates character classes, `[a-z]`, from git's notation to that of the globs. Named classes
//! and backslashes are resolved, and no class matches the `/` between names.

/// Git's named classes, and their characters in the globs' notation.
const NAMES: [(&str, &str); 12] = [
    ("alnum", "0-9A-Za-z"),
    ("alpha", "A-Za-z"),
    ("blank", " \t"),
    ("cntrl", "\u{0}-\u{1f}\u{7f}"),
    ("digit", "0-9"),
    ("graph", "\"-.0-~"),
    ("lower", "a-z"),
    ("print", " \"-.0-~"),
    ("punct", "\"-.:-@[-`{-~"),
    ("space", "\t-\r "),
    ("upper", "A-Z"),
    ("xdigit", "0-9A-Fa-f"),
];

/// Parses a class after its `[`; returns it and the rest of the text.
pub(super) fn read(text: &str) -> Result<(String, &str), String> {
    let unclosed = || "a `[` has no `]`; write `\\[` for the character itself".to_owned();
    let (is_negated, mut rest) = match text.strip_prefix(['!', '^']) {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let mut class = CharacterClass::default();
    let mut is_first = true;
    loop {
        if let Some(after) = rest.strip_prefix(']').filter(|_| !is_first) {
            return Ok((class.show(is_negated), after));
        }
        is_first = false;
        if let Some((name, after)) = rest.strip_prefix("[:").and_then(|it| it.split_once(":]")) {
            class.add_named(name)?;
            rest = after;
            continue;
        }
        let (low, after) = member(rest).ok_or_else(unclosed)?;
        rest = after;
        let high = rest.strip_prefix('-').filter(|it| !it.starts_with(']'));
        match high.and_then(member) {
            Some((high, after)) => {
                class.add_range(low, high)?;
                rest = after;
            }
            None => class.add_range(low, low)?,
        }
    }
}

/// Parses one character, with or without a backslash before it.
fn member(text: &str) -> Option<(char, &str)> {
    let mut chars = text.strip_prefix('\\').unwrap_or(text).chars();
    Some((chars.next()?, chars.as_str()))
}

/// The characters of a class; those with a meaning that depends on their place are kept apart.
#[derive(Default)]
struct CharacterClass {
    ranges: String,
    has_bracket: bool,
    has_dash: bool,
    /// `!` and `^`, which negate at the beginning.
    signs: String,
}

impl CharacterClass {
    fn add_named(&mut self, name: &str) -> Result<(), String> {
        let found = NAMES.iter().find(|(known, _)| *known == name);
        let (name, members) = found.ok_or_else(|| {
            let names: Vec<&str> = NAMES.iter().map(|(name, _)| *name).collect();
            format!("there is no class `[:{name}:]`; there are {}", names.join(", "))
        })?;
        self.ranges.push_str(members);
        if matches!(*name, "graph" | "print" | "punct") {
            self.signs.push('!');
        }
        Ok(())
    }

    fn add_range(&mut self, low: char, high: char) -> Result<(), String> {
        if high < low {
            return Err(format!("`{low}-{high}` is no range; write `{high}-{low}`"));
        }
        match (low, high) {
            (']', ']') => self.has_bracket = true,
            ('-', '-') => self.has_dash = true,
            ('!' | '^', _) if low == high => self.signs.push(low),
            ('/', '/') => (),
            // Around the separator, and so that no sign gets a meaning from its neighbour.
            (low, high) if low <= '/' && '/' <= high => {
                if low < '/' {
                    self.add_range(low, '.')?;
                }
                if '/' < high {
                    self.add_range('0', high)?;
                }
            }
            (']' | '-' | '!' | '^', high) => {
                self.add_range(low, low)?;
                // All four are followed by a character.
                let next = char::from_u32(u32::from(low) + 1).unwrap_or(high);
                self.add_range(next, high)?;
            }
            (low, high @ (']' | '-')) => {
                self.add_range(high, high)?;
                let before = char::from_u32(u32::from(high) - 1).unwrap_or(low);
                self.add_range(low, before)?;
            }
            (low, high) if low == high => self.ranges.push(low),
            (low, high) => self.ranges.extend([low, '-', high]),
        }
        Ok(())
    }

    /// Prints the class in the globs' notation, with each sign where it is literal. The zero
    /// character, which no name has, separates signs that would mean something together.
    fn show(&self, is_negated: bool) -> String {
        let CharacterClass { ranges, has_bracket, has_dash, signs } = self;
        let bracket = if *has_bracket { "]" } else { "" };
        let dash = if *has_dash { "-" } else { "" };
        match is_negated {
            true => format!("[!{bracket}/{ranges}{signs}{dash}]"),
            false => format!("[{bracket}\u{0}{ranges}{signs}{dash}]"),
        }
    }
}
