//! The plugin effects of a project: their order, and their settings in frames.
//!
//! The engine plays the output of a plugin effect like a recording. Therefore each plugin effect
//! processes its whole input before the song is mixed. The effects run in the order of the signal,
//! because the input of an effect may contain the output of another one.

use std::collections::HashMap;

use dsp_core::effects::RECORDED_OUTPUT;
use dsp_core::mixer::{EffectOwner, MixerError, Slots};
use dsp_core::render::{
    EffectInput, SessionBeforeEffect, TailConfig, session_before_effect, tracks_feeding, tracks_in_solo,
};
use dsp_core::session::{EffectSettings, Session};
use schemas::Project;
use schemas::project::{AutomationLane, Effect, EffectType};
use schemas::session::tempo_map;
use songfoundry_bridge_protocol::PluginFormat;

use super::RenderError;
use super::budget::Reservation;
use super::plugin_track::AutomationCurve;

/// A plugin effect of a project.
#[derive(Debug)]
pub(super) struct PluginEffectOfProject {
    /// Id of the track; `None` for the master.
    pub(super) track_id: Option<String>,
    /// JSON pointer to the effect.
    pub(super) pointer: String,
    format: PluginFormat,
    effect: Effect,
    curves: Vec<AutomationCurve>,
}

/// A plugin effect, and its owner and index in a session.
#[derive(Debug)]
pub(super) struct PlacedEffect<'p> {
    pub(super) owner: EffectOwner,
    /// Index among the effects of the owner.
    pub(super) index: usize,
    pub(super) of_project: &'p PluginEffectOfProject,
}

/// A plugin effect and its input.
#[derive(Debug)]
pub struct PluginEffectPart<'p> {
    /// Format of the plugin.
    pub format: PluginFormat,
    /// Id of the track; `None` for the master.
    pub track_id: Option<&'p str>,
    /// The effect of the project, with the state and the parameters of the plugin.
    pub effect: &'p Effect,
    /// Automation of the plugin's parameters.
    pub curves: &'p [AutomationCurve],
    /// Memory and time of the whole render.
    pub reservation: &'p Reservation,
    /// The part of the session that determines the input and the side-chain. Its slots have new
    /// numbers, without the slots that only other parts of the song use.
    pub before: SessionBeforeEffect,
    /// Versions of the contents of the slots of `session_before`: of the banks, and of the audio.
    pub slot_versions: [Vec<String>; 2],
    session: &'p Session,
    slots: Slots<'p>,
    owner: EffectOwner,
    index: usize,
}

impl PluginEffectPart<'_> {
    /// Returns a render of the input and the side-chain with a tail of at most `tail_secs`.
    ///
    /// # Errors
    /// The session cannot be played.
    pub fn input(&self, tail_secs: f64) -> Result<EffectInput, MixerError> {
        let tail = TailConfig { max_secs: tail_secs };
        EffectInput::new(self.session, self.slots, self.owner, self.index, tail)
    }
}

impl PluginEffectOfProject {
    /// Returns the plugin effects of a project.
    pub(super) fn all(project: &Project) -> Result<Vec<Self>, RenderError> {
        let tempo = tempo_map(project)?;
        let frame_at = |tick: u32| tempo.frame_at(tick.into(), project.sample_rate_hz);
        let tracks = project.tracks.iter().enumerate().map(|(index, track)| {
            (Some(track.id.clone()), &track.effects, &track.automation, format!("/tracks/{index}"))
        });
        let master = (None, &project.master.effects, &project.master.automation, "/master".to_owned());
        let mut plugin_effects = Vec::new();
        for (track_id, effects, lanes, pointer) in tracks.chain([master]) {
            for (index, effect) in effects.iter().enumerate() {
                let format = match effect.effect_type {
                    EffectType::Builtin => continue,
                    EffectType::Vst2 => PluginFormat::Vst2,
                    EffectType::Vst3 => PluginFormat::Vst3,
                };
                plugin_effects.push(Self {
                    track_id: track_id.clone(),
                    pointer: format!("{pointer}/effects/{index}"),
                    format,
                    curves: curves(lanes, &effect.id, &frame_at),
                    effect: effect.clone(),
                });
            }
        }
        Ok(plugin_effects)
    }
}

/// Returns the automation of the parameters of an effect.
fn curves(lanes: &[AutomationLane], effect_id: &str, frame_at: &dyn Fn(u32) -> u64) -> Vec<AutomationCurve> {
    let of_effect = |lane: &AutomationLane| {
        let (target_id, parameter) = lane.target.rsplit_once('/')?;
        let is_of_effect = target_id == effect_id && !lane.points.is_empty();
        is_of_effect.then(|| AutomationCurve::of_points(parameter.to_owned(), &lane.points, frame_at))
    };
    lanes.iter().filter_map(of_effect).collect()
}

/// Returns the plugin effects that are audible in a session. Each effect follows the effects that
/// precede it in the signal.
pub(super) fn audible_effects<'p>(
    session: &Session,
    of_project: &'p [PluginEffectOfProject],
) -> Vec<PlacedEffect<'p>> {
    let is_audible = audible_tracks(session);
    let mut owners: Vec<(usize, EffectOwner)> = (0..session.tracks.len())
        .filter(|&track| is_audible[track] && session.tracks[track].effects.iter().any(is_plugin))
        .map(|track| {
            let feeders = tracks_feeding(&session.tracks, track).into_iter().filter(|feeds| *feeds);
            (feeders.count(), EffectOwner::Track(track))
        })
        .collect();
    // A track that feeds another track has fewer feeders than that track.
    owners.sort_by_key(|(feeders, _)| *feeders);
    let owners = owners.into_iter().map(|(_, owner)| owner).chain([EffectOwner::Master]);
    owners.flat_map(|owner| placed_effects(session, owner, of_project)).collect()
}

