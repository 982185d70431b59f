//! Reads the values of settings. The environment takes precedence over `songfoundry.toml`, and the
//! file over the defaults.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::ConfigError;
use super::setting::Range;
use super::settings_table::{SETTINGS, setting};

/// Source of a setting's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// An environment variable.
    Environment,
    /// `songfoundry.toml`.
    File,
    /// The table of settings.
    Default,
}

/// The texts of all settings that are set.
#[derive(Debug, Clone, Default)]
pub struct Source {
    environment: BTreeMap<String, String>,
    file: BTreeMap<String, String>,
}

impl Source {
    /// Reads the settings from the environment of the process and from the settings file.
    ///
    /// If `explicit_file` is set, this file must exist. Otherwise `songfoundry.toml` in the current
    /// folder is read, if it exists.
    ///
    /// # Errors
    /// If the file cannot be read, is not TOML, or has an unknown key or a value of the wrong type.
    pub fn from_process(explicit_file: Option<&Path>) -> Result<Self, ConfigError> {
        let environment = environment()?;
        let file = match explicit_file {
            Some(path) => read_file(path)?,
            None => {
                let path = PathBuf::from("songfoundry.toml");
                if path.is_file() { read_file(&path)? } else { BTreeMap::new() }
            }
        };
        Ok(Self { environment, file })
    }

    /// Returns settings from pairs, as if they came from the environment. For tests and embedding.
    pub fn from_pairs<K: Into<String>, V: Into<String>>(pairs: impl IntoIterator<Item = (K, V)>) -> Self {
        let environment =
            pairs.into_iter().map(|(setting_name, value)| (setting_name.into(), value.into())).collect();
        Self { environment, file: BTreeMap::new() }
    }

    /// Returns settings from the text of a `songfoundry.toml`.
    ///
    /// # Errors
    /// Those of [`Source::from_process`] for the content of the file.
    pub fn from_toml(text: &str, path: &Path) -> Result<Self, ConfigError> {
        Ok(Self { environment: BTreeMap::new(), file: parse_file(text, path)? })
    }

    /// Returns the variables that start with `SF_` but are not settings. They are probably
    /// misspelt.
    #[must_use]
    pub fn unknown_variables(&self) -> Vec<&str> {
        self.environment
            .keys()
            .map(String::as_str)
            .filter(|setting_name| !SETTINGS.iter().any(|setting| setting.name == *setting_name))
            .collect()
    }

    /// Returns the text of a setting and its origin. The text is `None` if the setting is not set
    /// and has no fixed default.
    ///
    /// An empty value counts as not set.
    #[must_use]
    pub fn text(&self, setting_name: &str) -> (Option<&str>, Origin) {
        let setting = setting(setting_name);
        let is_set = |map: &'_ BTreeMap<String, String>| {
            map.get(setting_name).is_some_and(|text| !text.trim().is_empty())
        };
        if is_set(&self.environment) {
            (self.environment.get(setting_name).map(|text| text.trim()), Origin::Environment)
        } else if is_set(&self.file) {
            (self.file.get(setting_name).map(|text| text.trim()), Origin::File)
        } else if setting.default.is_empty() {
            (None, Origin::Default)
        } else {
            (Some(setting.default), Origin::Default)
        }
    }

    /// Returns the items of a comma-separated list.
    pub(super) fn list(&self, setting_name: &str) -> impl Iterator<Item = &str> {
        let text = self.text(setting_name).0.unwrap_or_default();
        text.split(',').map(str::trim).filter(|part| !part.is_empty())
    }

    /// Returns the absolute paths of folders, separated as in `PATH`, or `None` if the setting is
    /// not set.
    pub(super) fn folders(&self, setting_name: &'static str) -> Result<Option<Vec<PathBuf>>, ConfigError> {
        let Some(text) = self.text(setting_name).0 else { return Ok(None) };
        let dirs = std::env::split_paths(text).filter(|dir| !dir.as_os_str().is_empty());
        dirs.map(|dir| absolute_path(setting_name, dir)).collect::<Result<_, _>>().map(Some)
    }

    pub(super) fn integer(&self, setting_name: &'static str) -> Result<u64, ConfigError> {
        let Range::Integer(min, max) = setting(setting_name).range else {
            panic!("`{setting_name}` is not declared as a whole number")
        };
        let text = self.text(setting_name).0.unwrap_or_default();
        text.parse()
            .ok()
            .filter(|value| (min..=max).contains(value))
            .ok_or_else(|| invalid(setting_name, text, format!("a whole number from {min} to {max}")))
    }

    /// Returns the memory for all renders together, in bytes.
    ///
    /// # Errors
    /// If the value is not a number in its range.
    pub fn render_memory_bytes(&self) -> Result<u64, ConfigError> {
        self.integer("SF_RENDER_MEMORY_BYTES")
    }

    pub(super) fn choice(&self, setting_name: &'static str) -> Result<&'static str, ConfigError> {
        let Range::Choice(words) = setting(setting_name).range else {
            panic!("`{setting_name}` is not declared as a choice")
        };
        let text = self.text(setting_name).0.unwrap_or_default();
        words
            .iter()
            .copied()
            .find(|word| *word == text)
            .ok_or_else(|| invalid(setting_name, text, format!("one of {}", words.join(", "))))
    }

    pub(super) fn switch(&self, setting_name: &'static str) -> Result<bool, ConfigError> {
        Ok(self.choice(setting_name)? == "on")
    }
}

