//! `remindb completion`: prints a shell script, made from the help of the commands.
//!
//! Commands and flags are those of the help; values are listed here, by flag and by command.

use super::args::{CLIENTS, COMMANDS, HookEvent, ProjectOrUser, Shell};
use super::{CommandError, CommandOutcome, CommandStreamsAndClock};
use crate::ingest::foreign::FOREIGN_SOURCES;
use crate::model::tree::NodeType;
use crate::model::typed_node_field_schemas::knowledge::{CONFLICT_STATES, EPISODE_KINDS};
use crate::model::typed_node_field_schemas::{IMPORTANCES, MEMORY_TYPES, STATUSES};

pub(super) fn run(
    shell: Shell,
    context: &mut CommandStreamsAndClock<'_>,
) -> Result<CommandOutcome, CommandError> {
    context.say(script(shell))?;
    Ok(CommandOutcome::Done)
}

fn script(shell: Shell) -> String {
    match shell {
        Shell::Bash => bash(),
        // zsh runs bash completions through its own emulation.
        Shell::Zsh => format!("autoload -U +X bashcompinit && bashcompinit\n{}", bash()),
        Shell::Fish => fish(),
    }
}

fn names() -> String {
    COMMANDS.iter().map(|it| it.name).collect::<Vec<_>>().join(" ")
}

/// Returns the words that may follow a flag; a flag without a row takes files or anything.
fn values_of_flags() -> Vec<(&'static str, String)> {
    let clients = clients();
    let sources = FOREIGN_SOURCES.iter().map(|it| it.name).collect::<Vec<_>>().join(" ");
    vec![
        ("client", clients),
        ("color", "auto always never".to_owned()),
        ("detail", "label snippet full".to_owned()),
        ("format", "agent-memory markdown remind".to_owned()),
        ("from", format!("agent-memory remind {sources}")),
        ("importance", IMPORTANCES.join(" ")),
        ("scope", ProjectOrUser::NAMES.join(" ")),
        ("status", STATUSES.join(" ")),
        ("task", "consolidate triage conflicts health".to_owned()),
        ("tools", "all core memory remind".to_owned()),
        ("transport", "stdio http".to_owned()),
        ("type", NodeType::SEARCHED.join(" ")),
    ]
}

/// Returns the words that may follow a flag of one command, where they are others than elsewhere.
fn values_of_command_flags() -> Vec<(&'static str, &'static str, String)> {
    let types = MEMORY_TYPES.map(NodeType::as_str);
    let kinds = [&types[..], EPISODE_KINDS].concat();
    vec![
        ("conflicts", "status", format!("{} all", CONFLICT_STATES.join(" "))),
        ("memories", "type", types.join(" ")),
        ("remember", "type", kinds.join(" ")),
    ]
}

/// Returns the words that may follow a command.
fn values_of_commands() -> Vec<(&'static str, String)> {
    vec![
        ("completion", "bash zsh fish".to_owned()),
        ("help", names()),
        ("hook", HookEvent::NAMES.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(" ")),
        ("setup", clients()),
        ("space", "create join status image cut leave".to_owned()),
    ]
}

fn clients() -> String {
    CLIENTS.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(" ")
}

fn bash() -> String {
    let mut cases = String::new();
    for row in COMMANDS {
        let flags: Vec<String> = row.flags().iter().map(|it| format!("--{it}")).collect();
        cases += &format!("        {}) words='{}' ;;\n", row.name, flags.join(" "));
    }
    let (mut values, mut own_values) = (String::new(), String::new());
    for (flag, words) in values_of_flags() {
        values += &format!("        --{flag}) values='{words}' ;;\n");
    }
    for (command, flag, words) in values_of_command_flags() {
        own_values += &format!("        '{command} --{flag}') values='{words}' ;;\n");
    }
    let mut places = String::new();
    for (command, words) in values_of_commands() {
        places += &format!("        {command}) values='{words}' ;;\n");
    }
    let names = names();
    format!(
        "_remindb() {{
    local current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}}
    local words='{names} --help --version' values=
    case ${{COMP_WORDS[1]}} in
{cases}    esac
    case $before in
{values}    esac
    case \"${{COMP_WORDS[1]}} $before\" in
{own_values}    esac
    [ \"$COMP_CWORD\" -eq 2 ] && case $before in
{places}    esac
    [ \"$COMP_CWORD\" -eq 1 ] && words='{names} --help --version'
    if [ \"$before\" = --db ]; then
        COMPREPLY=($(compgen -f -X '!*.db' -- \"$current\") $(compgen -d -- \"$current\"))
        return
    fi
    case $current in
        -*) COMPREPLY=($(compgen -W \"$words\" -- \"$current\")) ;;
        *) if [ \"$COMP_CWORD\" -eq 1 ]; then
               COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))
           elif [ -n \"$values\" ]; then
               COMPREPLY=($(compgen -W \"$values\" -- \"$current\"))
           else
               COMPREPLY=($(compgen -f -- \"$current\"))
           fi ;;
    esac
}}
complete -o filenames -F _remindb remindb
"
    )
}

fn fish() -> String {
    let mut lines = format!("complete -c remindb -n __fish_use_subcommand -f -a '{}'\n", names());
    let (values, own_values) = (values_of_flags(), values_of_command_flags());
    for row in COMMANDS {
        for flag in row.flags() {
            let own = own_values.iter().find(|it| (it.0, it.1) == (row.name, flag));
            let any = values.iter().find(|(name, _)| *name == flag).map(|(_, words)| words);
            let words = own.map(|(.., words)| words).or(any);
            let words = words.map(|words| format!(" -x -a '{words}'"));
            lines += &format!(
                "complete -c remindb -n '__fish_seen_subcommand_from {}' -l {flag}{}\n",
                row.name,
                words.unwrap_or_default()
            );
        }
    }
    for (command, words) in values_of_commands() {
        lines += &format!(
            "complete -c remindb -n '__fish_seen_subcommand_from {command}' -a '{words}'\n"
        );
    }
    lines
}
