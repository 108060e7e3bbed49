//! `remindb completion`: prints a shell script, made from the help of the commands.

use super::args::{COMMANDS, Shell};
use super::{CommandError, CommandOutcome, Context};

pub(super) fn run(shell: Shell, context: &mut Context<'_>) -> Result<CommandOutcome, CommandError> {
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

fn bash() -> String {
    let mut cases = String::new();
    for row in COMMANDS {
        let flags: Vec<String> = row.flags().iter().map(|it| format!("--{it}")).collect();
        cases += &format!("        {}) words='{}' ;;\n", row.name, flags.join(" "));
    }
    format!(
        "_remindb() {{
    local current=${{COMP_WORDS[COMP_CWORD]}} words='{} --help --version'
    case ${{COMP_WORDS[1]}} in
{cases}    esac
    [ \"$COMP_CWORD\" -eq 1 ] && words='{} --help --version'
    case $current in
        -*) COMPREPLY=($(compgen -W \"$words\" -- \"$current\")) ;;
        *) if [ \"$COMP_CWORD\" -eq 1 ]; then
               COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))
           else
               COMPREPLY=($(compgen -f -- \"$current\"))
           fi ;;
    esac
}}
complete -o filenames -F _remindb remindb
",
        names(),
        names()
    )
}

fn fish() -> String {
    let mut lines = format!("complete -c remindb -n __fish_use_subcommand -f -a '{}'\n", names());
    for row in COMMANDS {
        for flag in row.flags() {
            lines += &format!(
                "complete -c remindb -n '__fish_seen_subcommand_from {}' -l {flag}\n",
                row.name
            );
        }
    }
    lines
}
