//! How much memory playing a session takes, computed before anything is made.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::automation::AutomationPoint;
use super::clips::{Clip, rings_of};
use super::compensation::Lags;
use super::edge::Edge;
use super::insert::Insert;
use super::mixer::Slots;
use super::offline::SPAN_BYTES;
use super::routing::Graph;
use super::source::Source;
use super::strip::{StereoBlock, Strip, TrackBlock};
use super::{EffectSettings, MixerError, Session, TRACK_OUTPUTS, TempoChange, TrackEvent};
use crate::chain::Slot;
use crate::effects::{EffectConfig, effect_kind};
use crate::synth::SynthProcessor;

/// The reverb and the chorus that tracks share, the limiter, and the mixer itself, in bytes at 192
/// kHz.
const SHARED_BYTES: u64 = 2 * 1024 * 1024;

/// Blocks of a track beside its spans: of its source, of its input, of what feeds it, and room for
/// growing lists.
const TRACK_BLOCKS: usize = 4;

/// How often lists of events, points and clips are in memory: in the session, in the mixer, and
/// while they are sorted.
const COPIES: usize = 3;

/// One kind of memory use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryShare {
    /// Name of the kind, in the plural: "delay effects".
    pub what: String,
    /// How many there are.
    pub count: u64,
    /// How many bytes they need together.
    pub bytes: u64,
}

/// Memory for playing or rendering a session, without banks and recorded audio.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryNeed {
    shares: Vec<MemoryShare>,
}

impl MemoryNeed {
    /// Bytes in all: at least what is allocated.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.shares.iter().fold(SHARED_BYTES, |sum, share| sum.saturating_add(share.bytes))
    }

    /// The shares, the largest first.
    #[must_use]
    pub fn shares(&self) -> &[MemoryShare] {
        &self.shares
    }
}

impl Session {
    /// Estimates what [`super::OfflineRender`] allocates for this session. Allocates next to
    /// nothing itself.
    ///
    /// # Errors
    ///
    /// [`MixerError`] for routes that cannot be played.
    pub fn memory_need(&self, slots: Slots<'_>) -> Result<MemoryNeed, MixerError> {
        let graph = Graph::of(self)?;
        let mut tally = Tally::default();
        let mut latencies = Latencies { sample_rate_hz: self.sample_rate_hz, known: BTreeMap::new() };
        let lists = self.tracks.iter().map(|track| &track.effects).chain([&self.master_effects]);
        // Latency before each effect of each track and, at the end, of the master.
        let before: Vec<Vec<usize>> = lists
            .map(|effects| {
                let mut sum = 0;
                let mut list = alloc::vec![0];
                for effect in effects {
                    let latency_frames = latencies.of(effect);
                    tally.effect(effect, latency_frames, self.sample_rate_hz, slots);
                    sum += latency_frames;
                    list.push(sum);
                }
                list
            })
            .collect();
        let lags = Lags::of(&graph, |track, effect| {
            let list = &before[track.unwrap_or(self.tracks.len())];
            effect.map_or(list[list.len() - 1], |effect| list[effect])
        });
        for (place, track) in self.tracks.iter().enumerate() {
            let fixed = 2 * (size_of::<Strip>() + size_of::<Source>() + size_of::<Insert>());
            let blocks = TRACK_BLOCKS * size_of::<TrackBlock>() + size_of::<StereoBlock>();
            tally.add("tracks and buses", 1, fixed + blocks + 2 * SPAN_BYTES);
            if track.instrument.is_some() {
                tally.add("instruments", 1, SynthProcessor::memory_bytes(self.polyphony) as usize);
            }
            tally.add("notes and controls", track.events.len(), COPIES * size_of::<TrackEvent>());
            tally.add("audio clips", track.clips.len(), COPIES * CLIP_BYTES);
            let (rings, ring_bytes) = rings_of(&track.clips, slots.audio);
            tally.add("streams of clips that sound at a time", rings, ring_bytes);
            tally.lanes(&track.automation);
            tally.delays(TRACK_OUTPUTS, lags.inputs[place]);
            tally.add("outputs and sends", graph.routes[place].len(), 2 * size_of::<Edge>());
            for (number, route) in graph.routes[place].iter().enumerate() {
                let channels = if number == 0 { TRACK_OUTPUTS } else { 2 };
                tally.delays(channels, lags.delay_frames(place, route.to));
            }
            for side in &graph.sides[place] {
                tally.side_chain(lags.inputs[place] + before[place][side.effect]);
            }
        }
        for side in &graph.master_sides {
            tally.side_chain(lags.master + before[self.tracks.len()][side.effect]);
        }
        tally.lanes(&self.master_automation);
        tally.add("tempo changes", self.tempo.len(), COPIES * size_of::<TempoChange>());
        Ok(tally.into_need())
    }
}

