//! The channel strip of a track: input sum, fader, meter, outputs and sends.

use alloc::string::String;
use alloc::vec::Vec;

use super::fader::Fader;
use super::meter::Meter;
use super::rack::EffectRack;
use super::route::Route;
use crate::block::{ActiveOutputs, BLOCK_FRAMES, TRACK_OUTPUTS, TrackBlock, TrackSignal};
use crate::dsp::declicker::Declicker;
use crate::mixer::graph::{MixBuffers, ProcessContext, Sums, Tap};

/// The channel strip of a track.
pub(crate) struct ChannelStrip {
    pub(crate) track_id: String,
    pub(crate) fader: Fader,
    /// Output and sends, including removed routes that fade out.
    pub(crate) routes: Vec<Route>,
    /// Removes the click in the sum of the strip's inputs when a route to the strip is cut.
    pub(crate) input_declicker: Declicker<TRACK_OUTPUTS>,
    /// Whether the session no longer has the track, which then fades out.
    pub(crate) is_removed: bool,
    /// Whether this track is soloed, or a soloed track feeds it directly or through other tracks.
    pub(crate) is_fed_by_solo: bool,
    /// Whether this track is soloed, or feeds a soloed track or the side-chain of an audible one,
    /// directly or through other tracks.
    pub(crate) feeds_solo: bool,
    pub(crate) meter: Meter,
}

impl ChannelStrip {
    pub(crate) fn new(track_id: &str, fader: Fader, sample_rate_hz: u32) -> Self {
        Self {
            track_id: track_id.into(),
            fader,
            routes: Vec::new(),
            input_declicker: Declicker::new(sample_rate_hz),
            is_removed: false,
            is_fed_by_solo: false,
            feeds_solo: false,
            meter: Meter::default(),
        }
    }

    /// Clears all audio state and resets to a frame of the clock.
    pub(crate) fn reset(&mut self, clock: u64) {
        self.fader.reset(clock);
        self.routes.iter_mut().for_each(|route| route.reset(clock));
        self.input_declicker.reset();
    }

    /// Adds the strip's next frames to the sums that are the destinations of its routes. `source`
    /// is the signal of the track's source. `rack` has the track's effects if they run in the mix.
    pub(crate) fn process(
        &mut self,
        index: usize,
        context: ProcessContext,
        source: TrackSignal<'_>,
        rack: Option<&mut EffectRack>,
        buffers: &mut MixBuffers,
    ) {
        let MixBuffers { sums, taps, scratch } = buffers;
        self.meter.advance(context.frames);
        let has_only_source = sums.strips[index].is_none() && rack.is_none() && taps[index].is_none();
        if has_only_source && self.process_in_place(context, source, sums) {
            return;
        }
        let [block, route_scratch] = &mut **scratch;
        let frames = context.frames;
        let mut active_outputs = source.map(|values| values.is_some());
        copy(source, block, frames);
        if let Some(rack) = rack {
            rack.align_source(block.each_mut().map(|values| &mut values[..frames]), &mut active_outputs);
            self.add_inputs(index, frames, sums, block, &mut active_outputs);
            let outputs = block.each_mut().map(|values| &mut values[..frames]);
            rack.process(context.is_playing, outputs, &mut active_outputs, taps);
        } else {
            self.add_inputs(index, frames, sums, block, &mut active_outputs);
        }
        let is_active = active_outputs != [false; TRACK_OUTPUTS];
        if let Some(tap) = &mut taps[index] {
            for (tap, values) in tap.iter_mut().zip(block.iter()) {
                tap[..frames].copy_from_slice(&values[..frames]);
            }
        }
        let is_pre_fader = |route: &&mut Route| matches!(route.tap, Tap::PreFader(_));
        for route in self.routes.iter_mut().filter(is_pre_fader) {
            add_to_sum(route, context, is_active.then_some(&*block), sums, route_scratch);
        }
        if is_active {
            let [left, right, reverb, chorus] = block.each_mut().map(|values| &mut values[..frames]);
            self.fader.process(context, [left, right], Some([reverb, chorus]));
            if self.routes.iter().any(|route| route.tap == Tap::Output && !route.is_closed()) {
                self.meter.add([&block[0][..frames], &block[1][..frames]], [1.0; 2]);
            }
        } else {
            self.fader.skip(context);
        }
        for route in self.routes.iter_mut().filter(|route| !is_pre_fader(route)) {
            add_to_sum(route, context, is_active.then_some(&*block), sums, route_scratch);
        }
    }

