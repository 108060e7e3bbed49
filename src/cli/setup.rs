//! `remindb setup`: adds the memory to a client's settings, and removes it without a trace.
//!
//! A client gets one server in its settings, the permissions to use it, hooks and two skills.
//! Everything is planned before anything is written: settings that cannot be edited faithfully are
//! an error that changes nothing. Each change is recorded in a manifest before it is made, and
//! `--remove` undoes exactly these changes.

mod client_hooks;
mod connection_plan;
mod edit;
mod file_edits;
mod job;
mod json_settings;
mod json_spans;
mod list;
mod manifest;
mod plan;
mod report;
mod server_connection;
mod settings_edit_types;
mod supported_clients;
#[cfg(test)]
mod tests;
mod toml_settings;
mod yaml_settings;

use std::env;
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;

use job::SetupJob;
use supported_clients::ClientFolders;

use super::args::{CLIENTS, Client, ProjectOrUser, SetupArgs, SetupClients};
use super::{CommandError, CommandOutcome, CommandStreamsAndClock, variable};

/// The skills, with the folder of each.
const SKILLS: &[(&str, &str)] = &[
    ("remindb-read", include_str!("../../skills/read.md")),
    ("remindb-write", include_str!("../../skills/write.md")),
];

/// The folders of a user, by the environment.
struct UserFolders {
    folders: ClientFolders,
    /// The data folder: `~/.local/share`, unless the environment names another.
    data: PathBuf,
    /// The state folder: `~/.local/state`, unless the environment names another.
    state: PathBuf,
}

pub(super) fn run(
    args: SetupArgs,
    context: &mut CommandStreamsAndClock<'_>,
) -> Result<CommandOutcome, CommandError> {
    let home = home()?;
    let clients = match args.clients {
        SetupClients::List => return list::run(&args, &home, context),
        SetupClients::One(client) => {
            let done = SetupJob::new(&args, client, &home, context)?.run()?;
            done.print(context)?;
            return Ok(done.outcome());
        }
        SetupClients::All if args.is_remove => CLIENTS.iter().map(|it| it.1).collect(),
        SetupClients::All => installed(&args, &home.folders),
        SetupClients::Ask => chosen(&args, &home.folders, context)?,
    };
    if clients.is_empty() {
        let what = "none of the clients that `remindb help setup` lists is installed; name one";
        return Err(CommandError::Because(what.to_owned()));
    }
    let mut outcome = CommandOutcome::NotFound;
    let mut reports = Vec::new();
    let mut failures = Vec::new();
    for client in clients {
        let done = SetupJob::new(&args, client, &home, context).and_then(SetupJob::run);
        match done {
            Ok(done) if done.outcome() == CommandOutcome::NotFound => (),
            Ok(done) => {
                outcome = CommandOutcome::Done;
                match args.is_json {
                    true => reports.push(done.as_json()),
                    false => {
                        context.say(format_args!("{}:\n", client.title()))?;
                        done.print(context)?;
                    }
                }
            }
            Err(CommandError::Because(what)) => {
                failures.push(format!("{}: {what}", client.title()))
            }
            Err(broken) => return Err(broken),
        }
    }
    if args.is_json {
        context.say_json(&reports)?;
    }
    match failures.is_empty() {
        true => Ok(outcome),
        false => Err(CommandError::Because(failures.join("\nremindb: "))),
    }
}

/// Returns the scope of a setup: as given, else the project's where the client has it.
fn scope_of(args: &SetupArgs, client: Client) -> ProjectOrUser {
    let usual = match client.places(ProjectOrUser::Project) {
        Some(_) => ProjectOrUser::Project,
        None => ProjectOrUser::User,
    };
    args.scope.unwrap_or(usual)
}

/// Returns the installed clients that have the scope.
fn installed(args: &SetupArgs, folders: &ClientFolders) -> Vec<Client> {
    let all = CLIENTS.iter().map(|it| it.1).filter(|it| it.is_installed(folders));
    all.filter(|it| it.places(scope_of(args, *it)).is_some()).collect()
}

/// Asks which of the installed clients to set up; without a terminal, says how to name them.
fn chosen(
    args: &SetupArgs,
    folders: &ClientFolders,
    context: &mut CommandStreamsAndClock<'_>,
) -> Result<Vec<Client>, CommandError> {
    let found = installed(args, folders);
    if found.is_empty() {
        return Ok(found);
    }
    context.say("installed here:\n")?;
    for (nth, client) in found.iter().enumerate() {
        context.say(format_args!("{:>3}  {:<15} {}\n", nth + 1, client.name(), client.title()))?;
    }
    if !context.out.is_terminal() || !io::stdin().is_terminal() {
        let name = found[0].name();
        let what = format!(
            "which one? type `remindb setup {name}`, or `remindb setup --all` for all of them"
        );
        return Err(CommandError::Because(what));
    }
    context.say("set up which? numbers or names, `all`, or nothing to leave: ")?;
    super::written(context.out.flush())?;
    let mut line = String::new();
    io::stdin().read_line(&mut line)?;
    picked(&line, &found)
}

/// Returns the clients that a line names.
fn picked(line: &str, found: &[Client]) -> Result<Vec<Client>, CommandError> {
    let mut picked = Vec::new();
    for word in line.split([' ', ',', '\t', '\n', '\r']).filter(|it| !it.is_empty()) {
        let nth = word.parse::<usize>().ok().and_then(|it| found.get(it.wrapping_sub(1)));
        match (word, nth.copied().or_else(|| Client::parse(word))) {
            ("all", _) => return Ok(found.to_vec()),
            (_, Some(client)) => picked.push(client),
            (_, None) => {
                let what = format!("`{word}` is none of them; nothing was changed");
                return Err(CommandError::Because(what));
            }
        }
    }
    match picked.is_empty() {
        true => Err(CommandError::Because("none was chosen; nothing was changed".to_owned())),
        false => Ok(picked),
    }
}

fn home() -> Result<UserFolders, CommandError> {
    let cannot = |what: &str| CommandError::Because(format!("cannot find {what}"));
    let project = env::current_dir().map_err(|_| cannot("the current folder"))?;
    let home = path_in("HOME").ok_or_else(|| cannot("your home folder: `HOME` is not set"))?;
    if !home.is_absolute() {
        return Err(cannot("your home folder: `HOME` is not an absolute path"));
    }
    // The XDG specification ignores paths that are not absolute.
    let xdg = |name: &str, below: &str| {
        path_in(name).filter(|it| it.is_absolute()).unwrap_or_else(|| home.join(below))
    };
    let programs = variable("PATH").map(|it| env::split_paths(&it).collect());
    Ok(UserFolders {
        data: xdg("XDG_DATA_HOME", ".local/share"),
        state: xdg("XDG_STATE_HOME", ".local/state"),
        folders: ClientFolders {
            project,
            config: xdg("XDG_CONFIG_HOME", ".config"),
            claude: path_in("CLAUDE_CONFIG_DIR"),
            codex: path_in("CODEX_HOME"),
            copilot: path_in("COPILOT_HOME"),
            programs: programs.unwrap_or_default(),
            home,
        },
    })
}

/// Returns the path in a variable of the environment.
fn path_in(name: &str) -> Option<PathBuf> {
    variable(name).map(PathBuf::from)
}
