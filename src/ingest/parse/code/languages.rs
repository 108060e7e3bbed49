//! Programming languages, a row each: how a definition begins, and how comments and texts look.

/// A programming language.
#[derive(Debug)]
pub(super) struct Language {
    pub(super) name: &'static str,
    /// The endings of its files.
    endings: &'static [&'static str],
    pub(super) layout: Layout,
    /// Marks after which the rest of a line is a comment.
    pub(super) comments: &'static [&'static str],
    /// The marks around comments of several lines.
    pub(super) blocks: &'static [(&'static str, &'static str)],
    pub(super) quotes: &'static [Quote],
    /// The marks before attributes, which stand above a definition or in its line.
    pub(super) attributes: &'static [&'static str],
    /// Words before the one that defines.
    pub(super) modifiers: &'static [&'static str],
    /// Words that define something.
    pub(super) definers: &'static [&'static str],
    /// Words of definitions that have members.
    pub(super) containers: &'static [&'static str],
    /// Words that only mention something unless a body follows.
    pub(super) bodied: &'static [&'static str],
    pub(super) functions: KeywordlessFunctions,
    /// Words that go on with a definition in a line of their own.
    pub(super) follows: &'static [&'static str],
    pub(super) traits: SyntaxQuirks,
}

/// The means by which a definition is bounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// Brackets.
    Braces,
    /// The indentation of its lines.
    Indented,
    /// Unknown: the file is one text.
    Unknown,
}

/// Where a name with parentheses and a body defines a function, without a word that says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeywordlessFunctions {
    Named,
    /// In a class only.
    Members,
    Anywhere,
}

/// Peculiarities of a language's notation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SyntaxQuirks {
    /// Whether comments nest.
    pub(super) nests_comments: bool,
    /// Whether lines with `#` are for a preprocessor.
    pub(super) has_preprocessor: bool,
    /// Whether `/…/` is a pattern.
    pub(super) has_patterns: bool,
    /// How `<<WORD` begins a text up to a line with that word.
    pub(super) heredoc: Heredoc,
    /// Whether words are the same in capitals.
    pub(super) ignores_case: bool,
}

/// The marks before the word that ends a text of several lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Heredoc {
    None,
    /// `<<WORD`, `<<-WORD` or `<<~WORD`.
    Joined,
    /// The same, with white space before the word.
    Spaced,
    /// `<<<WORD`.
    Three,
}

/// A kind of quoted text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quote {
    pub(super) open: &'static str,
    pub(super) close: &'static str,
    pub(super) form: QuoteForm,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum QuoteForm {
    /// On one line, with escapes.
    Line,
    /// On any lines, with escapes.
    Lines,
    /// On any lines, without escapes.
    Raw,
    /// One character, or no text at all: a lifetime in Rust has a mark like it.
    Character,
}

const fn quote(open: &'static str, close: &'static str, form: QuoteForm) -> Quote {
    Quote { open, close, form }
}

const DOUBLE: Quote = quote("\"", "\"", QuoteForm::Line);
const DOUBLE_LINES: Quote = quote("\"", "\"", QuoteForm::Lines);
const SINGLE: Quote = quote("'", "'", QuoteForm::Line);
const CHARACTER: Quote = quote("'", "'", QuoteForm::Character);
const BACKTICK: Quote = quote("`", "`", QuoteForm::Lines);
const RAW_BACKTICK: Quote = quote("`", "`", QuoteForm::Raw);
const TRIPLE: Quote = quote("\"\"\"", "\"\"\"", QuoteForm::Lines);

const SLASHES: &[(&str, &str)] = &[("/*", "*/")];

const PLAIN: SyntaxQuirks = SyntaxQuirks {
    nests_comments: false,
    has_preprocessor: false,
    has_patterns: false,
    heredoc: Heredoc::None,
    ignores_case: false,
};

/// A language without rules.
const UNKNOWN: Language = Language {
    name: "",
    endings: &[],
    layout: Layout::Unknown,
    comments: &[],
    blocks: &[],
    quotes: &[],
    attributes: &[],
    modifiers: &[],
    definers: &[],
    containers: &[],
    bodied: &[],
    functions: KeywordlessFunctions::Named,
    follows: &[],
    traits: PLAIN,
};

/// A language with braces and the comments of C.
const BRACES: Language =
    Language { layout: Layout::Braces, comments: &["//"], blocks: SLASHES, ..UNKNOWN };

