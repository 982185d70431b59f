//! The songs, each with its bank and settings.

use std::path::{Path, PathBuf};

use dsp_core::session::{Interpolation, Session, VelocityToCutoff};
use dsp_core::soundfont::Bank;
use schemas::session::presets_used;
use songfoundry_server::multitrack::midi::{ImportOptions, import};
use songfoundry_server::rendering::banks;

use super::SMALL_BANK as SMALL;
use super::songs::RATE_HZ;

/// The folder of songs of Debian's package `openttd-openmsx`.
const SONGS: &str = "/usr/share/games/openttd/baseset/openmsx";
/// Number of songs. The test uses the first ones by name.
const SONG_COUNT: usize = 20;
/// The bank of Debian's package `fluid-soundfont-gm`.
const LARGE: &str = "/usr/share/sounds/sf2/FluidR3_GM.sf2";
/// The bank of Debian's package `musescore-general-soundfont-small`.
const COMPRESSED: &str = "/usr/share/sounds/sf3/MuseScore_General_Lite.sf3";

/// A song and its settings.
pub(super) struct Case {
    /// Names of the song, the bank and the interpolation.
    pub(super) name: String,
    song: PathBuf,
    bank: &'static str,
    interpolation: Interpolation,
    velocity_to_cutoff: VelocityToCutoff,
    /// Whether browsers also play the song with the whole bank.
    is_whole_bank_in_browsers: bool,
}

/// Returns all cases. Banks repeat every three songs and interpolations every four, so that all
/// combinations occur.
pub(super) fn cases() -> Vec<Case> {
    let folder =
        std::fs::read_dir(SONGS).unwrap_or_else(|error| panic!("{SONGS}: {error}; see scripts/test"));
    let mut songs: Vec<PathBuf> = folder.map(|entry| entry.expect("an entry").path()).collect();
    songs.retain(|path| path.extension().is_some_and(|extension| extension == "mid"));
    songs.sort();
    songs.into_iter().take(SONG_COUNT).enumerate().map(|(index, song)| case(index, song)).collect()
}

fn case(index: usize, song: PathBuf) -> Case {
    let bank = [SMALL, LARGE, COMPRESSED][index % 3];
    let interpolation = match index % 4 {
        0 | 1 => Interpolation::FourPoint,
        2 => Interpolation::Sinc,
        _ => Interpolation::Linear,
    };
    let stem = |path: &Path| path.file_stem().expect("a name").to_string_lossy().into_owned();
    Case {
        name: format!("{} with {}, {interpolation:?}", stem(&song), stem(Path::new(bank))),
        song,
        bank,
        interpolation,
        // The setting repeats every five songs, so that all combinations occur.
        velocity_to_cutoff: match index % 5 {
            0 => VelocityToCutoff::Specification,
            _ => VelocityToCutoff::AsStated,
        },
        // Loading a whole large bank is slow, so only one case uses one. Browsers do not load
        // compressed banks.
        is_whole_bank_in_browsers: bank == SMALL || index == 1,
    }
}

impl Case {
    /// Returns the session at 48 kHz. Its bank is in slot 0.
    pub(super) fn session(&self) -> Session {
        let bytes = std::fs::read(&self.song).expect("the song reads");
        let project = import(&bytes, ImportOptions::default()).expect("the song is imported").project;
        let mut session = schemas::session::build(&project, RATE_HZ, |_| Some(0)).expect("a session");
        session.interpolation = self.interpolation;
        session.velocity_to_cutoff = self.velocity_to_cutoff;
        session
    }

    /// Opens the whole bank and decodes the samples that the session plays.
    pub(super) fn whole_bank(&self, session: &Session) -> Bank {
        let bank = banks::open(Path::new(self.bank)).unwrap_or_else(|error| panic!("{}: {error}", self.bank));
        bank.prepare(&presets_used(session, 0)).expect("the samples are decoded");
        bank
    }

    /// Returns the file of a reduced bank with the presets of the session.
    pub(super) fn reduced_file(&self, source_bank: &Bank, session: &Session) -> Vec<u8> {
        let file = source_bank.write_reduced(&presets_used(session, 0)).expect("the bank is reduced");
        if self.bank != COMPRESSED {
            let whole_bytes = std::fs::metadata(self.bank).expect("the bank's size").len();
            assert!(
                (file.len() as u64) < whole_bytes,
                "{}: the reduced bank has {} bytes, as many as the whole bank or more",
                self.name,
                file.len()
            );
        }
        file
    }

    /// Returns the path of the whole bank, if browsers play it.
    pub(super) fn whole_bank_for_browsers(&self) -> Option<&str> {
        self.is_whole_bank_in_browsers.then_some(self.bank)
    }
}
