//! A track in the mixer: fader, pan, sends and meter, and the effects of those that are fed.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use super::edge::{Destination, Edge, Tap};
use super::fader::Fader;
use super::insert::Insert;
use super::meter::Meter;
use super::wait::Wait;
use crate::block::BLOCK_FRAMES;
use crate::dsp::declicker::Declicker;
use crate::dsp::delay_line::DelayLine;

/// What a track sounds like before its fader, for at most a block: left, right, and what it sends
/// to the reverb and to the chorus.
pub(super) type TrackBlock = [[f32; BLOCK_FRAMES]; TRACK_OUTPUTS];

/// What a track's source made of a number of frames, output by output; `None` for silence.
pub(super) type Own<'a> = [Option<&'a [f32]>; TRACK_OUTPUTS];

/// What has been made of a track: the first frames of the outputs that sound.
pub(super) fn own(block: &TrackBlock, sounding: Sounding, frames: usize) -> Own<'_> {
    core::array::from_fn(|output| sounding[output].then(|| &block[output][..frames]))
}

/// Left and right of at most a block.
pub(super) type StereoBlock = [[f32; BLOCK_FRAMES]; 2];

/// Outputs of a track.
pub const TRACK_OUTPUTS: usize = 4;

/// On which outputs of a track there may be anything but silence.
pub(crate) type Sounding = [bool; TRACK_OUTPUTS];

/// Frames of silence on all outputs.
pub(super) const SILENT_BLOCK: TrackBlock = [[0.0; BLOCK_FRAMES]; TRACK_OUTPUTS];

/// Where the mix is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moment {
    /// The clock of the next frame: its place in the session while that moves.
    pub(super) clock: u64,
    /// Whether the session moves.
    pub(super) moves: bool,
    /// How many frames are mixed now, at most a block.
    pub(super) frames: usize,
}

/// What the strips add up to: the mix itself, what goes to the shared effects, and what feeds
/// strips.
pub(super) struct Sums {
    pub(super) master: Box<TrackBlock>,
    /// Of each strip that is fed.
    pub(super) strips: Vec<Option<Box<TrackBlock>>>,
}

impl Sums {
    pub(super) fn new() -> Self {
        Self { master: Box::new(SILENT_BLOCK), strips: Vec::new() }
    }

    /// Begins a block.
    pub(super) fn begin(&mut self, frames: usize) {
        let sums = self.strips.iter_mut().flatten().chain([&mut self.master]);
        sums.flat_map(|sum| sum.iter_mut()).for_each(|values| values[..frames].fill(0.0));
    }

    fn at(&mut self, to: Destination) -> Option<&mut TrackBlock> {
        match to {
            Destination::Master => Some(&mut self.master),
            Destination::Strip(place) => self.strips.get_mut(place)?.as_deref_mut(),
        }
    }
}

/// What a side-chain hears of another strip, on time.
pub(super) struct Key {
    /// Place of the effect that listens.
    pub(super) effect: usize,
    /// Place of the strip that it hears.
    pub(super) from: usize,
    delays: [DelayLine; 2],
    audio: Box<StereoBlock>,
}

impl Key {
    pub(super) fn new(effect: usize, from: usize, delay_frames: usize) -> Self {
        let delays = [DelayLine::new(delay_frames), DelayLine::new(delay_frames)];
        Self { effect, from, delays, audio: Box::new([[0.0; BLOCK_FRAMES]; 2]) }
    }

    pub(super) fn delay_frames(&self) -> usize {
        self.delays[0].frames()
    }

    pub(super) fn jump(&mut self) {
        self.delays.iter_mut().for_each(DelayLine::clear);
    }

    /// Takes the next frames of what it hears.
    pub(super) fn take(&mut self, taps: &[Option<Box<StereoBlock>>], frames: usize) {
        let tap = taps.get(self.from).and_then(Option::as_deref);
        for (side, (values, delay)) in self.audio.iter_mut().zip(&mut self.delays).enumerate() {
            match tap {
                Some(tap) => values[..frames].copy_from_slice(&tap[side][..frames]),
                None => values[..frames].fill(0.0),
            }
            delay.process(&mut values[..frames]);
        }
    }

    /// What it hears, at most a block of it.
    pub(super) fn audio(&self) -> &StereoBlock {
        &self.audio
    }
}