fn placed_effects<'p>(
    session: &Session,
    owner: EffectOwner,
    of_project: &'p [PluginEffectOfProject],
) -> Vec<PlacedEffect<'p>> {
    let (track_id, is_bypassed, effects) = match owner {
        EffectOwner::Master => (None, false, &session.master_effects),
        EffectOwner::Track(index) => {
            let track = &session.tracks[index];
            (Some(track.id.as_str()), track.bypass, &track.effects)
        }
    };
    let placed = |(index, settings): (usize, &EffectSettings)| {
        let is_same = |known_effect: &&PluginEffectOfProject| {
            known_effect.track_id.as_deref() == track_id && known_effect.effect.id == settings.id
        };
        let is_active = is_plugin(settings) && !settings.bypass && !is_bypassed;
        let of_project = of_project.iter().find(is_same).filter(|_| is_active)?;
        Some(PlacedEffect { owner, index, of_project })
    };
    effects.iter().enumerate().filter_map(placed).collect()
}

fn is_plugin(effect: &EffectSettings) -> bool {
    effect.kind == RECORDED_OUTPUT.id
}

/// Returns for each track whether it may be audible: mute and solo may let it through, or an
/// audible effect uses it as its side-chain.
fn audible_tracks(session: &Session) -> Vec<bool> {
    let tracks = &session.tracks;
    let mut is_audible = tracks_in_solo(session);
    for (is_audible, track) in is_audible.iter_mut().zip(tracks) {
        *is_audible &= !track.mute;
    }
    let sources = |effects: &[EffectSettings]| {
        let active = effects.iter().filter(|effect| !effect.bypass);
        active.filter_map(|effect| effect.side_chain).map(|source| source as usize).collect::<Vec<_>>()
    };
    let sources_of =
        |track: usize| if tracks[track].bypass { Vec::new() } else { sources(&tracks[track].effects) };
    let mut unvisited = sources(&session.master_effects);
    unvisited.extend((0..tracks.len()).filter(|&track| is_audible[track]).flat_map(sources_of));
    while let Some(source) = unvisited.pop() {
        if is_audible.get(source) == Some(&false) {
            is_audible[source] = true;
            unvisited.extend(sources_of(source));
        }
    }
    is_audible
}

/// Gives new numbers from 0 on to the slots that a session uses, and returns their versions.
/// `versions` has the versions of all slots: first of the banks, then of the audio.
fn number_used_slots(session: &mut Session, versions: [&[String]; 2]) -> [Vec<String>; 2] {
    let [mut banks, mut audio] = versions.map(UsedSlots::new);
    for track in &mut session.tracks {
        if let Some(instrument) = &mut track.instrument {
            banks.number(&mut instrument.bank_slot);
        }
        track.clips.iter_mut().for_each(|clip| audio.number(&mut clip.audio_slot));
    }
    let effects = session.tracks.iter_mut().flat_map(|track| &mut track.effects);
    for slot in effects.chain(&mut session.master_effects).filter_map(|effect| effect.audio_slot.as_mut()) {
        audio.number(slot);
    }
    [banks.versions, audio.versions]
}

/// The slots of one kind that a session uses.
struct UsedSlots<'v> {
    all_versions: &'v [String],
    /// The new number of each used slot.
    numbers: HashMap<u32, u32>,
    versions: Vec<String>,
}

impl<'v> UsedSlots<'v> {
    fn new(all_versions: &'v [String]) -> Self {
        Self { all_versions, numbers: HashMap::new(), versions: Vec::new() }
    }

    /// Replaces the number of a slot by its new number.
    fn number(&mut self, slot: &mut u32) {
        let (all_versions, versions) = (self.all_versions, &mut self.versions);
        *slot = *self.numbers.entry(*slot).or_insert_with_key(|old| {
            versions.push(all_versions.get(*old as usize).cloned().unwrap_or_default());
            versions.len() as u32 - 1
        });
    }
}

impl<'p> PlacedEffect<'p> {
    /// Returns the effect with its input. The versions of the slots are those of the banks and of
    /// the audio.
    pub(super) fn part(
        &self,
        session: &'p Session,
        slots: Slots<'p>,
        slot_versions: [&[String]; 2],
        reservation: &'p Reservation,
    ) -> PluginEffectPart<'p> {
        let PluginEffectOfProject { track_id, format, effect, curves, .. } = self.of_project;
        let mut session_before = session_before_effect(session, self.owner, self.index);
        let slot_versions = number_used_slots(&mut session_before.session, slot_versions);
        PluginEffectPart {
            format: *format,
            track_id: track_id.as_deref(),
            effect,
            curves,
            reservation,
            before: session_before,
            slot_versions,
            session,
            slots,
            owner: self.owner,
            index: self.index,
        }
    }

    /// Returns the settings of the effect in a session.
    pub(super) fn settings_mut<'s>(&self, session: &'s mut Session) -> Option<&'s mut EffectSettings> {
        let effects = match self.owner {
            EffectOwner::Master => &mut session.master_effects,
            EffectOwner::Track(index) => &mut session.tracks.get_mut(index)?.effects,
        };
        effects.get_mut(self.index)
    }
}
