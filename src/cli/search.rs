//! `remindb search`: what an agent would be answered. It warms nothing.

use super::args::SearchArgs;
use super::{CommandError, CommandOutcome, Context, known_database};
use crate::model::tree::NodeType;
use crate::query::{self, Detail, QueryError};
use crate::store::reader::Reader;

pub(super) fn run(
    args: SearchArgs,
    context: &mut Context<'_>,
) -> Result<CommandOutcome, CommandError> {
    let detail = match args.detail.as_deref() {
        None => Detail::default(),
        Some(name) => Detail::parse(name).ok_or_else(|| {
            CommandError::Because(format!("no detail `{name}`; there are label, snippet and full"))
        })?,
    };
    let node_type = match args.node_type.as_deref() {
        None => None,
        Some(name) => Some(NodeType::parse(name).ok_or_else(|| {
            let names = NodeType::ALL.map(NodeType::as_str).join(", ");
            CommandError::Because(format!("no node type `{name}`; there are {names}"))
        })?),
    };
    let ask = query::SearchQuery {
        query: &args.query,
        budget: args.budget.filter(|it| 0 < *it),
        detail,
        node_type,
        limit: args.limit,
    };
    let reader = Reader::open(&known_database(args.db))?;
    let answer: Result<query::QueryAnswer, QueryError> = query::search(&reader, &ask);
    let answer = answer?;
    if args.is_json {
        context.say(format_args!("{:#}\n", answer.structured))?;
    } else {
        context.say(format_args!("{}\n", answer.text.trim_end_matches('\n')))?;
    }
    // Also where not even one of them fits the budget.
    let has_matches = answer.structured["matches"].as_u64().is_some_and(|it| 0 < it);
    Ok(if has_matches { CommandOutcome::Done } else { CommandOutcome::NotFound })
}
