//! Definition of a command line as data. Another program uses it for help, completions and manual
//! pages of commands that it doesn't implement. Validation stays with the program that implements
//! the commands.

mod argument;

use clap::Command;
use serde::{Deserialize, Serialize};

use self::argument::ArgumentDefinition;

/// Command with its arguments and subcommands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandDefinition {
    name: String,
    about: Option<String>,
    long_about: Option<String>,
    after_help: Option<String>,
    requires_subcommand: bool,
    arguments: Vec<ArgumentDefinition>,
    subcommands: Vec<Self>,
}

impl CommandDefinition {
    /// Extracts the definition of a command that clap hasn't built yet, which excludes derived
    /// parts. Hidden subcommands are left out.
    pub fn of(command: &Command) -> Self {
        let text = |styled: Option<&clap::builder::StyledStr>| styled.map(ToString::to_string);
        let shown = command.get_subcommands().filter(|below| !below.is_hide_set());
        Self {
            name: command.get_name().to_owned(),
            about: text(command.get_about()),
            long_about: text(command.get_long_about()),
            after_help: text(command.get_after_help()),
            requires_subcommand: command.is_subcommand_required_set(),
            arguments: command.get_arguments().map(ArgumentDefinition::of).collect(),
            subcommands: shown.map(Self::of).collect(),
        }
    }

    /// Name of the command.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Subcommands.
    pub fn subcommands(&self) -> &[Self] {
        &self.subcommands
    }

    /// Converts to a clap command for help, completions and manual pages. All values are plain
    /// text.
    pub fn command(&self) -> Command {
        let mut command = Command::new(self.name.clone())
            .subcommand_required(self.requires_subcommand)
            .args(self.arguments.iter().map(ArgumentDefinition::argument))
            .subcommands(self.subcommands.iter().map(Self::command));
        if let Some(about) = &self.about {
            command = command.about(about.clone());
        }
        if let Some(about) = &self.long_about {
            command = command.long_about(about.clone());
        }
        if let Some(after) = &self.after_help {
            command = command.after_help(after.clone());
        }
        command
    }
}
