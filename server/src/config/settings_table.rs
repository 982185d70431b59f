//! The table of all settings with their defaults, units and ranges.
//!
//! `songfoundry config` prints this table, and [`super::Config::load`] checks values against it, so
//! the output always matches the checks.

mod extension_table;
mod server_table;
mod work_table;

use extension_table::EXTENSION_SETTINGS;
use server_table::SERVER_SETTINGS;
use work_table::WORK_SETTINGS;

use super::setting::{DEFAULT_SETTING, Range, Setting};

/// Maximum of `SF_PLUGIN_SCAN_MAX_SECS`, and of the time limit for one module.
pub(crate) const PLUGIN_SCAN_MAX_SECS_MAX: u64 = 600;

const ON_OFF: Range = Range::Choice(&["on", "off"]);

/// The parts of the table, in the order in which they are printed.
const TABLES: [&[Setting]; 3] = [SERVER_SETTINGS, WORK_SETTINGS, EXTENSION_SETTINGS];

const SETTING_COUNT: usize = SERVER_SETTINGS.len() + WORK_SETTINGS.len() + EXTENSION_SETTINGS.len();

/// All settings, in the order in which they are printed.
pub const SETTINGS: &[Setting] = &{
    let mut settings = [DEFAULT_SETTING; SETTING_COUNT];
    let (mut table, mut row, mut count) = (0, 0, 0);
    while count < SETTING_COUNT {
        if row < TABLES[table].len() {
            settings[count] = TABLES[table][row];
            (row, count) = (row + 1, count + 1);
        } else {
            (table, row) = (table + 1, 0);
        }
    }
    settings
};

/// Returns the setting with this name.
///
/// # Panics
/// If the table has no such setting.
#[must_use]
pub(super) fn setting(setting_name: &str) -> &'static Setting {
    SETTINGS
        .iter()
        .find(|setting| setting.name == setting_name)
        .unwrap_or_else(|| panic!("`{setting_name}` is not in the table of settings"))
}
