//! A service with a folder of SoundFonts, for tests of slices that make sound.

use std::path::{Path, PathBuf};

use axum::http::Method;
use serde_json::{Value, json};

use crate::test_app::{Answer, TestApp};

/// The bank of Debian's package timgm6mb-soundfont.
pub(crate) const BANK: &str = "/usr/share/sounds/sf2/TimGM6mb.sf2";

/// The bank of Debian's package musescore-general-soundfont-small.
pub(crate) const SF3: &str = "/usr/share/sounds/sf3/MuseScore_General_Lite.sf3";

/// A service, and a folder of SoundFonts for it.
pub(crate) struct Studio {
    pub(crate) app: TestApp,
    sounds: tempfile::TempDir,
}

impl Studio {
    /// With [`BANK`] in its folder.
    pub(crate) async fn start() -> Self {
        Self::with(&[]).await
    }

    /// Like [`Self::start`], with settings.
    pub(crate) async fn with(settings: &[(&str, &str)]) -> Self {
        let studio = Self::empty(settings).await;
        studio.link(Path::new(BANK), "TimGM6mb.sf2");
        studio
    }

    /// With an empty folder.
    pub(crate) async fn empty(settings: &[(&str, &str)]) -> Self {
        let sounds = tempfile::tempdir().expect("a folder");
        let folder = sounds.path().to_string_lossy().into_owned();
        let mut all = vec![("SF_SOUNDFONT_DIRS", folder.as_str())];
        all.extend(settings);
        Self { app: TestApp::with(&all).await, sounds }
    }

    /// A path in the folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.sounds.path().join(name)
    }

    pub(crate) fn link(&self, target: &Path, name: &str) {
        assert!(target.is_file(), "{} is missing; install timgm6mb-soundfont", target.display());
        std::os::unix::fs::symlink(target, self.path(name)).expect("links");
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

/// A project of one instrument track with one note of a second at 120 bpm.
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

/// Frames, left and right, of a stereo float WAV file.
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
