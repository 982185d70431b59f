//! Tests of effects outside the engine.

use alloc::collections::VecDeque;

use super::*;
use crate::block::BLOCK_FRAMES;
use crate::mixer::EffectOwner;

const LATENCY_BLOCKS: usize = 3;
const LATENCY_FRAMES: usize = LATENCY_BLOCKS * BLOCK_FRAMES;

type Blocks = VecDeque<[[f32; BLOCK_FRAMES]; 2]>;

/// Plays `blocks` blocks. The effects outside the engine multiply by `gain`, and answer a block
/// after as many blocks as `sent` has for their owner.
fn play(mixer: &mut Mixer, sent: &mut [(EffectOwner, Blocks)], gain: f32, blocks: usize) -> [Vec<f32>; 2] {
    let mut output = [Vec::new(), Vec::new()];
    let mut block = [[0.0; BLOCK_FRAMES]; 2];
    for _ in 0..blocks {
        for (owner, sent) in &mut *sent {
            let insert = mixer.insert(*owner).expect("the owner has an insert");
            let input = sent.pop_front().expect("a block was sent");
            insert.output = input.map(|side| side.map(|sample| gain * sample));
            insert.has_output = 1;
        }
        let [left, right] = &mut block;
        mixer.process(left, right);
        for (owner, sent) in &mut *sent {
            sent.push_back(mixer.insert(*owner).expect("the owner has an insert").input);
        }
        for (output, block) in output.iter_mut().zip(&block) {
            output.extend_from_slice(block);
        }
    }
    output
}

fn silence(owner: EffectOwner, blocks: usize) -> (EffectOwner, Blocks) {
    (owner, (0..blocks).map(|_| [[0.0; BLOCK_FRAMES]; 2]).collect())
}

/// Checks that the tracks "a" and "b" cancel each other while effects outside the engine, which
/// change nothing, follow those of `owners`; and that they do not if these effects change the gain.
fn check_null(label: &str, session: &Session, owners: &[EffectOwner]) {
    for (gain, is_null) in [(1.0, true), (2.0, false)] {
        let mut mixer = mixer(session);
        let latency_frames = mixer.latency_frames();
        owners.iter().for_each(|owner| mixer.set_insert(*owner, Some(LATENCY_FRAMES)));
        assert_eq!(mixer.latency_frames(), latency_frames + LATENCY_FRAMES, "{label}");
        mixer.play();
        let mut sent: Vec<_> = owners.iter().map(|owner| silence(*owner, LATENCY_BLOCKS)).collect();
        let output = play(&mut mixer, &mut sent, gain, 60);
        let loudest = peak(&output[0]).max(peak(&output[1]));
        assert_eq!(loudest < 1e-7, is_null, "{label}: gain {gain}, peak {loudest}");
    }
}

#[test]
fn tracks_are_aligned_with_effects_outside_the_engine() {
    let with_output = |mut track: Track, output: u32| {
        track.output = Some(output);
        track
    };
    let track = EffectOwner::Track;
    check_null("a track", &session(vec![noisy("a", 1.0), noisy("b", -1.0)]), &[track(0)]);
    let mut late = session(vec![noisy("a", 1.0), noisy("b", -1.0)]);
    late.tracks[1].effects = vec![delaying_effect()];
    late.tracks[0].effects = vec![delaying_effect()];
    check_null("after other effects", &late, &[track(0)]);
    let grouped = session(vec![with_output(noisy("a", 1.0), 2), noisy("b", -1.0), bus("g")]);
    check_null("a group", &grouped, &[track(2)]);
    let mut sending = session(vec![noisy("a", 1.0), noisy("b", -1.0), bus("bus"), bus("closed")]);
    for track in &mut sending.tracks[..2] {
        track.sends = vec![send(2, 1.0, true)];
        track.output = Some(3);
    }
    sending.tracks[3].mute = true;
    check_null("a send before the fader", &sending, &[track(1)]);
}

#[test]
fn two_effects_outside_the_engine_one_after_the_other_delay_twice() {
    let mut grouped = session(vec![noisy("a", 1.0), noisy("b", -1.0), bus("g")]);
    grouped.tracks[0].output = Some(2);
    let owners = [EffectOwner::Track(0), EffectOwner::Track(2), EffectOwner::Master];
    let mut mixer = mixer(&grouped);
    let latency_frames = mixer.latency_frames();
    owners.iter().for_each(|owner| mixer.set_insert(*owner, Some(LATENCY_FRAMES)));
    assert_eq!(mixer.latency_frames(), latency_frames + 3 * LATENCY_FRAMES);
    let input_latency = |mixer: &mut Mixer, owner| {
        mixer.insert(owner).expect("the owner has an insert").input_latency_frames as usize
    };
    assert_eq!(owners.map(|owner| input_latency(&mut mixer, owner)), [0, LATENCY_FRAMES, 2 * LATENCY_FRAMES]);
    mixer.play();
    let mut sent = owners.map(|owner| silence(owner, LATENCY_BLOCKS));
    assert!(peak(&play(&mut mixer, &mut sent, 1.0, 60)[0]) < 1e-7);
}

#[test]
fn signals_stay_aligned_when_the_latency_changes_and_after_edits() {
    let mut tracks = session(vec![noisy("a", 1.0), noisy("b", -1.0)]);
    let owner = EffectOwner::Track(0);
    let mut mixer = mixer(&tracks);
    mixer.set_insert(owner, Some(LATENCY_FRAMES));
    mixer.play();
    let mut sent = [silence(owner, LATENCY_BLOCKS)];
    assert!(peak(&play(&mut mixer, &mut sent, 1.0, 20)[0]) < 1e-7);
    // The effects answer two blocks later from now on.
    mixer.set_insert(owner, Some(LATENCY_FRAMES + 2 * BLOCK_FRAMES));
    sent[0].1.extend(silence(owner, 2).1);
    let changed = play(&mut mixer, &mut sent, 1.0, 20);
    assert!(peak(&changed[0][8 * BLOCK_FRAMES..]) < 1e-7);
    // An edit keeps the effects outside the engine, whose owner has another index now.
    tracks.tracks.insert(0, bus("new"));
    mixer.set_session(&tracks, Slots { banks: &[], audio: &[Some(noise())] }).expect("the session is valid");
    sent[0].0 = EffectOwner::Track(1);
    assert!(peak(&play(&mut mixer, &mut sent, 1.0, 10)[0]) < 1e-7);
    mixer.set_insert(sent[0].0, None);
    assert!(mixer.insert(sent[0].0).is_none());
    let removed = play(&mut mixer, &mut [], 1.0, 20);
    assert!(peak(&removed[0][8 * BLOCK_FRAMES..]) < 1e-7);
}
