//! Where the database is, without ever saying its password.

use std::fmt;
use std::path::{Path, PathBuf};

use super::Kind;

/// The address of a database. Shown, it has neither user, nor password, nor options.
#[derive(Clone)]
pub struct DatabaseAddress(String);

impl DatabaseAddress {
    /// Takes `sqlite:<file>`, `postgres://...` or `postgresql://...`; `None` for anything else.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        ["sqlite:", "postgres://", "postgresql://"]
            .iter()
            .any(|start| text.starts_with(start))
            .then(|| Self(text.to_owned()))
    }

    /// The address of a SQLite file.
    #[must_use]
    pub fn of_file(file: &Path) -> Self {
        Self(format!("sqlite:{}", file.display()))
    }

    /// The kind of database that it is.
    #[must_use]
    pub fn kind(&self) -> Kind {
        if self.0.starts_with("sqlite:") { Kind::Sqlite } else { Kind::Postgres }
    }

    /// The file of an SQLite database.
    #[must_use]
    pub fn file(&self) -> Option<PathBuf> {
        let rest = self.0.strip_prefix("sqlite:")?.trim_start_matches("//");
        Some(PathBuf::from(rest.split('?').next().unwrap_or(rest)))
    }

    /// The whole address, password included.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for DatabaseAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = self.0.split(['?', '#']).next().unwrap_or_default();
        match plain.split_once("://") {
            // A password that is not escaped may itself hold an `@` or a `/`.
            Some((scheme, rest)) if self.kind() == Kind::Postgres => {
                let place = rest.rsplit_once('@').map_or(rest, |(_, place)| place);
                write!(f, "{scheme}://{place}")
            }
            _ => f.write_str(plain),
        }
    }
}

impl fmt::Debug for DatabaseAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_shown_without_its_secrets() {
        for (given, shown) in [
            ("sqlite:/srv/songs/x.db?mode=rwc", "sqlite:/srv/songs/x.db"),
            ("postgres://ada:hunter2@db.example:5432/songs", "postgres://db.example:5432/songs"),
            ("postgresql://ada:hun/t@er2@db/songs?sslmode=require", "postgresql://db/songs"),
            ("postgres:///songs?host=/run/pg&user=ada&password=hunter2", "postgres:///songs"),
        ] {
            let address = DatabaseAddress::parse(given).expect("an address");
            assert_eq!((address.to_string().as_str(), format!("{address:?}").as_str()), (shown, shown));
            assert_eq!(address.reveal(), given);
        }
        let file = |text| DatabaseAddress::parse(text).and_then(|address| address.file());
        assert_eq!(file("sqlite:///srv/songs/x.db?mode=rwc"), Some(PathBuf::from("/srv/songs/x.db")));
        assert_eq!(file("postgres://db/songs"), None);
        assert!(DatabaseAddress::parse("mysql://root@db/x").is_none());
    }
}
