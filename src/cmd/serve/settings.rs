//! The settings of `icache serve`: one table for flag, variable, key of the file and documentation, and the layers that
//! give each its value. A flag goes over a variable, a variable over the file, the file over what is built in.
//!
//! The table is the definition of the command line itself; a value of any layer is read and judged as the flag's.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Args as _, Command, FromArgMatches};
use serde_json::Value;

use super::super::UsageError;
use super::super::explain::nearest;
use super::Args;
use super::file::{self, FileKey};
use crate::model::{Source, Sourced};
use crate::server::{ConfigView, SettingView};

/// Flags that say what the command does; they set nothing of the server.
const ACTIONS: [&str; 3] = ["config", "print-config", "output"];

/// One setting.
#[derive(Clone, Debug)]
pub struct Setting {
    /// Key of the file.
    pub key: String,
    /// The flag, with its dashes.
    pub flag: String,
    /// The environment variable.
    pub variable: String,
    /// What stands for a value, such as `DURATION`; empty for a switch.
    pub value_name: String,
    /// The built-in value; none where without it something is not done, or not bounded.
    pub default: Option<String>,
    /// What it is for, in a line.
    pub help: String,
    /// Heading under which the help lists it.
    pub heading: String,
    is_list: bool,
}

/// Every setting, in the order of the help.
pub fn settings() -> Vec<Setting> {
    command().get_arguments().filter_map(setting).collect()
}

fn setting(arg: &Arg) -> Option<Setting> {
    let key = arg.get_long().filter(|key| !ACTIONS.contains(key))?;
    let text = |text: Option<&clap::builder::StyledStr>| text.map(ToString::to_string);
    let value_name = arg.get_value_names().and_then(|names| names.first()).map(ToString::to_string);
    Some(Setting {
        key: key.to_owned(),
        flag: format!("--{key}"),
        variable: variable_of(key),
        value_name: value_name.unwrap_or_default(),
        default: arg.get_default_values().first().map(|value| value.to_string_lossy().into_owned()),
        help: text(arg.get_help()).unwrap_or_default(),
        heading: arg.get_help_heading().unwrap_or("Server").to_owned(),
        is_list: matches!(arg.get_action(), clap::ArgAction::Append),
    })
}

fn command() -> Command {
    Args::augment_args(Command::new("icache serve").no_binary_name(true))
}

/// `ICACHE_` and the flag in capitals.
fn variable_of(key: &str) -> String {
    format!("ICACHE_{}", key.replace('-', "_").to_uppercase())
}