/// A clip, and the voice that plays it.
const CLIP_BYTES: usize = 4 * size_of::<Clip>();

/// Latencies of effects by their kind: one of each is made.
struct Latencies<'s> {
    sample_rate_hz: u32,
    known: BTreeMap<&'s str, usize>,
}

impl<'s> Latencies<'s> {
    fn of(&mut self, effect: &'s EffectSettings) -> usize {
        let config = EffectConfig { sample_rate_hz: self.sample_rate_hz, seed: 0, impulse: None };
        let latency = |kind: &str| effect_kind(kind).map_or(0, |kind| (kind.make)(&config).latency_frames());
        *self.known.entry(&effect.kind).or_insert_with_key(|kind| latency(kind))
    }
}

#[derive(Default)]
struct Tally(BTreeMap<String, (u64, u64)>);

impl Tally {
    fn add(&mut self, what: &str, count: usize, bytes_each: usize) {
        if count > 0 {
            let (known, bytes) = self.0.entry(what.into()).or_default();
            *known += count as u64;
            *bytes = bytes.saturating_add((count as u64).saturating_mul(bytes_each as u64));
        }
    }

    fn effect(
        &mut self,
        effect: &EffectSettings,
        latency_frames: usize,
        sample_rate_hz: u32,
        slots: Slots<'_>,
    ) {
        let Some(kind) = effect_kind(&effect.kind) else { return };
        let slot = effect.impulse.and_then(|slot| slots.audio.get(slot as usize)?.as_ref());
        let impulse_frames =
            slot.map_or(0, |audio| audio.frames()).min(kind.impulse_max_frames(sample_rate_hz));
        let own = usize::try_from((kind.memory_bytes)(sample_rate_hz, impulse_frames)).unwrap_or(usize::MAX);
        // Its impulse is converted from the slot's samples while it is made; its dry signal waits
        // for it.
        let around =
            2 * size_of::<Slot>() + 2 * size_of::<f32>() * (latency_frames + impulse_frames as usize);
        self.add(&format!("{} effects", kind.id), 1, own.saturating_add(around));
    }

    fn lanes(&mut self, lanes: &[super::AutomationLane]) {
        for lane in lanes {
            self.add("points of automation", lane.points.len() + 8, COPIES * size_of::<AutomationPoint>());
        }
    }

    fn delays(&mut self, channels: usize, frames: usize) {
        if frames > 0 {
            self.add("delays that compensate latency", channels, size_of::<f32>() * frames);
        }
    }

    fn side_chain(&mut self, frames: usize) {
        self.add("side-chains", 1, 2 * size_of::<StereoBlock>() + 2 * size_of::<f32>() * frames);
    }

    fn into_need(self) -> MemoryNeed {
        let mut shares: Vec<MemoryShare> =
            self.0.into_iter().map(|(what, (count, bytes))| MemoryShare { what, count, bytes }).collect();
        shares.sort_by_key(|share| core::cmp::Reverse(share.bytes));
        MemoryNeed { shares }
    }
}
