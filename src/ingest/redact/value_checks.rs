//! Decides whether a value is a secret or a placeholder, words, code or a path.
//!
//! Every function reads a bounded head of the value, so that judging costs the same for any length.

/// Maximum bytes of a value that are read.
pub(super) const HEAD_BYTES_MAX: usize = 256;

/// Bytes of the plain words that people choose as passwords.
const WORD_BYTES_MIN: usize = 4;
pub(super) const WORD_BYTES_MAX: usize = 24;

/// Returns whether `value` is a placeholder: a variable, a template, a mask, `YOUR_KEY_HERE`.
pub(super) fn is_placeholder(value: &str) -> bool {
    let value = value.trim();
    is_variable(value) || is_mask(value) || is_example(value)
}

/// Returns whether `value` is a variable: `$VAR`, `${VAR}`, `$(cmd)`, `{{ x }}`, `{x}`, `<x>`,
/// `[x]`, `%VAR%`, `%s`, `#{x}`, `!tag x`.
pub(super) fn is_variable(value: &str) -> bool {
    let wrapped = |open: &str, close: &str| {
        open.len() + close.len() <= value.len() && value.starts_with(open) && value.ends_with(close)
    };
    if ["${", "$(", "#{", "{{", "<%", "<?", "$[", "%("].iter().any(|open| value.starts_with(open)) {
        return true;
    }
    let tag = value.strip_prefix('!').is_some_and(|rest| {
        let name = rest.split(' ').next().unwrap_or("");
        2 < name.len() && name.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b':')
    });
    if tag || wrapped("{", "}") || wrapped("<", ">") || wrapped("[", "]") || wrapped("%", "%") {
        return true;
    }
    if value.len() <= 3 && value.starts_with('%') {
        return true;
    }
    // A shell variable, a YAML alias or anchor, a reference in code.
    let name = value.strip_prefix("$env:").or_else(|| value.strip_prefix(['$', '*', '&']));
    name.is_some_and(|name| is_identifier(name) && !is_random(name))
}

/// Returns whether `value` is a mask: one filler character repeated, or a redaction marker.
/// Examples are `xxxx`, `****`, `...`, `…`, `----`.
fn is_mask(value: &str) -> bool {
    let mut masks = value.chars().filter(|at| !matches!(at, '-' | '.' | ' ' | '_'));
    let first = masks.next();
    let masked = match first {
        None => true,
        Some(first @ ('x' | 'X' | '*' | '•' | '…' | '#' | '?' | '0' | '●' | '█')) => {
            masks.all(|next| next == first)
        }
        Some(_) => false,
    };
    masked || value.starts_with("«redacted:") || value.starts_with("[REDACTED")
}

/// Returns whether `value` is an example: `YOUR_API_KEY_HERE`, `changeme`, `<insert token>`.
fn is_example(value: &str) -> bool {
    let lower = head(value).to_ascii_lowercase();
    let lower = lower.trim_start_matches(['<', '[', '{', '(']);
    let begins = |words: &[&str]| {
        words.iter().any(|word| {
            lower.strip_prefix(word).is_some_and(|rest| {
                rest.is_empty() || rest.starts_with(['-', '_', ' ', '.', '>', ']', '}'])
            })
        })
    };
    let starts = lower.starts_with("your")
        || begins(&["insert", "replace", "enter", "put", "placeholder", "example", "sample"])
        || begins(&["changeme", "change", "todo", "tbd", "fixme", "dummy", "redacted", "paste"]);
    let ends = ["_here", "-here", " here", "-goes-here", "...", "…", "xxxx", "placeholder"]
        .iter()
        .any(|end| lower.ends_with(end));
    (starts || ends) && !split(value).any(is_random)
}

/// Returns whether `value` is a word in place of a value: a type, nothing, an algorithm.
pub(super) fn is_reserved(value: &str) -> bool {
    const WORDS: &str = " true false yes no on off none null nil undefined nan void any unknown \
        string str text number int integer bool u8 i32 u32 i64 u64 usize isize f64 &str \
        boolean float bytes char varchar object array \
        required optional hidden password passwd secret token key value default prompt ask \
        include omit same-origin basic bearer oauth oauth2 jwt saml mfa totp \
        base64 base64url hex sha1 sha256 sha384 sha512 md5 bcrypt scrypt argon2 argon2i argon2id \
        pbkdf2 aes128 aes256 rsa2048 rsa4096 x509 pkcs1 pkcs8 pkcs12 hs256 hs512 rs256 es256 \
        ed25519 utf8 utf-8 uuid uuidv4 current-password new-password current_password \
        new_password ";
    let lower = head(value).to_ascii_lowercase();
    let bare = lower.trim_end_matches(['?', '!', '[', ']', '*', '&', ')', '(']);
    !bare.contains(' ') && WORDS.contains(&format!(" {bare} "))
}