/// Variables of another standard that hold a setting where ours does not.
const STANDARD_VARIABLES: [(&str, &str); 2] = [
    ("otlp-endpoint", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"),
    ("otlp-endpoint", "OTEL_EXPORTER_OTLP_ENDPOINT"),
];

/// What some layer gave, by key, and which one it was.
#[derive(Clone, Debug, Default)]
pub(super) struct Origins(BTreeMap<String, (Vec<OsString>, Source)>);

impl Origins {
    /// Where the value of `key` came from.
    pub(super) fn of(&self, key: &str) -> Source {
        self.0.get(key).map(|(_, source)| source.clone()).unwrap_or_default()
    }

    /// A value of a setting, and where it came from.
    pub(super) fn sourced<T>(&self, key: &str, value: T) -> Sourced<T> {
        Sourced::new(value, self.of(key))
    }
}

/// What the command line gives; variables and the file are read when the command runs.
#[derive(Clone, Debug, Default)]
pub struct Given {
    values: BTreeMap<String, Vec<OsString>>,
}

impl FromArgMatches for Given {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut values = BTreeMap::new();
        for arg in command().get_arguments() {
            let id = arg.get_id().as_str();
            let Some(key) = arg.get_long() else { continue };
            if matches.value_source(id) == Some(ValueSource::CommandLine) {
                let raw = matches.get_raw(id).into_iter().flatten().map(OsString::from);
                values.insert(key.to_owned(), raw.collect());
            }
        }
        Ok(Self { values })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl clap::Args for Given {
    fn augment_args(command: Command) -> Command {
        Args::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Args::augment_args_for_update(command)
    }
}

/// The value of an environment variable, where it is set.
type Lookup<'a> = &'a dyn Fn(&str) -> Option<OsString>;

impl Given {
    /// Every layer read: the arguments as they hold, each with where it came from.
    pub(super) fn resolve(&self) -> Result<Args, UsageError> {
        self.resolve_with(&|name| std::env::var_os(name))
    }

    /// As [`Self::resolve`], with the variables that `variable` gives.
    pub(super) fn resolve_with(&self, variable: Lookup<'_>) -> Result<Args, UsageError> {
        let settings = settings();
        let from_file = match self.config_file(variable) {
            Some(path) => file::read(&path)?,
            None => Vec::new(),
        };
        check_keys(&from_file, &settings)?;
        let mut line: Vec<OsString> = Vec::new();
        for key in ACTIONS {
            line.extend(self.values.get(key).into_iter().flatten().map(|value| match key {
                "print-config" => OsString::from("--print-config"),
                key => given(key, value),
            }));
        }
        let mut origins = BTreeMap::new();
        for setting in &settings {
            let key = setting.key.as_str();
            let layer = match self.values.get(key) {
                Some(values) => {
                    Some((values.clone(), Source::Setting(format!("flag {}", setting.flag).into())))
                }
                None => match setting.in_variable(&setting.variable, variable)? {
                    Some(given) => Some(given),
                    None => setting.in_file(&from_file)?.or(setting.in_standard_variable(variable)?),
                },
            };
            if let Some((values, source)) = layer {
                line.extend(values.iter().map(|value| given(key, value)));
                origins.insert(key.to_owned(), (values, source));
            }
        }
        let mut args = parsed(&line, "")?;
        args.origins = Origins(origins);
        Ok(args)
    }

    fn config_file(&self, variable: Lookup<'_>) -> Option<PathBuf> {
        let given = self.values.get("config").and_then(|values| values.first().cloned());
        given.or_else(|| variable(&variable_of("config")).filter(|path| !path.is_empty())).map(PathBuf::from)
    }
}

impl Setting {
    /// A variable that is set and empty counts as not set: that is how manifests switch one off.
    fn in_variable(
        &self,
        name: &str,
        variable: Lookup<'_>,
    ) -> Result<Option<(Vec<OsString>, Source)>, UsageError> {
        let Some(value) = variable(name).filter(|value| !value.is_empty()) else { return Ok(None) };
        let values = match self.is_list {
            true => std::env::split_paths(&value).map(PathBuf::into_os_string).collect(),
            false => vec![value],
        };
        self.judge(&values, &format!("environment variable {name}: "))?;
        Ok(Some((values, Source::Setting(format!("variable {name}").into()))))
    }

    /// A variable that other programs read, too, counts where nothing that is meant for this one says something.
    fn in_standard_variable(
        &self,
        variable: Lookup<'_>,
    ) -> Result<Option<(Vec<OsString>, Source)>, UsageError> {
        for (_, name) in STANDARD_VARIABLES.iter().filter(|(key, _)| *key == self.key) {
            if let Some(given) = self.in_variable(name, variable)? {
                return Ok(Some(given));
            }
        }
        Ok(None)
    }

    fn in_file(&self, keys: &[FileKey]) -> Result<Option<(Vec<OsString>, Source)>, UsageError> {
        let Some(key) = keys.iter().find(|key| key.name == self.key) else { return Ok(None) };
        if key.values.len() != 1 && !self.is_list {
            return Err(UsageError::new(
                format!("`{}`: `{}` takes one value and no list", key.place, key.name),
                format!("write it as in `{} = ...`", key.name),
            ));
        }
        let values: Vec<OsString> = key.values.iter().map(OsString::from).collect();
        self.judge(&values, &format!("`{}`: ", key.place))?;
        Ok(Some((values, Source::Setting(Arc::from(format!("file {}", key.place))))))
    }

    /// Whether the flag would take the values; the error begins with `place`.
    fn judge(&self, values: &[OsString], place: &str) -> Result<(), UsageError> {
        let line: Vec<OsString> = values.iter().map(|value| given(&self.key, value)).collect();
        parsed(&line, place).map(drop)
    }

    /// Its value as JSON, which is its value as TOML too: a number or a switch as such, everything else as text.
    fn json(&self, texts: &[String]) -> Value {
        let scalar = |text: &String| match text.parse::<i64>() {
            Ok(number) if number.to_string() == *text => Value::from(number),
            _ if matches!(text.as_str(), "true" | "false") => Value::from(text == "true"),
            _ => Value::from(text.as_str()),
        };
        match texts {
            _ if self.is_list => texts.iter().map(|text| Value::from(text.as_str())).collect(),
            [] => Value::Null,
            [text, ..] => scalar(text),
        }
    }
}

fn given(key: &str, value: &OsString) -> OsString {
    let mut argument = OsString::from(format!("--{key}="));
    argument.push(value);
    argument
}

fn parsed(line: &[OsString], place: &str) -> Result<Args, UsageError> {
    let matches = command().try_get_matches_from(line);
    matches
        .and_then(|matches| Args::from_arg_matches(&matches))
        .map_err(|error| UsageError::from_parser(&error, "icache serve").at(place))
}

fn check_keys(keys: &[FileKey], settings: &[Setting]) -> Result<(), UsageError> {
    let Some(key) = keys.iter().find(|key| settings.iter().all(|setting| setting.key != key.name)) else {
        return Ok(());
    };
    let close = nearest(&key.name, settings.iter().map(|setting| setting.key.as_str()));
    let advice = match close.first() {
        Some(close) => format!("write `{close}`, or remove it; `icache serve --help` lists every setting"),
        None => {
            "remove it; `icache serve --help` lists every setting, without its dashes it is a key".to_owned()
        }
    };
    Err(UsageError::new(format!("`{}`: `{}` is no setting of `icache serve`", key.place, key.name), advice))
}

/// What is in force: every setting with its value and where it came from. No setting is a secret; files hold those.
pub(super) fn effective(args: &Args) -> ConfigView {
    let view = |setting: Setting| {
        let texts = match args.origins.0.get(&setting.key) {
            Some((values, _)) => values.iter().map(|value| value.to_string_lossy().into_owned()).collect(),
            None => setting.default.iter().cloned().collect::<Vec<_>>(),
        };
        SettingView {
            value: setting.json(&texts),
            source: args.origins.of(&setting.key).to_string(),
            key: setting.key,
            flag: setting.flag,
            variable: setting.variable,
        }
    };
    ConfigView::new(settings().into_iter().map(view).collect())
}