/// One track's way into the mix.
pub(super) struct Strip {
    pub(super) id: String,
    pub(super) fader: Fader,
    /// Its ways out, also those that fade.
    pub(super) edges: Vec<Edge>,
    /// Its effects, if they wait for other strips.
    pub(super) insert: Option<Insert>,
    pub(super) keys: Vec<Key>,
    /// Lets its own sound wait for what else comes.
    pub(super) wait: Wait<TRACK_OUTPUTS>,
    /// Joins what feeds it where some of that is cut.
    pub(super) fed_declicker: Declicker<TRACK_OUTPUTS>,
    /// Whether it belongs to a track that the session no longer has.
    pub(super) leaves: bool,
    /// Whether something that is soloed feeds it, or is fed by it; itself included.
    pub(super) hears_solo: bool,
    pub(super) leads_to_solo: bool,
    pub(super) meter: Meter,
}

impl Strip {
    pub(super) fn new(id: &str, fader: Fader, sample_rate_hz: u32) -> Self {
        Self {
            id: id.into(),
            fader,
            edges: Vec::new(),
            insert: None,
            keys: Vec::new(),
            wait: Wait::new(sample_rate_hz),
            fed_declicker: Declicker::new(sample_rate_hz),
            leaves: false,
            hears_solo: false,
            leads_to_solo: false,
            meter: Meter::default(),
        }
    }

    /// The session goes on somewhere else: what moved is where it should be, and nothing rings on.
    pub(super) fn jump(&mut self, clock: u64) {
        self.fader.jump(clock);
        self.edges.iter_mut().for_each(|edge| edge.jump(clock));
        self.keys.iter_mut().for_each(Key::jump);
        self.wait.jump();
        self.fed_declicker.reset();
        if let Some(insert) = &mut self.insert {
            insert.reset(clock);
        }
    }

    /// Adds the strip's next frames to the sums that it feeds. `own` is what its own source made;
    /// `taps` takes what side-chains hear of it; `scratch` is used up.
    pub(super) fn add_to(
        &mut self,
        place: usize,
        moment: Moment,
        own: Own<'_>,
        sums: &mut Sums,
        taps: &mut [Option<Box<StereoBlock>>],
        scratch: &mut [TrackBlock; 2],
    ) {
        self.meter.pass(moment.frames);
        if self.wait.is_idle() {
            self.wait
                .pass_by(own.map(|values| values.and_then(|values| values.last()).copied().unwrap_or(0.0)));
        }
        let is_simple = sums.strips[place].is_none()
            && self.insert.is_none()
            && self.wait.is_idle()
            && taps[place].is_none();
        if is_simple && self.add_simply(moment, own, sums) {
            return;
        }
        let [block, other] = scratch;
        let sounds = self.gather(place, moment, own, sums, taps, block);
        let frames = moment.frames;
        if let Some(tap) = &mut taps[place] {
            for (tap, values) in tap.iter_mut().zip(block.iter()) {
                tap[..frames].copy_from_slice(&values[..frames]);
            }
        }
        for edge in self.edges.iter_mut().filter(|edge| matches!(edge.tap, Tap::PreFader(_))) {
            add_through(edge, moment, sounds.then_some(&*block), sums, other);
        }
        let Moment { clock, moves, .. } = moment;
        if sounds {
            let [left, right, reverb, chorus] = block.each_mut().map(|values| &mut values[..frames]);
            self.fader.apply(clock, moves, [left, right], Some([reverb, chorus]));
            if self.edges.iter().any(|edge| edge.tap == Tap::Output && !edge.passes_nothing()) {
                self.meter.add([&block[0][..frames], &block[1][..frames]], [1.0; 2]);
            }
        } else {
            self.fader.skip(clock, moves, frames);
        }
        for edge in self.edges.iter_mut().filter(|edge| !matches!(edge.tap, Tap::PreFader(_))) {
            add_through(edge, moment, sounds.then_some(&*block), sums, other);
        }
    }

