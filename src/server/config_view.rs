//! The effective configuration as `GET /config` and `icache serve --print-config` tell it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Version of the shape.
pub const CONFIG_VIEW_VERSION: u32 = 1;

/// Every setting.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ConfigView {
    /// Version of the shape.
    pub version: u32,
    /// In the order of the help.
    pub settings: Vec<SettingView>,
}

/// One setting.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SettingView {
    /// Key of the configuration file.
    pub key: String,
    /// What holds: a number, a switch, a text or a list of texts; null where nothing is set. Never a secret.
    pub value: Value,
    /// `default`, or the flag, variable, or file and line that gave it.
    pub source: String,
    /// The flag.
    pub flag: String,
    /// The environment variable.
    pub variable: String,
}

impl ConfigView {
    /// All of `settings`.
    pub fn new(settings: Vec<SettingView>) -> Self {
        Self { version: CONFIG_VIEW_VERSION, settings }
    }
}

impl Default for ConfigView {
    fn default() -> Self {
        Self::new(Vec::new())
    }
}
