//! All settings of a user.

use dsp_core::render::MAX_TAIL_SECS;

use super::value::{DefaultValue, Kind};
use crate::encoding::audio_format::BitDepth;

/// A setting of a user.
#[derive(Debug)]
pub(super) struct UserSetting {
    /// Name of the setting in the API; never changes.
    pub(super) name: &'static str,
    /// Accepted values.
    pub(super) kind: Kind,
    /// Default value.
    pub(super) default: DefaultValue,
    /// Description in one sentence.
    pub(super) description: &'static str,
}

const fn choice(
    setting_name: &'static str,
    words: &'static [&'static str],
    default: &'static str,
    description: &'static str,
) -> UserSetting {
    UserSetting {
        name: setting_name,
        kind: Kind::Choice(words),
        default: DefaultValue::Text(default),
        description,
    }
}

const fn switch(
    setting_name: &'static str,
    is_on_by_default: bool,
    description: &'static str,
) -> UserSetting {
    UserSetting {
        name: setting_name,
        kind: Kind::Switch,
        default: DefaultValue::Switch(is_on_by_default),
        description,
    }
}

const fn whole(
    setting_name: &'static str,
    min: i64,
    max: i64,
    default: i64,
    description: &'static str,
) -> UserSetting {
    UserSetting {
        name: setting_name,
        kind: Kind::Whole { min, max },
        default: DefaultValue::Whole(default),
        description,
    }
}

const fn number(
    setting_name: &'static str,
    min: f64,
    max: f64,
    default: f64,
    description: &'static str,
) -> UserSetting {
    UserSetting {
        name: setting_name,
        kind: Kind::Number { min, max },
        default: DefaultValue::Number(default),
        description,
    }
}

const fn optional_text(
    setting_name: &'static str,
    max_chars: usize,
    description: &'static str,
) -> UserSetting {
    UserSetting {
        name: setting_name,
        kind: Kind::OptionalText { max_chars },
        default: DefaultValue::Null,
        description,
    }
}

/// All settings, in the order in which they are listed.
pub(super) const USER_SETTINGS: &[UserSetting] = &[
    choice(
        "instrument_sound",
        &["auto", "server", "client"],
        "auto",
        "Whether the server or the client renders instrument tracks; with `auto`, the service decides.",
    ),
    switch("follow_playhead", true, "Whether the view follows the playhead."),
    whole(
        "snap_ticks",
        0,
        15_360,
        240,
        "Spacing of the grid that edits snap to, in ticks (960 in a quarter note); 0 turns snapping off.",
    ),
    choice(
        "theme",
        &["system", "dark", "light"],
        "system",
        "Colours of the page; `system` follows the operating system.",
    ),
    switch("metronome", false, "Whether the metronome clicks while a song plays."),
    number("metronome_level_db", -60.0, 6.0, -12.0, "Level of the metronome in decibels."),
    whole("count_in_bars", 0, 4, 1, "Number of bars that the metronome counts in before a recording."),
    switch("autosave", true, "Whether the page saves projects automatically."),
    choice(
        "new_project_sample_rate_hz",
        &["44100", "48000", "96000"],
        "48000",
        "Sample rate of a new project in hertz.",
    ),
    number("new_project_bpm", 10.0, 400.0, 120.0, "Tempo of a new project in quarter notes per minute."),
    optional_text(
        "new_track_soundfont_id",
        128,
        "SoundFont of a new instrument track; null means the default SoundFont.",
    ),
    choice(
        "export_bit_depth",
        &BitDepth::NAMES,
        BitDepth::Pcm16.name(),
        "Sample format of an exported file.",
    ),
    choice(
        "export_sample_rate_hz",
        &["project", "44100", "48000", "96000"],
        "project",
        "Sample rate of an exported file in hertz; `project` means the project's sample rate.",
    ),
    number(
        "export_tail_secs",
        0.0,
        MAX_TAIL_SECS,
        5.0,
        "Maximum time in seconds that an export continues after the last item.",
    ),
    optional_text("export_artist", 200, "Artist in the metadata of exported files; null means no artist."),
    whole("keyboard_velocity", 1, 127, 100, "MIDI velocity of notes played on the computer's keyboard."),
];

/// Returns the setting with this name.
pub(super) fn user_setting(setting_name: &str) -> Option<&'static UserSetting> {
    USER_SETTINGS.iter().find(|setting| setting.name == setting_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_is_accepted_by_its_setting() {
        for setting in USER_SETTINGS {
            let default = setting.default.to_json();
            assert_eq!(setting.kind.check(&default), Ok(()), "{}", setting.name);
            assert!(setting.description.ends_with('.'), "{}", setting.name);
        }
    }

    #[test]
    fn every_setting_has_a_different_name() {
        for (index, setting) in USER_SETTINGS.iter().enumerate() {
            assert_eq!(
                USER_SETTINGS.iter().position(|table_row| table_row.name == setting.name),
                Some(index)
            );
        }
    }
}