    /// Does what [`Self::add_to`] does, without a copy, where nothing moves. Says whether that was
    /// so.
    fn add_simply(&mut self, moment: Moment, own: Own<'_>, sums: &mut Sums) -> bool {
        let Moment { clock, moves, frames } = moment;
        let nothing_comes = own == [None; TRACK_OUTPUTS] && self.edges.iter().all(Edge::is_silent);
        if nothing_comes || self.edges.iter().all(Edge::passes_nothing) {
            self.fader.skip(clock, moves, frames);
            self.edges.iter_mut().for_each(|edge| edge.skip(clock, moves, frames));
            return true;
        }
        if own == [None; TRACK_OUTPUTS] {
            return false;
        }
        let (Some([left, right, send]), [edge]) = (self.fader.at_rest(), &mut self.edges[..]) else {
            return false;
        };
        let is_simple = edge.is_plain() || edge.only_waits();
        let Some(sum) = sums.at(edge.to).filter(|_| is_simple) else { return false };
        let gains = [left, right, send, send];
        if edge.only_waits() {
            let [own_left, own_right, ..] = own.map(Option::unwrap_or_default);
            self.meter.add([own_left, own_right], [left, right]);
            edge.wait(sum, own, gains, frames);
            return true;
        }
        for (output, ((sum, values), gain)) in sum.iter_mut().zip(own).zip(gains).enumerate() {
            let (Some(values), sum) = (values, &mut sum[..frames]) else { continue };
            if output < 2 {
                self.meter.add_to(output, sum, values, gain);
            } else {
                sum.iter_mut().zip(values).for_each(|(sum, value)| *sum += value * gain);
            }
        }
        true
    }

    /// Puts what comes to the fader into `block`, and says whether there may be anything but
    /// silence in it.
    fn gather(
        &mut self,
        place: usize,
        moment: Moment,
        own: Own<'_>,
        sums: &mut Sums,
        taps: &[Option<Box<StereoBlock>>],
        block: &mut TrackBlock,
    ) -> bool {
        let frames = moment.frames;
        for (values, own) in block.iter_mut().zip(own) {
            match own {
                Some(own) => values[..frames].copy_from_slice(&own[..frames]),
                None => values[..frames].fill(0.0),
            }
        }
        let mut sounding = own.map(|own| own.is_some());
        if !self.wait.is_idle() {
            self.wait.process(block.each_mut().map(|values| &mut values[..frames]), &mut sounding);
        }
        let mut sounds = sounding != [false; TRACK_OUTPUTS];
        if let Some(fed) = &mut sums.strips[place] {
            self.fed_declicker.process(fed.each_mut().map(|values| &mut values[..frames]));
            for (values, fed) in block.iter_mut().zip(fed.iter()) {
                values[..frames].iter_mut().zip(fed).for_each(|(value, fed)| *value += fed);
            }
            sounds = true;
        }
        if let Some(insert) = &mut self.insert {
            let [left, right, reverb, chorus] = block.each_mut().map(|values| &mut values[..frames]);
            insert.process_with_keys(moment.moves, [left, right], &mut self.keys, taps);
            insert.delay_sends([reverb, chorus], &mut [true; 2]);
            sounds |= !insert.is_empty();
        }
        sounds
    }
}

/// Adds frames, or silence, to a sum by one way.
fn add_through(
    edge: &mut Edge,
    moment: Moment,
    values: Option<&TrackBlock>,
    sums: &mut Sums,
    scratch: &mut TrackBlock,
) {
    let Moment { clock, moves, frames } = moment;
    let is_silent = values.is_none() && edge.is_silent();
    let Some(sum) = sums.at(edge.to).filter(|_| !is_silent && !edge.passes_nothing()) else {
        edge.skip(clock, moves, frames);
        return;
    };
    match values {
        Some(values) if edge.is_plain() => return add(sum, values, frames),
        Some(values) => {
            for (scratch, values) in scratch.iter_mut().zip(values).take(edge.channels()) {
                scratch[..frames].copy_from_slice(&values[..frames]);
            }
        }
        None => scratch.iter_mut().for_each(|values| values[..frames].fill(0.0)),
    }
    // Also where the gate closes within these frames: they are in the delay then.
    let rings = values.is_some() && !edge.is_closed();
    edge.pass(clock, moves, scratch, frames);
    edge.count(rings, frames);
    add(&mut sum[..edge.channels()], scratch, frames);
}

fn add(sums: &mut [[f32; BLOCK_FRAMES]], values: &TrackBlock, frames: usize) {
    for (sum, values) in sums.iter_mut().zip(values) {
        for (sum, value) in sum[..frames].iter_mut().zip(values) {
            *sum += value;
        }
    }
}
