//! `remindb setup --list`: which client is connected to which memory, and with which permissions.
//!
//! It reads the settings as they are now, whoever wrote them.

use std::path::Path;

use serde_json::{Value, json};

use super::job::offered_tools;
use super::server_connection::{PROJECT_VARIABLE, ServerConnection, server_name};
use super::settings_edit_types::EditRefusal;
use super::supported_clients::SettingsAndSkillPaths;
use super::{UserFolders, client_hooks, file_edits};
use crate::cli::args::{CLIENTS, Client, ProjectOrUser, SetupArgs};
use crate::cli::memory_file_location::MemoryLookupFolders;
use crate::cli::{CommandError, CommandOutcome, CommandStreamsAndClock};
use crate::text::line_number_at;

/// The state of a client in one scope.
struct ClientStatus {
    client: Client,
    scope: ProjectOrUser,
    is_installed: bool,
    /// The settings file.
    file: String,
    /// The memory, or the address of its server; `None` when it is not connected.
    memory: Option<String>,
    /// Whether the tools may be used without asking; `None` where the settings do not say.
    permissions: Option<&'static str>,
    /// Whether it calls hooks; `None` where it has none.
    hooks: Option<&'static str>,
    /// The fault that keeps the settings from being read.
    fault: Option<String>,
}

pub(super) fn run(
    args: &SetupArgs,
    home: &UserFolders,
    context: &mut CommandStreamsAndClock<'_>,
) -> Result<CommandOutcome, CommandError> {
    let around = MemoryLookupFolders::of_process()?;
    let mut all = Vec::new();
    for (_, client) in CLIENTS {
        for scope in [ProjectOrUser::Project, ProjectOrUser::User] {
            let is_wanted = args.scope.is_none_or(|it| it == scope);
            if let (true, Some(places)) = (is_wanted, client.places(scope)) {
                all.push(status(args, home, &around, (*client, scope, places)));
            }
        }
    }
    if args.is_json {
        let rows: Vec<Value> = all.iter().map(ClientStatus::as_json).collect();
        context.say_json(&rows)?;
    } else {
        context.say(as_text(&all))?;
    }
    Ok(CommandOutcome::Done)
}

fn status(
    args: &SetupArgs,
    home: &UserFolders,
    around: &MemoryLookupFolders,
    (client, scope, places): (Client, ProjectOrUser, &SettingsAndSkillPaths),
) -> ClientStatus {
    let folders = &home.folders;
    let path = places.settings_file(folders);
    let (text, fault) = match file_edits::read(&path, None) {
        Ok(found) => (found.text, None),
        Err(CommandError::Because(what)) => (None, Some(what)),
        Err(CommandError::BrokenPipe) => (None, None),
    };
    let name = server_name(scope);
    let fault = fault.or_else(|| fault_of(client, name, text.as_deref()?));
    let fields = text.as_deref().and_then(|it| client.notation().fields(it, name));
    let memory = fields.as_deref().map(|it| memory_of(it, around));
    let permissions = match (&memory, text) {
        (Some(_), Some(text)) => permissions(args, home, (client, scope), &text),
        _ => None,
    };
    let hooks = client_hooks::file_of(client, scope, folders).and_then(|path| {
        // A file that cannot be read has no hooks that the client could read.
        let text = file_edits::read(&path, None).ok().and_then(|it| it.text).unwrap_or_default();
        client_hooks::status(client, &text)
    });
    let is_installed = client.is_installed(folders);
    let file = path.to_string_lossy().into_owned();
    ClientStatus { client, scope, is_installed, file, memory, permissions, hooks, fault }
}

/// Returns the fault that keeps a client from reading its settings.
fn fault_of(client: Client, name: &'static str, text: &str) -> Option<String> {
    let way = ServerConnection::Command { program: String::new(), args: Vec::new() };
    let entry = client.entry(name, way).ok()?;
    match client.notation().put(text, &entry) {
        Err(EditRefusal::Broken { at, what }) => {
            Some(format!("its settings are broken, line {}: {what}", line_number_at(text, at)))
        }
        _ => None,
    }
}