/// Returns the environment variables that begin with `SF_`. Other variables may have any content.
fn environment() -> Result<BTreeMap<String, String>, ConfigError> {
    let mut environment = BTreeMap::new();
    for (setting_name, value) in std::env::vars_os() {
        let Some(setting_name) = setting_name.to_str().filter(|setting_name| setting_name.starts_with("SF_"))
        else {
            continue;
        };
        let value = match (value.into_string(), SETTINGS.iter().find(|setting| setting.name == setting_name))
        {
            (Ok(value), _) => value,
            (Err(_), Some(setting)) => return Err(ConfigError::NotUnicode { key: setting.name }),
            (Err(value), None) => value.to_string_lossy().into_owned(),
        };
        environment.insert(setting_name.to_owned(), value);
    }
    Ok(environment)
}

/// Refuses a relative path.
pub(super) fn absolute_path(setting_name: &'static str, path: PathBuf) -> Result<PathBuf, ConfigError> {
    match path.is_absolute() {
        true => Ok(path),
        false => {
            Err(invalid(setting_name, &path.to_string_lossy(), "the absolute path of a folder".to_owned()))
        }
    }
}

pub(super) fn invalid(setting_name: &'static str, value: &str, expected: String) -> ConfigError {
    let value = if setting(setting_name).is_secret { "(hidden)".to_owned() } else { format!("`{value}`") };
    ConfigError::Invalid { key: setting_name, value, expected }
}

/// Returns the error for an address. It does not repeat the address, which may contain a password.
pub(super) fn invalid_address(setting_name: &'static str, expected: &str) -> ConfigError {
    let value = "(hidden: an unsupported address)".to_owned();
    ConfigError::Invalid { key: setting_name, value, expected: expected.to_owned() }
}

fn read_file(path: &Path) -> Result<BTreeMap<String, String>, ConfigError> {
    let text = std::fs::read_to_string(path)
        .map_err(|source| ConfigError::FileUnreadable { path: path.to_owned(), source })?;
    parse_file(&text, path)
}

fn parse_file(text: &str, path: &Path) -> Result<BTreeMap<String, String>, ConfigError> {
    let table: toml::Table = text.parse().map_err(|source: toml::de::Error| ConfigError::FileMalformed {
        path: path.to_owned(),
        detail: source.to_string(),
    })?;
    table
        .into_iter()
        .map(|(name, value)| {
            let setting_name = format!("SF_{}", name.to_uppercase());
            let setting = SETTINGS
                .iter()
                .find(|setting| setting.name == setting_name)
                .ok_or_else(|| ConfigError::UnknownKey { path: path.to_owned(), name: name.clone() })?;
            Ok((setting_name, value_text(setting.name, value)?))
        })
        .collect()
}

fn value_text(setting_name: &'static str, value: toml::Value) -> Result<String, ConfigError> {
    let separator = match setting_name {
        "SF_TRUSTED_PROXIES" | "SF_CORS_ORIGINS" | "SF_AI_MODELS" => ",",
        _ if cfg!(windows) => ";",
        _ => ":",
    };
    match value {
        toml::Value::String(text) => Ok(text),
        toml::Value::Integer(number) => Ok(number.to_string()),
        toml::Value::Boolean(is_on) => Ok(if is_on { "on" } else { "off" }.to_owned()),
        toml::Value::Array(values) => {
            let texts: Vec<&str> =
                values.iter().map(|value| value.as_str()).collect::<Option<_>>().ok_or_else(|| {
                    let list = toml::Value::Array(values.clone()).to_string();
                    invalid(setting_name, &list, "a list of strings".to_owned())
                })?;
            Ok(texts.join(separator))
        }
        other_value => {
            Err(invalid(setting_name, &other_value.to_string(), setting(setting_name).range.to_string()))
        }
    }
}
