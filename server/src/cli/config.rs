//! The command `songfoundry config`.

use super::Settings;
use super::standard_output::print_line;
use crate::config::{Config, Origin, SETTINGS, Source};
use crate::db::DatabaseAddress;

/// Print every setting with its value, default, unit and range.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  songfoundry config
  SF_PORT=9000 songfoundry config        Shows that the port comes from the environment

In songfoundry.toml the same settings are written in lower case without SF_:
  port = 9000
  soundfont_dirs = [\"/music/sf2\"]
  trust_local = false")]
pub(super) struct Args {}

pub(super) fn run(_: &Args, settings: &Settings) -> anyhow::Result<()> {
    let source = settings.source()?;
    print_line(table(&source).trim_end())?;
    Config::load(&source)?;
    Ok(())
}

fn table(source: &Source) -> String {
    let mut text = String::new();
    for setting in SETTINGS {
        let (value, origin) = source.text(setting.name);
        let value = match value {
            Some(_) if setting.is_secret => "(hidden)".to_owned(),
            Some(value) => redacted(setting.name, value),
            None => "(not set)".to_owned(),
        };
        let origin_note = match origin {
            Origin::Environment => "  [environment]",
            Origin::File => "  [songfoundry.toml]",
            Origin::Default => "",
        };
        let default = if setting.default.is_empty() { setting.default_note } else { setting.default };
        let default = if default.is_empty() { "none" } else { default };
        let unit = if setting.unit.is_empty() { String::new() } else { format!("   unit: {}", setting.unit) };
        text.push_str(&format!(
            "{}={value}{origin_note}\n    {}\n    default: {default}{unit}   accepted: {}\n",
            setting.name, setting.description, setting.range
        ));
    }
    text
}

/// Returns a value without secrets. The password of a database address is removed.
fn redacted(setting_name: &str, value: &str) -> String {
    match setting_name {
        "SF_DATABASE_URL" => {
            DatabaseAddress::parse(value).map_or_else(|| "(hidden)".to_owned(), |address| address.to_string())
        }
        _ => value.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_shows_values_and_their_origins_but_no_secrets() {
        let secret = "0123456789abcdef0123456789abcdef";
        let text = table(&Source::from_pairs([("SF_PORT", "9000"), ("SF_JWT_SECRET", secret)]));
        assert!(text.contains("SF_PORT=9000  [environment]"), "{text}");
        assert!(text.contains("default: 8600   unit: port   accepted: 0 to 65535"), "{text}");
        assert!(text.contains("SF_JWT_SECRET=(hidden)  [environment]") && !text.contains(secret), "{text}");
        let text = table(&Source::from_pairs([("SF_DATABASE_URL", "postgres://ada:hunter2@db/x")]));
        assert!(text.contains("SF_DATABASE_URL=postgres://db/x") && !text.contains("hunter2"), "{text}");
        for setting in SETTINGS {
            assert!(text.contains(setting.name), "{} is missing", setting.name);
        }
    }
}
