//! Words that say little about a subject: function words, and those of questions and requests.

/// Returns whether a word is a function word.
pub(super) fn is_function_word(word: &str) -> bool {
    FUNCTION_WORDS.binary_search(&word).is_ok()
}

/// Returns whether a word may be one of the request rather than of its subject. Where no node has
/// it, it is.
pub(super) fn is_request_word(word: &str) -> bool {
    REQUEST_WORDS.binary_search(&word).is_ok()
}

/// Returns whether a word is written as the noun that a function word may be: `IT`, `US` and `WHO`,
/// and the name `Will` where a small word is before it or its genitive is there.
pub(super) fn is_written_as_noun(word: &str, is_inside: bool) -> bool {
    match word {
        "IT" | "US" | "WHO" => true,
        "Will" => is_inside,
        _ => false,
    }
}

/// Returns whether a query has a word of several letters that is written as a name: in capitals, or
/// with a capital behind the first word. A query that is all in capitals tells of none.
pub(crate) fn has_written_name(query: &str) -> bool {
    let words = query.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty());
    query.contains(char::is_lowercase)
        && words.enumerate().any(|(nth, word)| {
            let is_capital = word.chars().all(char::is_uppercase)
                || 0 < nth && word.starts_with(char::is_uppercase);
            is_capital && word.chars().nth(1).is_some()
        })
}

/// Returns whether two characters side by side tell little: those of [particles](has_particle), and
/// Hiragana, in which endings are written.
pub(super) fn is_asking_bigram(pair: [char; 2]) -> bool {
    let is_hiragana = |it: char| matches!(it, '\u{3041}'..='\u{309f}');
    pair.into_iter().all(is_hiragana) || has_particle(pair)
}

/// Returns whether one of two characters is of a pronoun, a particle or a question word of Chinese
/// or Japanese.
pub(super) fn has_particle(pair: [char; 2]) -> bool {
    pair.into_iter().any(|it| "的了是我你您他她它们們这這那哪什么麼怎谁誰吗嗎呢吧啊何".contains(it))
}

/// Returns whether a query begins with a question word.
pub(super) fn begins_question(query: &str) -> bool {
    let first = query.split_whitespace().next().unwrap_or_default().to_lowercase();
    QUESTION_WORDS.contains(&first.as_str())
}

/// Words that questions begin with.
const QUESTION_WORDS: &[&str] = &[
    "what", "which", "who", "whose", "whom", "when", "where", "why", "how", "do", "does", "did",
    "is", "are", "was", "were", "has", "have", "had", "can", "could", "will", "would", "should",
];

/// English function words, ascending.
pub(super) const FUNCTION_WORDS: &[&str] = &[
    "a", "about", "an", "and", "any", "are", "as", "at", "be", "been", "but", "by", "can", "could",
    "did", "do", "does", "for", "from", "had", "has", "have", "how", "i", "if", "in", "into", "is",
    "it", "its", "me", "my", "not", "of", "on", "or", "our", "should", "so", "some", "than",
    "that", "the", "their", "them", "then", "there", "these", "they", "this", "those", "to", "up",
    "was", "we", "were", "what", "when", "where", "which", "who", "why", "will", "with", "would",
    "you", "your",
];

/// Words that questions are made of, ascending. They tell little about the subject.
pub(super) const ASKING_WORDS: &[&str] = &[
    "according",
    "after",
    "also",
    "another",
    "asked",
    "before",
    "between",
    "certain",
    "considered",
    "current",
    "currently",
    "decide",
    "decided",
    "describe",
    "described",
    "did",
    "different",
    "discuss",
    "discussed",
    "during",
    "each",
    "example",
    "feel",
    "feeling",
    "feels",
    "felt",
    "gave",
    "get",
    "gets",
    "give",
    "given",
    "gives",
    "go",
    "goes",
    "going",
    "got",
    "happen",
    "happened",
    "he",
    "her",
    "him",
    "his",
    "kind",
    "kinds",
    "like",
    "likely",
    "long",
    "made",
    "make",
    "makes",
    "many",
    "mention",
    "mentioned",
    "might",
    "more",
    "most",
    "much",
    "name",
    "new",
    "often",
    "other",
    "plan",
    "planned",
    "plans",
    "possible",
    "possibly",
    "recent",
    "recently",
    "said",
    "say",
    "says",
    "share",
    "shared",
    "she",
    "something",
    "sort",
    "specific",
    "take",
    "taken",
    "takes",
    "talk",
    "talked",
    "tell",
    "thing",
    "things",
    "through",
    "told",
    "took",
    "type",
    "types",
    "us",
    "want",
    "wanted",
    "wants",
    "went",
    "while",
];

/// Words that requests are made of, ascending. Notes may have them as their subject, too.
const REQUEST_WORDS: &[&str] = &[
    "answer",
    "answers",
    "anybody",
    "anyone",
    "anything",
    "briefly",
    "check",
    "complete",
    "concerning",
    "contain",
    "contains",
    "content",
    "contents",
    "date",
    "dated",
    "dates",
    "diary",
    "document",
    "documents",
    "entries",
    "entry",
    "every",
    "everybody",
    "everyone",
    "everything",
    "exactly",
    "explain",
    "fetch",
    "file",
    "files",
    "find",
    "help",
    "info",
    "information",
    "journal",
    "journals",
    "kindly",
    "know",
    "knowledge",
    "list",
    "lists",
    "log",
    "logged",
    "logs",
    "look",
    "lookup",
    "memories",
    "memory",
    "note",
    "noted",
    "notes",
    "please",
    "provide",
    "question",
    "recall",
    "record",
    "recorded",
    "records",
    "regarding",
    "relevant",
    "remember",
    "remembered",
    "remembering",
    "report",
    "reports",
    "request",
    "results",
    "retrieve",
    "return",
    "search",
    "searching",
    "show",
    "shows",
    "somebody",
    "someone",
    "stored",
    "summarise",
    "summarize",
    "summary",
    "thank",
    "thanks",
    "whom",
    "wonder",
    "wondering",
    "write",
    "written",
    "wrote",
    "yes",
];