/// Returns whether `value` is a plain word that a person may have chosen: of small letters, and
/// describing no field.
pub(super) fn is_chosen_word(value: &str) -> bool {
    let n_bytes = value.len();
    // `db_password: userpassword`
    let is_name = |it: &&str| value.ends_with(*it) && n_bytes < it.len() + WORD_BYTES_MIN;
    (WORD_BYTES_MIN..=WORD_BYTES_MAX).contains(&n_bytes)
        && value.bytes().all(|byte| byte.is_ascii_lowercase())
        && !is_describing(value)
        && !is_reserved(value)
        && !["password", "passwd", "passphrase", "token", "secret"].iter().any(is_name)
}

/// Returns whether `value` is a word that says what a password is, or what is done with it.
pub(super) fn is_describing(value: &str) -> bool {
    const WORDS: &str = " text textarea textbox field input output form data type enum json yaml \
        toml file files path env environ environment variable param parameter argument arg args \
        option options config settings default null empty blank unset missing given set enabled \
        disabled enable disable allowed denied forbidden never always sometimes manual automatic \
        auto once masked masking shown visible invisible plain plaintext cleartext hashed \
        encrypted encoded salted rotated rotate expired expires supported unsupported unknown \
        invalid valid wrong incorrect correct mandatory needed same other another random generated \
        generate interactive keyring keychain vault stdin secure weak strong short long new old \
        current previous confirm confirmation repeat again reset forgot forgotten login logon \
        signin signup user username email name account credential credentials pass passcode pin \
        code hash digest salt nonce cert certificate note notes description title label hint self \
        this that some bytes strings numeric column attribute property element node values item \
        items list tuple result response request body header headers cookie session state passwort \
        kennwort senha contraseña heslo lösenord adgangskode wachtwoord parool salasana guest \
        anonymous ";
    WORDS.contains(&format!(" {} ", head(value).to_lowercase()))
}

/// Returns whether `value` is a constant as code names it: `READ_ONLY`.
pub(super) fn is_constant(value: &str) -> bool {
    value.contains('_') && value.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_')
}

/// Returns whether `value` is a phrase that opens something: four plain words or more.
pub(super) fn is_passphrase(value: &str) -> bool {
    let is_word = |it: &str| it.bytes().all(|byte| byte.is_ascii_lowercase());
    4 <= value.split(' ').count() && value.split(' ').all(is_word)
}

/// Returns whether `value` is code: `process.env.X`, `os.environ["X"]`, `getenv('X')`,
/// `config.token`, `Option<String>`, `a::b`.
pub(super) fn is_code(value: &str) -> bool {
    let value = head(value);
    let value = value.trim_start_matches(['&', '*', '!', '(', '@']);
    let value = value.strip_prefix("::").unwrap_or(value);
    let name_len = value
        .bytes()
        .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$'))
        .count();
    let (name, rest) = value.split_at(name_len);
    let items = value.strip_prefix('[').unwrap_or("");
    if is_small_number(items.split([',', ';', ']']).next().unwrap_or("")) {
        return true;
    }
    if !is_identifier(name) || is_random(name) && !is_camel_case(name) {
        return false;
    }
    if rest.starts_with("!(") || rest.starts_with("![") || rest.starts_with("!{") {
        return true;
    }
    if rest.starts_with(['(', '[']) || rest.starts_with("::") || rest.starts_with("->") {
        // A call closes, or goes on after a comma; a password with a bracket in it rarely does.
        return rest.ends_with([')', ']', ',', ';', '(', '[', '"', '\''])
            || rest.starts_with("::")
            || rest.starts_with("->");
    }
    if rest.starts_with('<') {
        let is_part = |at: char| at.is_ascii_alphanumeric() || " <>_:,&';[]".contains(at);
        return rest.contains('>') && rest.chars().all(is_part) || rest.len() == 1;
    }
    let Some(rest) = rest.strip_prefix('.').or_else(|| rest.strip_prefix("?.")) else {
        return false;
    };
    let path = rest.split(['(', '[']).next().unwrap_or("");
    let path = path.trim_end_matches([',', ';', ')']);
    !path.is_empty()
        && path.split('.').all(|part| {
            let part = part.trim_end_matches(['?', '!']);
            is_identifier(part) && !is_random(part)
        })
}

