//! The presets of a bank that a session can play.

use std::collections::BTreeSet;

use dsp_core::session::{Event, Session, Track};

/// Controller numbers of bank select, most and least significant byte (MIDI 1.0).
const BANK_SELECT: [u8; 2] = [0, 32];
/// Number of the bank with the drum kits (SoundFont 2.04, section 7.2).
const DRUM_BANK: u16 = 128;

/// Returns the bank and program numbers that the tracks of a bank slot can request, in ascending
/// order.
pub fn presets_used(session: &Session, bank_slot: u32) -> Vec<(u16, u8)> {
    let on_slot =
        |track: &&Track| track.instrument.is_some_and(|instrument| instrument.bank_slot == bank_slot);
    let used_presets: BTreeSet<(u16, u8)> =
        session.tracks.iter().filter(on_slot).flat_map(track_presets).collect();
    used_presets.into_iter().collect()
}

/// Returns the bank and program numbers that a track can request: those of the track, of its items
/// and of program changes. A bank select controller adds every bank that it could select, so the
/// result may contain presets that the track never requests.
pub fn track_presets(track: &Track) -> BTreeSet<(u16, u8)> {
    let Some(instrument) = track.instrument else { return BTreeSet::new() };
    let mut used_presets = BTreeSet::from([(instrument.bank, instrument.program)]);
    let mut banks = BTreeSet::from([instrument.bank]);
    let mut programs = BTreeSet::new();
    for event in &track.events {
        match event.event {
            Event::Preset { bank, program } => {
                banks.insert(bank);
                used_presets.insert((bank, program));
            }
            Event::Controller { controller, value } if BANK_SELECT.contains(&controller) => {
                banks.extend([u16::from(value), DRUM_BANK]);
            }
            Event::Program { program } => {
                programs.insert(program);
            }
            _ => {}
        }
    }
    for program in programs {
        used_presets.extend(banks.iter().map(|bank| (*bank, program)));
    }
    used_presets
}

#[cfg(test)]
mod tests {
    use dsp_core::session::{Instrument, TrackEvent};

    use super::*;

    #[track_caller]
    fn check(slot: u32, events: &[Event], expected: &[(u16, u8)]) {
        let event = |&event| TrackEvent { frame: 0, event };
        let track = Track {
            id: "t".into(),
            instrument: Some(Instrument { bank_slot: slot, bank: 8, program: 4 }),
            events: events.iter().map(event).collect(),
            ..Track::default()
        };
        let silent_track = Track { instrument: None, ..track.clone() };
        let session = Session {
            sample_rate_hz: 48_000,
            polyphony: 8,
            length_frames: 0,
            tracks: vec![silent_track, track],
            ..Session::default()
        };
        assert_eq!(presets_used(&session, 3), expected);
    }

    #[test]
    fn a_slot_has_the_presets_of_its_tracks() {
        check(3, &[], &[(8, 4)]);
        check(2, &[Event::Preset { bank: 1, program: 1 }], &[]);
        check(3, &[Event::Preset { bank: 128, program: 0 }], &[(8, 4), (128, 0)]);
        check(3, &[Event::Program { program: 9 }], &[(8, 4), (8, 9)]);
        let preset_then_program = [Event::Preset { bank: 1, program: 2 }, Event::Program { program: 9 }];
        check(3, &preset_then_program, &[(1, 2), (1, 9), (8, 4), (8, 9)]);
    }

    #[test]
    fn bank_select_adds_all_possible_banks() {
        let controller = |controller, value| Event::Controller { controller, value };
        let events = [controller(0, 127), controller(32, 2), controller(7, 5), Event::Program { program: 1 }];
        check(3, &events, &[(2, 1), (8, 1), (8, 4), (127, 1), (128, 1)]);
    }
}
