//! Installs the database drivers of `sqlx`.

use std::sync::Once;

/// Installs the drivers of SQLite and PostgreSQL; does nothing if they are installed.
///
/// The feature `sqlite` of `sqlx`, which contains its default drivers, would build SQLite a second
/// time for the macros of `sqlx`.
pub fn install_drivers() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // This fails only if drivers are installed, which no other function does.
        let _ = sqlx::any::install_drivers(&[sqlx::postgres::any::DRIVER, sqlx_sqlite::any::DRIVER]);
    });
}