/// The rules that JavaScript and TypeScript share.
const SCRIPT: Language = Language {
    quotes: &[DOUBLE, SINGLE, BACKTICK],
    attributes: &["@"],
    modifiers: &[
        "export",
        "default",
        "async",
        "abstract",
        "declare",
        "static",
        "public",
        "private",
        "protected",
        "readonly",
        "override",
        "get",
        "set",
    ],
    definers: &[
        "function",
        "class",
        "interface",
        "enum",
        "type",
        "namespace",
        "module",
        "const",
        "let",
        "var",
    ],
    containers: &["class", "namespace", "module"],
    functions: KeywordlessFunctions::Members,
    traits: SyntaxQuirks { has_patterns: true, ..PLAIN },
    ..BRACES
};

/// Every language. A word that is in no list is loose code.
pub(super) const LANGUAGES: &[Language] = &[
    Language {
        name: "rust",
        endings: &["rs"],
        quotes: &[
            quote("r\"", "\"", QuoteForm::Raw),
            quote("r#\"", "\"#", QuoteForm::Raw),
            quote("r##\"", "\"##", QuoteForm::Raw),
            quote("r###\"", "\"###", QuoteForm::Raw),
            DOUBLE_LINES,
            CHARACTER,
        ],
        attributes: &["#[", "#!["],
        modifiers: &["pub", "async", "unsafe", "extern", "const", "default", "auto"],
        definers: &[
            "fn",
            "struct",
            "enum",
            "union",
            "trait",
            "impl",
            "mod",
            "type",
            "macro_rules!",
        ],
        containers: &["trait", "impl", "mod"],
        bodied: &["mod"],
        traits: SyntaxQuirks { nests_comments: true, ..PLAIN },
        ..BRACES
    },
    Language {
        name: "python",
        endings: &["py", "pyi"],
        layout: Layout::Indented,
        comments: &["#"],
        quotes: &[TRIPLE, quote("'''", "'''", QuoteForm::Lines), DOUBLE, SINGLE],
        attributes: &["@"],
        modifiers: &["async"],
        definers: &["def", "class"],
        containers: &["class"],
        ..UNKNOWN
    },
    Language { name: "javascript", endings: &["js", "mjs", "cjs", "jsx"], ..SCRIPT },
    Language { name: "typescript", endings: &["ts", "mts", "cts", "tsx"], ..SCRIPT },
    Language {
        name: "go",
        endings: &["go"],
        quotes: &[DOUBLE, RAW_BACKTICK, CHARACTER],
        definers: &["func", "type"],
        ..BRACES
    },
    Language {
        name: "java",
        endings: &["java"],
        quotes: &[TRIPLE, DOUBLE, CHARACTER],
        attributes: &["@"],
        modifiers: &[
            "public",
            "protected",
            "private",
            "abstract",
            "final",
            "static",
            "sealed",
            "non",
            "strictfp",
            "default",
            "synchronized",
            "native",
        ],
        definers: &["class", "interface", "enum", "record"],
        containers: &["class", "interface", "enum", "record"],
        functions: KeywordlessFunctions::Anywhere,
        ..BRACES
    },
    Language {
        name: "c",
        endings: &["c"],
        quotes: &[DOUBLE, CHARACTER],
        modifiers: &["static", "typedef", "const", "inline", "extern"],
        definers: &["struct", "union", "enum"],
        bodied: &["struct", "union", "enum"],
        functions: KeywordlessFunctions::Anywhere,
        traits: SyntaxQuirks { has_preprocessor: true, ..PLAIN },
        ..BRACES
    },
    Language {
        name: "cpp",
        // A header may be of either language, and these rules read both.
        endings: &["cc", "cpp", "cxx", "h", "hh", "hpp", "hxx", "ipp"],
        quotes: &[quote("R\"(", ")\"", QuoteForm::Raw), DOUBLE, CHARACTER],
        attributes: &["template", "[["],
        modifiers: &[
            "static",
            "typedef",
            "const",
            "constexpr",
            "inline",
            "extern",
            "virtual",
            "explicit",
            "friend",
        ],
        definers: &["class", "struct", "union", "enum"],
        containers: &["class", "struct"],
        bodied: &["class", "struct", "union", "enum"],
        functions: KeywordlessFunctions::Anywhere,
        follows: &["requires"],
        traits: SyntaxQuirks { has_preprocessor: true, ..PLAIN },
        ..BRACES
    },
    Language {
        name: "csharp",
        endings: &["cs"],
        quotes: &[TRIPLE, quote("@\"", "\"", QuoteForm::Raw), DOUBLE, CHARACTER],
        attributes: &["["],
        modifiers: &[
            "public",
            "protected",
            "private",
            "internal",
            "abstract",
            "sealed",
            "static",
            "partial",
            "readonly",
            "unsafe",
            "async",
            "override",
            "virtual",
            "file",
            "ref",
        ],
        definers: &["class", "interface", "struct", "enum", "record", "delegate"],
        containers: &["class", "interface", "struct", "record"],
        functions: KeywordlessFunctions::Anywhere,
        follows: &["where"],
        traits: SyntaxQuirks { has_preprocessor: true, ..PLAIN },
        ..BRACES
    },
    Language {
        name: "ruby",
        endings: &["rb", "rake"],
        layout: Layout::Indented,
        comments: &["#"],
        blocks: &[("\n=begin", "\n=end")],
        quotes: &[DOUBLE, SINGLE],
        modifiers: &["private", "protected", "public", "private_class_method"],
        definers: &["def", "class", "module"],
        containers: &["class", "module"],
        follows: &["end", "rescue", "ensure", "else", "elsif", "when", "in"],
        traits: SyntaxQuirks { heredoc: Heredoc::Joined, has_patterns: true, ..PLAIN },
        ..UNKNOWN
    },
    Language {
        name: "php",
        endings: &["php"],
        comments: &["//", "#"],
        quotes: &[DOUBLE, SINGLE],
        attributes: &["#["],
        modifiers: &["abstract", "final", "public", "protected", "private", "static", "readonly"],
        definers: &["function", "class", "interface", "trait", "enum"],
        containers: &["class", "interface", "trait", "enum"],
        traits: SyntaxQuirks { heredoc: Heredoc::Three, ..PLAIN },
        ..BRACES
    },
    Language {
        name: "shell",
        endings: &["sh", "bash", "zsh"],
        comments: &["#"],
        blocks: &[],
        quotes: &[DOUBLE_LINES, quote("'", "'", QuoteForm::Raw)],
        definers: &["function"],
        bodied: &["function"],
        functions: KeywordlessFunctions::Anywhere,
        traits: SyntaxQuirks { heredoc: Heredoc::Spaced, ..PLAIN },
        ..BRACES
    },
    Language {
        name: "sql",
        endings: &["sql"],
        layout: Layout::Indented,
        comments: &["--"],
        blocks: SLASHES,
        quotes: &[
            quote("$$", "$$", QuoteForm::Raw),
            quote("'", "'", QuoteForm::Raw),
            quote("\"", "\"", QuoteForm::Raw),
        ],
        definers: &["create", "alter"],
        follows: &[
            "begin", "end", "as", "on", "for", "from", "where", "when", "returns", "language",
            "using", "with", "after", "before", "instead", "select", "strict", "without",
        ],
        traits: SyntaxQuirks { ignores_case: true, ..PLAIN },
        ..UNKNOWN
    },
];

