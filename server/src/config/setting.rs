//! A setting of the service: its name, default, unit and range.

/// The accepted values of a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Range {
    /// A whole number between two bounds, both included.
    Integer(u64, u64),
    /// One of these words.
    Choice(&'static [&'static str]),
    /// Text in the form that this phrase describes. The code that reads the setting checks the
    /// form.
    Text(&'static str),
}

/// One setting.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// Name of the environment variable. In `songfoundry.toml` the same name is written in lower
    /// case without `SF_`.
    pub name: &'static str,
    /// Default as text. Empty means that the setting is unset by default.
    pub default: &'static str,
    /// Description of a default that is computed.
    pub default_note: &'static str,
    /// Unit of the value; empty for words and text.
    pub unit: &'static str,
    /// Accepted values.
    pub range: Range,
    /// Effect of the setting, in one to three sentences.
    pub description: &'static str,
    /// Whether the value must not be printed.
    pub is_secret: bool,
}

/// Values of the fields that an entry of the table leaves out.
pub(super) const DEFAULT_SETTING: Setting = Setting {
    name: "",
    default: "",
    default_note: "",
    unit: "",
    range: Range::Text(""),
    description: "",
    is_secret: false,
};

impl std::fmt::Display for Range {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Integer(min, max) => write!(f, "{min} to {max}"),
            Self::Choice(words) => f.write_str(&words.join(" | ")),
            Self::Text(form) => f.write_str(form),
        }
    }
}
