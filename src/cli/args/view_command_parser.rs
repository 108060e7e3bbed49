//! The parser of `view`.

use std::path::PathBuf;

use lexopt::Parser;
use lexopt::prelude::*;

use super::command::{BrowserViewArgs, Command};
use super::subcommand_parsers::{ParsedCommand, otherwise};
use super::value_parsers::{RawSharedSpaceFlags, shared_url};

pub(super) fn view(parser: &mut Parser, db: Option<PathBuf>) -> ParsedCommand {
    let mut args = BrowserViewArgs { db, ..BrowserViewArgs::default() };
    let mut shared = RawSharedSpaceFlags::default();
    while let Some(arg) = parser.next()? {
        match arg {
            Long("db") => args.db = Some(parser.value()?.into()),
            Long("listen") => args.listen = Some(parser.value()?.string()?),
            Long("no-open") => args.is_without_browser = true,
            Long("shared") => shared.url = Some(shared_url(parser)?),
            other => return otherwise("view", other),
        }
    }
    args.shared = shared.flag()?;
    Ok(Command::View(args))
}
