//! Addresses of databases. They are shown without passwords.

use std::fmt;
use std::path::{Path, PathBuf};

use super::DatabaseKind;

/// The address of a database. `Display` and `Debug` omit user, password and options.
#[derive(Clone)]
pub struct DatabaseAddress(String);

impl DatabaseAddress {
    /// Parses `sqlite:<file>`, `postgres://...` or `postgresql://...`. Returns `None` for other
    /// texts.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        ["sqlite:", "postgres://", "postgresql://"]
            .iter()
            .any(|start| text.starts_with(start))
            .then(|| Self(text.to_owned()))
    }

    /// Returns the address of an SQLite file.
    #[must_use]
    pub fn of_file(file: &Path) -> Self {
        Self(format!("sqlite:{}", file.display()))
    }

    /// Returns the kind of database.
    #[must_use]
    pub fn kind(&self) -> DatabaseKind {
        if self.0.starts_with("sqlite:") { DatabaseKind::Sqlite } else { DatabaseKind::Postgres }
    }

    /// Returns the file of an SQLite database; `None` for PostgreSQL.
    #[must_use]
    pub fn file(&self) -> Option<PathBuf> {
        let path = self.0.strip_prefix("sqlite:")?.trim_start_matches("//");
        Some(PathBuf::from(path.split('?').next().unwrap_or(path)))
    }

    /// Returns the full address with its password.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for DatabaseAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let without_options = self.0.split(['?', '#']).next().unwrap_or_default();
        match without_options.split_once("://") {
            // An unescaped password may contain `@` or `/`.
            Some((scheme, location)) if self.kind() == DatabaseKind::Postgres => {
                let host_and_name = location.rsplit_once('@').map_or(location, |(_, tail)| tail);
                write!(f, "{scheme}://{host_and_name}")
            }
            _ => f.write_str(without_options),
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
        for (text, shown) in [
            ("sqlite:/srv/songs/x.db?mode=rwc", "sqlite:/srv/songs/x.db"),
            ("postgres://ada:hunter2@db.example:5432/songs", "postgres://db.example:5432/songs"),
            ("postgresql://ada:hun/t@er2@db/songs?sslmode=require", "postgresql://db/songs"),
            ("postgres:///songs?host=/run/pg&user=ada&password=hunter2", "postgres:///songs"),
        ] {
            let address = DatabaseAddress::parse(text).expect("an address");
            assert_eq!((address.to_string().as_str(), format!("{address:?}").as_str()), (shown, shown));
            assert_eq!(address.reveal(), text);
        }
        let file = |text| DatabaseAddress::parse(text).and_then(|address| address.file());
        assert_eq!(file("sqlite:///srv/songs/x.db?mode=rwc"), Some(PathBuf::from("/srv/songs/x.db")));
        assert_eq!(file("postgres://db/songs"), None);
        assert!(DatabaseAddress::parse("mysql://root@db/x").is_none());
    }
}
