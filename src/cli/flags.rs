//! A flag for every setting, made from the default file.

use clap::{Arg, ArgMatches, Args, Command, FromArgMatches, parser::ValueSource};

use crate::config::{self, Key};

/// The settings that were given as flags: their keys' names and their values.
pub(super) struct SettingFlags(pub Vec<(String, String)>);

impl FromArgMatches for SettingFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = public_keys().filter_map(|key| {
            let value = matches.get_one::<String>(&key.name)?;
            (matches.value_source(&key.name) == Some(ValueSource::CommandLine))
                .then(|| (key.name.clone(), value.clone()))
        });
        Ok(Self(given.collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for SettingFlags {
    fn augment_args(command: Command) -> Command {
        command.args(args())
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

/// Lets a command take the flags without listing them in its help.
pub(super) fn hidden(command: Command) -> Command {
    command.args(args().map(|arg| arg.hide(true)))
}

fn args() -> impl Iterator<Item = Arg> {
    public_keys().map(|key| {
        Arg::new(key.name.as_str())
            .long(key.flag.as_str())
            .value_name("VALUE")
            .help(format!("{} [{}]", key.meaning, key.variable))
            .help_heading("Settings")
            .hide_short_help(true)
            .global(true)
    })
}

/// Everybody on a machine can read the command lines of its processes: a secret has no flag.
fn public_keys() -> impl Iterator<Item = &'static Key> {
    config::keys().iter().filter(|key| !key.is_secret())
}
