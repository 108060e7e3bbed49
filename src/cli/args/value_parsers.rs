//! Values of flags and commands: parsed or refused.

use std::ffi::OsString;
use std::time::Duration;

use super::UsageError;
use super::client_and_scope::{CLIENTS, Client, ProjectOrUser};
use super::command::{ColorWhen, SharedSpaceFlags, Shell};
use crate::model::clock::UnixMillis;
use crate::settings::config::{Transport, positive_duration};
use crate::surface::ToolSelection;
use crate::text::suggest::suggest;
use lexopt::Parser;
use lexopt::prelude::*;

pub(super) fn parse_number<T: std::str::FromStr>(
    flag: &str,
    value: &OsString,
) -> Result<T, UsageError> {
    value.to_str().and_then(|it| it.parse().ok()).ok_or_else(|| {
        UsageError(format!("`--{flag}` needs a whole number, not `{}`", value.to_string_lossy()))
    })
}

pub(super) fn parse_interval(flag: &str, value: OsString) -> Result<Duration, UsageError> {
    positive_duration(&value.string()?).map_err(|why| UsageError(format!("`--{flag}` {why}")))
}

/// Parses a day or a time, as `read` understands them.
pub(super) fn parse_time(
    flag: &str,
    value: &OsString,
    read: fn(&str) -> Option<UnixMillis>,
) -> Result<UnixMillis, UsageError> {
    let typed = value.to_string_lossy();
    read(&typed).ok_or_else(|| {
        UsageError(format!(
            "`--{flag}` needs a day or a time, as 2026-01-31 or 2026-01-31T10:00:00Z, not `{typed}`"
        ))
    })
}

/// Parses `90m`, `12h`, `30d`, `8w` to ms.
pub(super) fn parse_span_ms(value: &OsString) -> Result<i64, UsageError> {
    let typed = value.to_string_lossy();
    let unit_ms = |unit: &str| match unit {
        "m" => Some(60_000),
        "h" => Some(3_600_000),
        "d" => Some(86_400_000),
        "w" => Some(7 * 86_400_000),
        _ => None,
    };
    let at = typed.find(|it: char| !it.is_ascii_digit()).unwrap_or(typed.len());
    let (n, unit) = typed.split_at(at);
    let span = n.parse::<i64>().ok().zip(unit_ms(unit)).and_then(|(n, unit)| n.checked_mul(unit));
    span.ok_or_else(|| {
        UsageError(format!("`--older-than` needs a span such as 12h, 30d or 8w, not `{typed}`"))
    })
}

pub(super) fn parse_transport(name: &OsString) -> Result<Transport, UsageError> {
    match name.to_str() {
        Some("stdio") => Ok(Transport::Stdio),
        Some("http") => Ok(Transport::Http),
        _ => {
            let name = name.to_string_lossy();
            Err(UsageError(format!("`--transport` must be `stdio` or `http`, not `{name}`")))
        }
    }
}

pub(super) fn parse_tools(names: &OsString) -> Result<ToolSelection, UsageError> {
    ToolSelection::parse(&names.to_string_lossy())
        .map_err(|why| UsageError(format!("`--tools` {why}")))
}

fn client_names() -> String {
    CLIENTS.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
}

pub(super) fn parse_client(name: &OsString) -> Result<Client, UsageError> {
    name.to_str().and_then(Client::parse).ok_or_else(|| {
        let names: Vec<&str> = CLIENTS.iter().map(|(name, _)| *name).collect();
        let name = name.to_string_lossy();
        let what = format!("no client `{name}`; there are {}", client_names());
        UsageError(what + &suggestion(&name, &names))
    })
}

pub(super) fn parse_scope(name: &OsString) -> Result<ProjectOrUser, UsageError> {
    name.to_str().and_then(ProjectOrUser::parse).ok_or_else(|| {
        let names = ProjectOrUser::NAMES.join("` or `");
        UsageError(format!("`--scope` needs `{names}`, not `{}`", name.to_string_lossy()))
    })
}

pub(super) fn parse_color(when: &OsString) -> Result<ColorWhen, UsageError> {
    match when.to_str() {
        Some("auto") => Ok(ColorWhen::Auto),
        Some("always") => Ok(ColorWhen::Always),
        Some("never") => Ok(ColorWhen::Never),
        _ => {
            let when = when.to_string_lossy();
            Err(UsageError(format!("`--color` needs `auto`, `always` or `never`, not `{when}`")))
        }
    }
}

pub(super) fn parse_shell(name: &OsString) -> Result<Shell, UsageError> {
    match name.to_str() {
        Some("bash") => Ok(Shell::Bash),
        Some("zsh") => Ok(Shell::Zsh),
        Some("fish") => Ok(Shell::Fish),
        _ => {
            let name = name.to_string_lossy();
            Err(UsageError(format!(
                "no completion for `{name}`; there is one for bash, zsh and fish"
            )))
        }
    }
}

/// Returns `; did you mean …?` when one of the names is like the input.
pub(super) fn suggestion(typed: &str, names: &[&str]) -> String {
    match suggest(typed, names.iter().copied()) {
        Some(name) => format!("; did you mean `{name}`?"),
        None => String::new(),
    }
}

/// Reads the address after `--shared`; without one, the replica knows its space.
pub(super) fn shared_url(parser: &mut Parser) -> Result<Option<String>, UsageError> {
    if let Some(given) = parser.optional_value() {
        return Ok(Some(given.string()?));
    }
    let is_address = |it: &std::ffi::OsStr| it.to_string_lossy().starts_with("postgres");
    let next = parser.try_raw_args().and_then(|mut it| it.next_if(is_address));
    Ok(next.map(ValueExt::string).transpose()?)
}

/// The flag `--shared` and those that belong to it, as they come.
#[derive(Default)]
pub(super) struct RawSharedSpaceFlags {
    /// `Some(None)`: the flag without an address.
    pub(super) url: Option<Option<String>>,
    pub(super) roots: Vec<String>,
    pub(super) is_fresh: bool,
}

impl RawSharedSpaceFlags {
    /// Returns the flag; what belongs to it is for a memory that is shared.
    pub(super) fn flag(self) -> Result<Option<SharedSpaceFlags>, UsageError> {
        let RawSharedSpaceFlags { url, roots, is_fresh } = self;
        let without = |flag: &str| Err(UsageError(format!("`--{flag}` is for `--shared`; add it")));
        match url {
            Some(url) => Ok(Some(SharedSpaceFlags { url, roots, is_fresh })),
            None if !roots.is_empty() => without("root"),
            None if is_fresh => without("fresh"),
            None => Ok(None),
        }
    }
}
