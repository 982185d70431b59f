//! Estimate of the memory that a session needs, before the session is played.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::channel::rack::EffectRack;
use super::channel::recording::{Recording, clip_of};
use super::channel::route::Route;
use super::channel::strip::ChannelStrip;
use super::graph::Routing;
use super::graph::latency::Latencies;
use super::track::TrackSource;
use super::track::clips::rings_of;
use super::{EffectSlot, MixerError, Slots};
use crate::block::{RENDER_SPAN_BLOCKS, StereoBlock, TRACK_OUTPUTS, TrackBlock};
use crate::effects::{EffectConfig, RECORDED_OUTPUT, effect_kind};
use crate::session::{
    AutomationLane, AutomationPoint, Clip, EffectSettings, Session, TempoChange, TrackEvent,
};
use crate::synth::SynthProcessor;

/// Size in bytes of the shared reverb and chorus, the limiter and the mixer itself, at 192 kHz.
const SHARED_BYTES: u64 = 2 * 1024 * 1024;

/// Number of blocks of a track in addition to the blocks of a render. These are the source, the
/// external input, the input sum, and one block for lists that grow.
const TRACK_BLOCKS: usize = 4;

/// Number of copies of lists of events, points and clips: in the session, in the mixer, and
/// temporarily while a list is sorted.
const COPY_COUNT: usize = 3;

/// The memory of all objects of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryComponent {
    /// Name of the kind in the plural, such as "delay effects".
    pub kind: String,
    /// Number of objects.
    pub count: u64,
    /// Total size of all objects of the kind, in bytes.
    pub bytes: u64,
}

/// The memory that playing or rendering a session needs, without banks and audio.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryNeed {
    components: Vec<MemoryComponent>,
}

impl MemoryNeed {
    /// Returns an upper limit of the allocated memory in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.components.iter().fold(SHARED_BYTES, |sum, component| sum.saturating_add(component.bytes))
    }

    /// Returns the memory of each kind of object, the largest first. The shared reverb and chorus,
    /// the limiter and the mixer itself are not listed.
    #[must_use]
    pub fn components(&self) -> &[MemoryComponent] {
        &self.components
    }
}

impl Session {
    /// Estimates the memory that [`crate::render::OfflineRender`] allocates for this session. The
    /// estimate itself allocates little.
    ///
    /// # Errors
    ///
    /// [`MixerError`] if the routes of the session are invalid.
    pub fn memory_need(&self, slots: Slots<'_>) -> Result<MemoryNeed, MixerError> {
        let routing = Routing::from_session(self)?;
        let mut tally = Tally::default();
        let mut effect_latencies =
            EffectLatencies { sample_rate_hz: self.sample_rate_hz, latency_by_kind: BTreeMap::new() };
        let lists = self.tracks.iter().map(|track| &track.effects).chain([&self.master_effects]);
        // For each track and then for the master: the latency before each effect, then that of all
        // effects.
        let latencies_before: Vec<Vec<usize>> = lists
            .map(|effects| {
                let mut sum = 0;
                let mut latencies_of_rack = alloc::vec![0];
                for effect in effects {
                    let latency_frames = effect_latencies.latency_frames(effect);
                    tally.add_effect(effect, latency_frames, self.sample_rate_hz, slots);
                    sum += latency_frames;
                    latencies_of_rack.push(sum);
                }
                latencies_of_rack
            })
            .collect();
        let latencies = Latencies::compute(&routing, |track, effect| {
            let latencies_of_rack = &latencies_before[track.unwrap_or(self.tracks.len())];
            effect.map_or(latencies_of_rack[latencies_of_rack.len() - 1], |effect| latencies_of_rack[effect])
        });
        for (index, track) in self.tracks.iter().enumerate() {
            let fixed = 2 * (size_of::<ChannelStrip>() + size_of::<TrackSource>() + size_of::<EffectRack>());
            let blocks = TRACK_BLOCKS * size_of::<TrackBlock>() + size_of::<StereoBlock>();
            let spans = 2 * RENDER_SPAN_BLOCKS * size_of::<TrackBlock>();
            tally.add("tracks and buses", 1, fixed + blocks + spans);
            if track.instrument.is_some() {
                tally.add("instruments", 1, SynthProcessor::memory_bytes(self.polyphony) as usize);
            }
            tally.add("notes and controls", track.events.len(), COPY_COUNT * size_of::<TrackEvent>());
            tally.add("audio clips", track.clips.len(), COPY_COUNT * CLIP_BYTES);
            let (rings, ring_bytes) = rings_of(&track.clips, slots.audio);
            tally.add("simultaneous clip streams", rings, ring_bytes);
            tally.add_lanes(&track.automation);
            tally.add_delays(TRACK_OUTPUTS, latencies.inputs[index]);
            tally.add("outputs and sends", routing.routes[index].len(), 2 * size_of::<Route>());
            for (number, route) in routing.routes[index].iter().enumerate() {
                let channels = if number == 0 { TRACK_OUTPUTS } else { 2 };
                tally.add_delays(channels, latencies.route_delay(index, route.destination));
            }
            for side_chain in &routing.side_chains[index] {
                tally.add_side_chain(latencies.inputs[index] + latencies_before[index][side_chain.effect]);
            }
        }
        for side_chain in &routing.master_side_chains {
            tally.add_side_chain(latencies.master + latencies_before[self.tracks.len()][side_chain.effect]);
        }
        tally.add_lanes(&self.master_automation);
        tally.add("tempo changes", self.tempo.len(), COPY_COUNT * size_of::<TempoChange>());
        Ok(tally.into_need())
    }
}