/// Endings of source files in languages without rules.
const OTHER_ENDINGS: &[&str] = &[
    "asm", "awk", "bat", "clj", "cljs", "cmake", "css", "dart", "el", "erl", "ex", "exs", "f90",
    "fs", "gradle", "graphql", "groovy", "hs", "jl", "kt", "kts", "less", "lisp", "lua", "m", "ml",
    "mli", "mm", "nim", "nix", "pl", "pm", "proto", "ps1", "r", "s", "scala", "scss", "svelte",
    "swift", "tcl", "tf", "vim", "vue", "zig",
];

/// Returns the place of the language of files with an ending. Those without rules come last.
pub(super) fn nth_of(ending: &str) -> Option<usize> {
    let is_it = |it: &&str| it.eq_ignore_ascii_case(ending);
    let known = LANGUAGES.iter().position(|it| it.endings.iter().any(is_it));
    known.or_else(|| OTHER_ENDINGS.iter().position(is_it).map(|at| LANGUAGES.len() + at))
}

/// Returns the name of the language at a place, and its rules.
pub(super) fn nth(at: usize) -> (&'static str, &'static Language) {
    match LANGUAGES.get(at) {
        Some(language) => (language.name, language),
        None => (OTHER_ENDINGS.get(at - LANGUAGES.len()).copied().unwrap_or(""), &UNKNOWN),
    }
}
