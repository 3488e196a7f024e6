use clap::builder::{PossibleValue, PossibleValuesParser, StyledStr};
use clap::{Arg, ArgAction, ValueHint};
use serde::{Deserialize, Serialize};

/// Option or positional argument.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ArgumentDefinition {
    id: String,
    long: Option<String>,
    short: Option<char>,
    help: Option<String>,
    long_help: Option<String>,
    values: Values,
    value_names: Vec<String>,
    default_values: Vec<String>,
    possible_values: Vec<ValueDefinition>,
    /// clap's name of the value hint in lower case, used for completions.
    value_hint: String,
    is_required: bool,
    is_global: bool,
    is_hidden: bool,
}

/// Number of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Values {
    /// Flag without a value.
    None,
    One,
    /// The option may be repeated.
    Several,
}

/// Possible value of an argument.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct ValueDefinition {
    name: String,
    help: Option<String>,
    is_hidden: bool,
}

fn text(styled: Option<&StyledStr>) -> Option<String> {
    styled.map(ToString::to_string)
}

impl ArgumentDefinition {
    pub(super) fn of(argument: &Arg) -> Self {
        let names = argument.get_value_names().unwrap_or_default();
        let defaults = argument.get_default_values().iter();
        let values = match argument.get_action() {
            ArgAction::Set => Values::One,
            ArgAction::Append => Values::Several,
            _ => Values::None,
        };
        // A flag formally takes true or false, which isn't worth offering.
        let possible = if values == Values::None { Vec::new() } else { argument.get_possible_values() };
        Self {
            id: argument.get_id().to_string(),
            long: argument.get_long().map(str::to_owned),
            short: argument.get_short(),
            help: text(argument.get_help()),
            long_help: text(argument.get_long_help()),
            values,
            value_names: names.iter().map(ToString::to_string).collect(),
            default_values: defaults.map(|value| value.to_string_lossy().into_owned()).collect(),
            possible_values: possible.iter().map(ValueDefinition::of).collect(),
            value_hint: format!("{:?}", argument.get_value_hint()).to_lowercase(),
            is_required: argument.is_required_set(),
            is_global: argument.is_global_set(),
            is_hidden: argument.is_hide_set(),
        }
    }

    pub(super) fn argument(&self) -> Arg {
        let action = match self.values {
            Values::None => ArgAction::SetTrue,
            Values::One => ArgAction::Set,
            Values::Several => ArgAction::Append,
        };
        let mut argument = Arg::new(self.id.clone())
            .action(action)
            .required(self.is_required)
            .global(self.is_global)
            .hide(self.is_hidden);
        if self.values != Values::None {
            // A newer version may have hints that this one doesn't. Then nothing is offered.
            argument = argument.value_hint(self.value_hint.parse().unwrap_or(ValueHint::Unknown));
            argument = argument.default_values(self.default_values.clone());
        }
        if !self.value_names.is_empty() {
            argument = argument.value_names(self.value_names.clone());
        }
        if !self.possible_values.is_empty() {
            let values = self.possible_values.iter().map(ValueDefinition::value);
            argument = argument.value_parser(PossibleValuesParser::new(values));
        }
        if let Some(long) = &self.long {
            argument = argument.long(long.clone());
        }
        if let Some(short) = self.short {
            argument = argument.short(short);
        }
        if let Some(help) = &self.help {
            argument = argument.help(help.clone());
        }
        if let Some(help) = &self.long_help {
            argument = argument.long_help(help.clone());
        }
        argument
    }
}

impl ValueDefinition {
    fn of(value: &PossibleValue) -> Self {
        Self {
            name: value.get_name().to_owned(),
            help: text(value.get_help()),
            is_hidden: value.is_hide_set(),
        }
    }

    fn value(&self) -> PossibleValue {
        let value = PossibleValue::new(self.name.clone()).hide(self.is_hidden);
        match &self.help {
            Some(help) => value.help(help.clone()),
            None => value,
        }
    }
}