/// Returns whether `value` is a number as code writes it, but not one of digits only: `0x1F`,
/// `126u16`, `1_000`, `-1.5`.
pub(super) fn is_small_number(value: &str) -> bool {
    let digits = value.strip_prefix("0x").unwrap_or(value);
    let bare = ["u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64", "usize", "isize"]
        .iter()
        .find_map(|ending| digits.strip_suffix(ending))
        .unwrap_or(digits.trim_start_matches('-'));
    let is_part = |byte: u8| match digits.len() == value.len() {
        true => byte.is_ascii_digit() || b"_.".contains(&byte),
        false => byte.is_ascii_hexdigit() || byte == b'_',
    };
    bare.len() < 16
        && !bare.is_empty()
        && bare.bytes().all(is_part)
        && !value.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns whether `value` is a location: `/etc/key.pem`, `./id_rsa`, `~/.ssh/id`, `C:\keys`,
/// `https://…`, `key.pem`.
pub(super) fn is_path_or_url(value: &str) -> bool {
    let value = head(value);
    let rooted =
        ["/", "./", "../", "~/", "file:", "http://", "https://", "arn:", "vault:", "op://"]
            .iter()
            .any(|root| value.starts_with(root));
    let drive = value.as_bytes().get(1..3).is_some_and(|at| at == b":\\");
    let ending = [".pem", ".key", ".txt", ".json", ".md", ".yaml", ".yml", ".pub", ".crt", ".env"]
        .iter()
        .any(|ending| value.ends_with(ending));
    (rooted || drive || ending) && !split(value).any(is_random)
}

/// Returns whether a text of several words is prose: it has a word that glues sentences or labels a
/// field.
pub(super) fn is_prose(value: &str) -> bool {
    const GLUE: &str = " a an the your you my our its is are was be must may can will should for \
        to of in on at as by from with without or and not no if when then than this that these it \
        enter invalid missing please forgot forgotten reset change changed new old confirm repeat \
        see required optional wrong incorrect expired show hide set use used using create via \
        de la le passe mot password passwords token tokens secret secrets key keys user \
        username login field ";
    head(value).split_whitespace().any(|word| {
        let word = word.trim_matches(|at: char| !at.is_alphanumeric()).to_ascii_lowercase();
        !word.is_empty() && GLUE.contains(&format!(" {word} "))
    })
}

/// Returns whether `value` has letters with digits or with signs, as chosen passwords have.
pub(super) fn is_varied(value: &str) -> bool {
    let value = head(value);
    let has = |test: fn(char) -> bool| value.chars().any(test);
    let letters = has(char::is_alphabetic);
    let digits = has(|at| at.is_ascii_digit());
    let signs =
        has(|at| at.is_ascii_punctuation() && !matches!(at, '-' | '_' | '.' | '/' | ':' | ','));
    letters && (digits || signs) || digits && signs
}

/// Returns whether `value` is random: 8 characters or more, with many turns between letters and
/// digits. A word with a number has fewer turns.
pub(super) fn is_random(value: &str) -> bool {
    let value = head(value);
    // Long, of both cases in many turns, and with few letters twice.
    let n_turns = n_turns(value);
    if 20 <= value.len() && 8 <= n_turns && 2 * value.len() <= 5 * n_turns && 3.6 <= entropy(value)
    {
        return true;
    }
    if value.chars().count() < 8 || !value.bytes().any(|byte| byte.is_ascii_digit()) {
        return false;
    }
    if !value.chars().any(char::is_alphabetic) {
        return false;
    }
    let n_digits_max =
        value.split(|at: char| !at.is_ascii_digit()).map(str::len).max().unwrap_or(0);
    // Within one run of letters and digits, a word has one number at its end or beginning.
    let n_breaks_max = split(value).map(n_breaks).max().unwrap_or(0);
    let is_hex = 16 <= value.len() && value.bytes().all(|byte| byte.is_ascii_hexdigit());
    2 < n_breaks_max || 4 < n_digits_max && 0 < n_breaks_max || is_hex
}

/// Returns the Shannon entropy of the bytes, in bits per byte.
pub(super) fn entropy(value: &str) -> f64 {
    let mut counts = [0_u32; 256];
    let head = head(value);
    for byte in head.bytes() {
        counts[usize::from(byte)] += 1;
    }
    let total = head.len() as f64;
    counts.iter().filter(|count| 0 < **count).fold(0.0, |sum, count| {
        let share = f64::from(*count) / total;
        sum - share * share.log2()
    })
}

/// Returns the head of `value` that is read.
pub(super) fn head(value: &str) -> &str {
    &value[..value.floor_char_boundary(HEAD_BYTES_MAX)]
}

fn is_identifier(name: &str) -> bool {
    name.bytes().next().is_some_and(|first| first.is_ascii_alphabetic() || b"_$".contains(&first))
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_$".contains(&byte))
}

/// Returns whether a name is words in `CamelCase`: of letters, each word of two or more, and of
/// four in the mean. Random letters change their case twice as often.
pub(super) fn is_camel_case(name: &str) -> bool {
    if !name.bytes().all(|it| it.is_ascii_alphabetic()) {
        return false;
    }
    let small = name.split(|it: char| it.is_ascii_uppercase());
    let words: Vec<&str> = small.skip(1).collect();
    2 <= words.len() && words.iter().all(|it| !it.is_empty()) && 4 * words.len() <= name.len()
}

/// Returns the runs of letters and digits.
fn split(value: &str) -> impl Iterator<Item = &str> {
    head(value).split(|at: char| !at.is_alphanumeric()).filter(|part| !part.is_empty())
}

/// Counts the turns between letters and digits.
fn n_breaks(run: &str) -> usize {
    let is_digit: Vec<bool> = run.chars().map(|at| at.is_ascii_digit()).collect();
    is_digit.windows(2).filter(|pair| pair[0] != pair[1]).count()
}

/// Counts the case changes between neighbouring letters.
fn n_turns(value: &str) -> usize {
    let is_turn = |pair: &&[u8]| {
        pair.iter().all(u8::is_ascii_alphabetic)
            && pair[0].is_ascii_uppercase() != pair[1].is_ascii_uppercase()
    };
    value.as_bytes().windows(2).filter(is_turn).count()
}