    /// Like [`Self::process`], but without a copy of the signal. Returns `false` and does nothing
    /// if the signal must be copied, for example because the fader ramps.
    fn process_in_place(
        &mut self,
        context: ProcessContext,
        source: TrackSignal<'_>,
        sums: &mut Sums,
    ) -> bool {
        let is_source_silent = source == [None; TRACK_OUTPUTS];
        let is_silent = is_source_silent && self.routes.iter().all(Route::is_silent);
        if is_silent || self.routes.iter().all(Route::is_closed) {
            self.fader.skip(context);
            self.routes.iter_mut().for_each(|route| route.skip(context));
            return true;
        }
        if is_source_silent {
            return false;
        }
        let (Some([left, right, send]), [route]) = (self.fader.steady_gains(), &mut self.routes[..]) else {
            return false;
        };
        let is_steady = route.only_delays();
        let Some(sum) = sums.get_mut(route.destination).filter(|_| is_steady) else { return false };
        let gains = [left, right, send, send];
        if !route.is_direct() {
            let [source_left, source_right, ..] = source.map(Option::unwrap_or_default);
            self.meter.add([source_left, source_right], [left, right]);
            route.delay_into(sum, source, gains, context.frames);
            return true;
        }
        for (output, ((sum, values), gain)) in sum.iter_mut().zip(source).zip(gains).enumerate() {
            let (Some(values), sum) = (values, &mut sum[..context.frames]) else { continue };
            if output < 2 {
                self.meter.add_to(output, sum, values, gain);
            } else {
                sum.iter_mut().zip(values).for_each(|(sum, value)| *sum += value * gain);
            }
        }
        true
    }

    /// Adds the sum of the strip's inputs to `block`.
    fn add_inputs(
        &mut self,
        index: usize,
        frames: usize,
        sums: &mut Sums,
        block: &mut TrackBlock,
        active_outputs: &mut ActiveOutputs,
    ) {
        let Some(inputs) = &mut sums.strips[index] else { return };
        self.input_declicker.process(inputs.each_mut().map(|values| &mut values[..frames]));
        for (values, input) in block.iter_mut().zip(inputs.iter()) {
            values[..frames].iter_mut().zip(input).for_each(|(value, input)| *value += input);
        }
        *active_outputs = [true; TRACK_OUTPUTS];
    }
}

/// Copies a signal to a block. Outputs without a signal become silent.
fn copy(signal: TrackSignal<'_>, block: &mut TrackBlock, frames: usize) {
    for (values, signal) in block.iter_mut().zip(signal) {
        match signal {
            Some(signal) => values[..frames].copy_from_slice(&signal[..frames]),
            None => values[..frames].fill(0.0),
        }
    }
}

/// Adds a signal to a sum through a route. `None` is silence.
fn add_to_sum(
    route: &mut Route,
    context: ProcessContext,
    signal: Option<&TrackBlock>,
    sums: &mut Sums,
    scratch: &mut TrackBlock,
) {
    let frames = context.frames;
    let is_silent = signal.is_none() && route.is_silent();
    let Some(sum) = sums.get_mut(route.destination).filter(|_| !is_silent && !route.is_closed()) else {
        route.skip(context);
        return;
    };
    let channels = route.channel_count();
    match signal {
        Some(signal) if route.is_direct() => return add(sum, signal, frames),
        Some(signal) => {
            for (scratch, values) in scratch.iter_mut().zip(signal).take(channels) {
                scratch[..frames].copy_from_slice(&values[..frames]);
            }
        }
        None => scratch.iter_mut().for_each(|values| values[..frames].fill(0.0)),
    }
    route.process(context, scratch, signal.is_none());
    add(&mut sum[..channels], scratch, frames);
}

fn add(sums: &mut [[f32; BLOCK_FRAMES]], values: &TrackBlock, frames: usize) {
    for (sum, values) in sums.iter_mut().zip(values) {
        for (sum, value) in sum[..frames].iter_mut().zip(values) {
            *sum += value;
        }
    }
}