/// Returns the memory that the fields of a server name.
fn memory_of(fields: &[(String, Value)], around: &MemoryLookupFolders) -> String {
    let field = |keys: &[&str]| {
        fields.iter().find(|(key, _)| keys.contains(&key.as_str())).map(|(_, value)| value)
    };
    if let Some(url) = field(&["url", "httpUrl", "serverUrl", "uri"]).and_then(Value::as_str) {
        return url.to_owned();
    }
    let words = field(&["args"]).or_else(|| field(&["command"])).and_then(Value::as_array);
    let words = words.into_iter().flatten().filter_map(Value::as_str);
    let words: Vec<&str> = words.collect();
    let value = |flag| words.iter().position(|it| *it == flag).and_then(|at| words.get(at + 1));
    if let Some(path) = value("--db") {
        // The list is that of the project in the working folder.
        let path = path.strip_prefix(PROJECT_VARIABLE).map_or(*path, |it| it.trim_matches('/'));
        return around.full(Path::new(path)).to_string_lossy().into_owned();
    }
    let scope = value("--scope").and_then(|it| ProjectOrUser::parse(it));
    let found = around.find(scope).ok().flatten();
    let place = found.or_else(|| match scope {
        Some(ProjectOrUser::Project) => Some(around.new_in_project()),
        Some(ProjectOrUser::User) | None => around.of_user(),
    });
    let path = place.map(|it| around.full(&it.path));
    path.map_or_else(|| "unknown".to_owned(), |it| it.to_string_lossy().into_owned())
}

/// Returns whether the settings allow the tools.
fn permissions(
    args: &SetupArgs,
    home: &UserFolders,
    (client, scope): (Client, ProjectOrUser),
    text: &str,
) -> Option<&'static str> {
    let (elsewhere, grants) = client.grants(scope, &home.folders, &offered_tools(args));
    if grants.is_empty() {
        return None;
    }
    let text = match elsewhere {
        Some(path) => file_edits::read(&path, None).ok()?.text.unwrap_or_default(),
        None => text.to_owned(),
    };
    let (_, missing) = client.notation().grant(&text, &grants).ok()?;
    let is_none = missing.len() == grants.len()
        && missing.iter().zip(&grants).all(|(missing, grant)| missing.gives == grant.gives);
    Some(match (missing.is_empty(), is_none) {
        (true, _) => "allowed",
        (false, true) => "asked",
        (false, false) => "partly allowed",
    })
}

impl ClientStatus {
    fn as_json(&self) -> Value {
        let mut row = json!({
            "client": self.client.name(),
            "scope": self.scope.name(),
            "file": self.file,
            "memory": self.memory,
            "permissions": self.permissions,
            "hooks": self.hooks,
            "installed": self.is_installed,
        });
        if let Some(fault) = &self.fault {
            row["fault"] = fault.as_str().into();
        }
        row
    }

    fn is_worth_a_line(&self) -> bool {
        self.is_installed || self.memory.is_some() || self.fault.is_some()
    }
}

/// Formats the clients that are installed or connected, a line each.
fn as_text(all: &[ClientStatus]) -> String {
    let rows: Vec<&ClientStatus> = all.iter().filter(|it| it.is_worth_a_line()).collect();
    if rows.is_empty() {
        return "no client is installed here, and none is connected\n".to_owned();
    }
    let mut out = String::new();
    for it in rows {
        let state = match (&it.memory, &it.fault, it.permissions) {
            (_, Some(fault), _) => fault.clone(),
            (None, None, _) => "not connected".to_owned(),
            (Some(memory), None, permissions) => {
                let hooks = (it.hooks == Some(client_hooks::INSTALLED)).then_some("hooks");
                let all: Vec<&str> = permissions.into_iter().chain(hooks).collect();
                match all.is_empty() {
                    true => memory.clone(),
                    false => format!("{memory} ({})", all.join(", ")),
                }
            }
        };
        out += &format!("{:<15} {:<8} {state}\n", it.client.name(), it.scope.name());
    }
    out
}
