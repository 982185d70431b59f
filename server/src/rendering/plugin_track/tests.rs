//! Tests renders with the scripted helper.

use std::io::Cursor;
use std::sync::atomic::{AtomicBool, Ordering};

use dsp_core::mixer::Slots;
use dsp_core::session::{Track, TrackEvent};

use super::*;
use crate::plugin_hosts::scripted::{Scripted, plugin};
use crate::rendering::budget::RenderBudget;

/// Sample rate of the tests in hertz.
const RATE_HZ: u32 = 48_000;

fn session(note_frames: &[u64]) -> Session {
    let event = |frame: &u64| TrackEvent { frame: *frame, event: Event::NoteOn { key: 60, velocity: 100 } };
    let events = note_frames.iter().map(event).collect();
    Session {
        length_frames: note_frames.last().map_or(0, |frame| frame + 100),
        tracks: vec![Track { events, ..Track::default() }],
        ..Session::default()
    }
}

/// Renders with the helper of `script`. Returns the left channel.
fn render(script: &str, session: &Session, is_cancelled: &dyn Fn() -> bool) -> Result<Vec<f32>, RenderError> {
    render_in_attempts(script, session, is_cancelled).map(|(samples, _)| samples)
}

/// Renders with the helper of `script`. Returns the left channel and the number of attempts.
fn render_in_attempts(
    script: &str,
    session: &Session,
    is_cancelled: &dyn Fn() -> bool,
) -> Result<(Vec<f32>, u32), RenderError> {
    let scripted = Scripted::new(script);
    let (plugin, setup) = (plugin(), PluginSetup::default());
    let track = PluginTrack {
        hosts: &scripted.hosts,
        plugin: &plugin,
        setup: &setup,
        session,
        time_signatures: &[],
        input: None,
        tail_secs: 1.0,
        is_cancelled,
    };
    let reservation =
        RenderBudget::unshared(1 << 30).share_of("ada").reserve(session, Slots::default(), &mut |_| true)?;
    let mut attempts = 0;
    let new_file = || {
        attempts += 1;
        Ok(Cursor::new(Vec::new()))
    };
    let (file, rendered_frames) = track.render(&reservation, new_file, &mut |_| true)?;
    let bytes = file.into_inner();
    let mut reader = hound::WavReader::new(&bytes[..]).expect("a WAV file");
    let samples: Vec<f32> = reader.samples().step_by(2).map(|sample| sample.expect("a sample")).collect();
    let has_sound = samples.iter().any(|sample| *sample != 0.0);
    assert_eq!(rendered_frames.is_silent, track.has_notes() && !has_sound);
    Ok((samples, attempts))
}

#[test]
fn notes_sound_at_their_frames_whatever_the_latency() {
    let note_frames = [0, 1, 8_191, 8_192, 20_000];
    // The second plugin processes a block only after it has received the next one.
    for script in ["clicks", "pairs"] {
        let samples = render(script, &session(&note_frames), &|| false).expect("renders");
        let sounding: Vec<u64> =
            (0..).zip(&samples).filter(|(_, value)| **value != 0.0).map(|(at, _)| at).collect();
        assert_eq!(sounding, note_frames, "{script}");
        // The tail is half a second, from the end of the last note.
        assert_eq!(samples.len(), 20_100 + RATE_HZ as usize / 2, "{script}");
    }
}

#[test]
fn a_track_without_notes_is_silent() {
    let samples = render("clicks", &session(&[]), &|| false).expect("renders");
    assert_eq!(samples, vec![0.0; RATE_HZ as usize / 2]);
}

#[test]
fn a_cancelled_render_ends() {
    let is_cancelled = AtomicBool::new(false);
    let cancel_at_second_check = || is_cancelled.swap(true, Ordering::Relaxed);
    let error = render("clicks", &session(&[0]), &cancel_at_second_check).expect_err("cancelled");
    assert!(matches!(error, RenderError::Plugin(HostError::Cancelled)), "{error}");
}

#[test]
fn silence_is_rendered_once_more_after_a_long_warm_up() {
    for (script, notes, expected) in [
        ("clicks", &[0][..], (1, 1)),
        ("late", &[0], (2, 1)),
        ("silent", &[0], (2, 0)),
        ("silent", &[], (1, 0)),
    ] {
        let (samples, attempts) = render_in_attempts(script, &session(notes), &|| false).expect("renders");
        let clicks = samples.iter().filter(|sample| **sample != 0.0).count();
        assert_eq!((attempts, clicks), expected, "{script} {notes:?}");
    }
}
