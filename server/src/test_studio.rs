//! A service with a folder of SoundFonts, for tests of modules that render sound.

use std::path::{Path, PathBuf};

use axum::http::Method;
use serde_json::{Value, json};

use crate::test_app::{Answer, TestApp};

/// The SoundFont of Debian's package timgm6mb-soundfont.
pub(crate) const BANK: &str = "/usr/share/sounds/sf2/TimGM6mb.sf2";

/// The SoundFont of Debian's package musescore-general-soundfont-small.
pub(crate) const SF3: &str = "/usr/share/sounds/sf3/MuseScore_General_Lite.sf3";

/// A service and its folder of SoundFonts.
pub(crate) struct Studio {
    pub(crate) app: TestApp,
    soundfont_dir: tempfile::TempDir,
}

impl Studio {
    /// Starts a service whose SoundFont folder has [`BANK`].
    pub(crate) async fn start() -> Self {
        Self::with(&[]).await
    }

    /// Starts a service like [`Self::start`], with additional settings.
    pub(crate) async fn with(settings: &[(&str, &str)]) -> Self {
        let studio = Self::without_soundfonts(settings).await;
        studio.link(Path::new(BANK), "TimGM6mb.sf2");
        studio
    }

    /// Starts a service whose SoundFont folder is empty.
    pub(crate) async fn without_soundfonts(settings: &[(&str, &str)]) -> Self {
        let soundfont_dir = tempfile::tempdir().expect("a temporary folder");
        let folder = soundfont_dir.path().to_string_lossy().into_owned();
        let mut all_settings = vec![("SF_SOUNDFONT_DIRS", folder.as_str())];
        all_settings.extend(settings);
        Self { app: TestApp::with(&all_settings).await, soundfont_dir }
    }

    /// Returns the path of `name` in the SoundFont folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.soundfont_dir.path().join(name)
    }

    pub(crate) fn link(&self, target: &Path, name: &str) {
        assert!(
            target.is_file(),
            "{} is missing; install timgm6mb-soundfont and musescore-general-soundfont-small",
            target.display()
        );
        std::os::unix::fs::symlink(target, self.path(name)).expect("makes a symbolic link");
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.app.local(Method::GET, &format!("/api/v1{path}")).send().await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Answer {
        self.app.local(Method::POST, &format!("/api/v1{path}")).json(body).send().await
    }

    pub(crate) async fn catalogue(&self) -> Value {
        self.get("/plugins/soundfonts/catalog").await.expect(200)
    }
}

/// Returns a project of one instrument track with one note, which lasts half a second at 120 BPM.
pub(crate) fn song(bank: u8, program: u8, controls: Value) -> Value {
    json!({
        "schema_version": 1, "project_id": "song", "name": "Söng",
        "tracks": [{
            "id": "t", "kind": "instrument",
            "synth_engine": {"type": "soundfont", "bank": bank, "program": program},
            "items": [{
                "type": "midi", "id": "i", "start_tick": 0, "length_ticks": 1920, "controls": controls,
                "notes": [{"tick": 0, "length_ticks": 960, "pitch": 60, "velocity": 0.8}]
            }]
        }]
    })
}

/// Returns the interleaved samples of a stereo float WAV file.
pub(crate) fn float_samples(bytes: &[u8]) -> Vec<f32> {
    let mut reader = hound::WavReader::new(bytes).expect("a WAV file");
    let spec = reader.spec();
    assert_eq!(
        (spec.channels, spec.sample_format, spec.bits_per_sample),
        (2, hound::SampleFormat::Float, 32)
    );
    reader.samples::<f32>().collect::<Result<_, _>>().expect("samples")
}

pub(crate) fn peak(samples: &[f32]) -> f32 {
    samples.iter().fold(0.0, |peak, value| value.abs().max(peak))
}
