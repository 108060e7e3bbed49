//! The prompts of a memory: instructions that a person picks from a menu.

use crate::mcp::{ArgSpec, Args, HandlerError, Prompt, PromptMessage};
use crate::text;

/// Makes the text of a prompt.
pub(crate) type PromptFn = fn(&Args) -> Result<String, HandlerError>;

/// Characters of a topic; longer ones are cut.
const TOPIC_CHARS_MAX: usize = 200;

/// Every prompt, in the order of their use.
pub(super) const PROMPTS: &[Prompt<PromptFn>] = &[ORIENT, RESYNC, TIDY, CONSOLIDATE, TRIAGE];

/// The prompts that need only the core tools.
pub(super) const READING: &[Prompt<PromptFn>] = &[ORIENT, RESYNC];

const ORIENT: Prompt<PromptFn> = Prompt {
    name: "orient",
    title: "What does the memory know?",
    description: "Has the agent look into the memory before it begins to work.",
    args: &[ArgSpec::text("topic", "What the work is about; default everything")],
    get: orient,
};

const RESYNC: Prompt<PromptFn> = Prompt {
    name: "resync",
    title: "What has changed?",
    description: "Has the agent catch up with what changed in the memory since it last looked.",
    args: &[ArgSpec::text("since_snapshot", "The last snapshot it knows; default the one before")],
    get: resync,
};

const TIDY: Prompt<PromptFn> = Prompt {
    name: "tidy",
    title: "Tidy up the memory",
    description: "Has the agent find what is double, outdated or long, and ask before it acts.",
    args: &[ArgSpec::text("topic", "What to tidy up; default everything")],
    get: tidy,
};

const CONSOLIDATE: Prompt<PromptFn> = Prompt {
    name: "consolidate",
    title: "Consolidate what was learned",
    description: "Has the agent make concepts of the episodes that wait, and end conflicts.",
    args: &[ArgSpec::text("topic", "Which topic; default the one that waits longest")],
    get: consolidate,
};

const TRIAGE: Prompt<PromptFn> = Prompt {
    name: "triage",
    title: "Draw episodes from texts",
    description: "Has the agent divide the texts that MemoryIngest kept into episodes.",
    args: &[],
    get: triage,
};

/// Returns the messages of a prompt: one, by the person.
pub(super) fn messages(get: PromptFn, args: &Args) -> Result<Vec<PromptMessage>, HandlerError> {
    Ok(vec![PromptMessage::user(get(args)?)])
}

fn orient(args: &Args) -> Result<String, HandlerError> {
    let topic = topic(args);
    let search = match &topic {
        Some(topic) => format!(
            "3. MemorySearch for `{topic}` with `detail` snippet, and again with other words that \
             the notes may use.\n"
        ),
        None => "3. MemorySearch for what we are going to work on, if I have said it.\n".to_owned(),
    };
    let about = topic.map(|it| format!(" about `{it}`")).unwrap_or_default();
    Ok(format!(
        "Before we begin, find out what your memory knows{about}:\n\
         1. MemoryStats, for its size and its newest snapshot.\n\
         2. MemoryTree with `depth` 2 and `budget` 1500, for the outline.\n\
         {search}\
         4. MemoryFetch of the two or three best hits.\n\
         Then tell me in a few sentences what is known, with the ids of the nodes you rely on, and \
         what is not. Remember the number of the newest snapshot: MemoryDelta needs it later. \
         Change nothing."
    ))
}

fn resync(args: &Args) -> Result<String, HandlerError> {
    let since = match args.text("since_snapshot").map(str::trim).filter(|it| !it.is_empty()) {
        Some(id) => match id.parse::<u64>() {
            Ok(id) => format!("`since_snapshot` {id}"),
            Err(_) => {
                let id = text::truncate_chars(id, 40);
                let why = format!("`since_snapshot` must be the number of a snapshot, not `{id}`");
                return Err(HandlerError::BadArgument(why));
            }
        },
        None => "as `since_snapshot` the last snapshot that you know; if you know none, the one \
                 before the newest that MemoryStats tells"
            .to_owned(),
    };
    Ok(format!(
        "Your memory may have changed. Catch up:\n\
         1. MemoryDelta with {since}; follow its cursor to the end.\n\
         2. MemoryFetch of each changed node that our work builds on; what you knew of it is \
         outdated.\n\
         3. MemoryDelta with `detail` where the new text alone tells you enough.\n\
         Then tell me what changed that matters to us, and what you do differently because of it. \
         Remember the number of the newest snapshot. Change nothing."
    ))
}

fn tidy(args: &Args) -> Result<String, HandlerError> {
    let where_to = match topic(args) {
        Some(topic) => format!("MemorySearch for `{topic}` with `detail` full"),
        None => "MemoryTree with `depth` 3, then MemorySearch in the busiest parts".to_owned(),
    };
    Ok(format!(
        "Help me tidy up your memory:\n\
         1. {where_to}.\n\
         2. List for me, with ids: what is said twice, what is outdated or contradicts something \
         newer, what is long and could be short, and what belongs together and is not related.\n\
         3. Wait for my answer. Do only what I agree to, one node at a time: MemorySummarize to \
         shorten, MemoryWrite to correct, MemoryRelate to connect, MemoryForget to remove.\n\
         4. At the end say what you changed and the snapshot from before, to which MemoryRollback \
         goes back."
    ))
}

fn consolidate(args: &Args) -> Result<String, HandlerError> {
    let of_topic = topic(args).map(|it| format!(" with `topic` `{it}`")).unwrap_or_default();
    Ok(format!(
        "Consolidate what your memory has learned:\n\
         1. MemoryReview{of_topic}.\n\
         2. Read its episodes. Where several say the same kind of thing, write a concept: specific \
         and such that it could be wrong, `from` the episodes that show it. Prefer `update` or \
         `evidence` where one of the concepts shown says it already. What fits nothing is only \
         `processed`.\n\
         3. Link concepts that imply, cause or contradict each other. For an open conflict say \
         which statement holds (`resolve`), or that both do (`dismiss`); ask me if you cannot \
         know.\n\
         4. MemoryApply with all operations, the worksheet's `base`, and `dry_run` first; then \
         without.\n\
         5. Again from 1 while `pending` is left. At the end tell me in a few sentences what you \
         made, with ids, and the snapshot from before, to which MemoryRollback goes back."
    ))
}

fn triage(_: &Args) -> Result<String, HandlerError> {
    Ok("Draw episodes from the texts that your memory keeps:\n\
        1. MemoryIngest with `flush`, so that nothing waits in the buffer.\n\
        2. MemoryReview with `task` triage. Follow its instructions.\n\
        3. MemoryApply with a `remember` or `fact` for each thing worth keeping, and `ingested` \
        for the chunk as the last operation, with its `density`: the share worth keeping.\n\
        4. Again from 2 until `chunk` is null. At the end tell me what you kept."
        .to_owned())
}

/// Returns the topic as one line that ends no quotation.
fn topic(args: &Args) -> Option<String> {
    let topic = args.text("topic")?.split_whitespace().collect::<Vec<_>>().join(" ");
    let topic = text::truncate_chars(&topic.replace('`', "'"), TOPIC_CHARS_MAX);
    (!topic.is_empty()).then_some(topic)
}

#[cfg(test)]
mod tests;