/// Size in bytes of a clip and of the voice that plays it.
const CLIP_BYTES: usize = 4 * size_of::<Clip>();

/// Latencies of effects by their kind. One effect of each kind is created to measure its latency.
struct EffectLatencies<'s> {
    sample_rate_hz: u32,
    latency_by_kind: BTreeMap<&'s str, usize>,
}

impl<'s> EffectLatencies<'s> {
    fn latency_frames(&mut self, effect: &'s EffectSettings) -> usize {
        let config = EffectConfig { sample_rate_hz: self.sample_rate_hz, seed: 0, impulse: None };
        let latency = |kind: &str| effect_kind(kind).map_or(0, |kind| (kind.make)(&config).latency_frames());
        *self.latency_by_kind.entry(&effect.kind).or_insert_with_key(|kind| latency(kind))
    }
}

#[derive(Default)]
struct Tally(BTreeMap<String, (u64, u64)>);

impl Tally {
    fn add(&mut self, kind: &str, count: usize, bytes_each: usize) {
        if count > 0 {
            let (total_count, bytes) = self.0.entry(kind.into()).or_default();
            *total_count += count as u64;
            *bytes = bytes.saturating_add((count as u64).saturating_mul(bytes_each as u64));
        }
    }

    fn add_effect(
        &mut self,
        effect: &EffectSettings,
        latency_frames: usize,
        sample_rate_hz: u32,
        slots: Slots<'_>,
    ) {
        let Some(kind) = effect_kind(&effect.kind) else { return };
        let slot = effect.audio_slot.and_then(|slot| slots.audio.get(slot as usize)?.as_ref());
        let impulse_frames =
            slot.map_or(0, |audio| audio.frames()).min(kind.impulse_max_frames(sample_rate_hz));
        let effect_bytes =
            usize::try_from((kind.memory_bytes)(sample_rate_hz, impulse_frames)).unwrap_or(usize::MAX);
        // The impulse response is converted from the slot's samples while the effect is created,
        // and the dry signal is delayed.
        let slot_bytes =
            2 * size_of::<EffectSlot>() + 2 * size_of::<f32>() * (latency_frames + impulse_frames as usize);
        self.add(&format!("{} effects", kind.id), 1, effect_bytes.saturating_add(slot_bytes));
        if let Some(slot) = effect.audio_slot.filter(|_| kind.id == RECORDED_OUTPUT.id) {
            let (rings, ring_bytes) = rings_of(&[clip_of(slot, slots.audio)], slots.audio);
            self.add(
                "recorded outputs",
                1,
                size_of::<Recording>() + 3 * size_of::<StereoBlock>() + CLIP_BYTES,
            );
            self.add("simultaneous clip streams", rings, ring_bytes);
        }
    }

    fn add_lanes(&mut self, lanes: &[AutomationLane]) {
        for lane in lanes {
            self.add("automation points", lane.points.len() + 8, COPY_COUNT * size_of::<AutomationPoint>());
        }
    }

    fn add_delays(&mut self, channels: usize, frames: usize) {
        if frames > 0 {
            self.add("delays that compensate latency", channels, size_of::<f32>() * frames);
        }
    }

    fn add_side_chain(&mut self, frames: usize) {
        self.add("side-chains", 1, 2 * size_of::<StereoBlock>() + 2 * size_of::<f32>() * frames);
    }

    fn into_need(self) -> MemoryNeed {
        let mut components: Vec<MemoryComponent> =
            self.0.into_iter().map(|(kind, (count, bytes))| MemoryComponent { kind, count, bytes }).collect();
        components.sort_by_key(|component| core::cmp::Reverse(component.bytes));
        MemoryNeed { components }
    }
}
