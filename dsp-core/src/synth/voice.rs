//! One voice: a zone of a preset that sounds for a note, and where it goes: its pitch, its gains,
//! its filter, from one place of the grid to the next.

use super::channel::{Channel, summed};
use super::envelope::{FULL_FALL_CB, ModulationEnvelope, VolumeEnvelope};
use super::filter::{Coefficients, FilterSetting, Resonance};
use super::grid::Grid;
use super::interpolation::Kernel;
use super::lockstep::VoiceFilter;
use super::modulation::{self, Note, Values};
use super::oscillator::Oscillator;
use super::playback::Playback;
use super::ramp::{Offset, Ramps};
use super::settings::{self, Settings, VOICE_ATTENUATION_CB};
use super::units::{KnownGain, cents_to_exact_ratio, gain_to_centibels, larger, smaller};
use crate::session::{TRACK_OUTPUTS, VelocityToCutoff};
use crate::soundfont::{Bank, Generator};

/// How a sample is tuned by itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Tuning {
    /// Key at which it sounds as recorded.
    pub(super) root_key: f32,
    pub(super) correction_cents: f32,
    /// Its sample rate as a share of the engine's.
    pub(super) rate_ratio: f64,
}

const SENDS: [Generator; 2] = [Generator::ReverbEffectsSend, Generator::ChorusEffectsSend];

const PITCH_GENERATORS: [Generator; 3] = [Generator::CoarseTune, Generator::FineTune, Generator::ScaleTuning];

/// A voice's tuning: that of its sample, and the generators that tune.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pitch {
    tuning: Tuning,
    tunes: [f32; 3],
}

/// Where a voice's zones stand in its bank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ZonePlace {
    pub(super) preset: usize,
    pub(super) preset_zone: usize,
    pub(super) instrument: usize,
    pub(super) instrument_zone: usize,
}

/// A pitch that glides to the note's own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Glide {
    /// How far the pitch is off, in cents.
    pub(super) cents: f32,
    /// Towards 0.
    pub(super) cents_per_frame: f32,
}

impl Glide {
    pub(super) const NONE: Self = Self { cents: 0.0, cents_per_frame: 0.0 };

    fn advance(&mut self, frames: f32) {
        let way = self.cents_per_frame * frames;
        self.cents = if self.cents > 0.0 { (self.cents - way).max(0.0) } else { (self.cents + way).min(0.0) };
    }
}

/// Everything about a voice that moves by itself.
#[derive(Debug, Clone, Copy)]
struct Motion {
    volume: VolumeEnvelope,
    glide: Glide,
    modulation: ModulationEnvelope,
    vibrato: Oscillator,
    tremolo: Oscillator,
    /// Frames by which the last three are behind: they only move when something follows them.
    modulation_lag: f32,
    vibrato_lag: f32,
    tremolo_lag: f32,
}

impl Motion {
    fn advance(&mut self, settings: &Settings, frames: f32) {
        self.volume.advance(&settings.volume_times, settings.sustain_cb, frames);
        if self.glide.cents != 0.0 {
            self.glide.advance(frames);
        }
        self.modulation_lag += frames;
        if settings.follows_modulation() {
            self.catch_up_modulation(settings);
        }
        self.vibrato_lag += frames;
        if settings.vibrato_to_pitch != 0.0 {
            self.vibrato.advance(settings.vibrato_delay, settings.vibrato_turns, self.vibrato_lag);
            self.vibrato_lag = 0.0;
        }
        self.tremolo_lag += frames;
        if settings.follows_tremolo() {
            self.tremolo.advance(settings.tremolo_delay, settings.tremolo_turns, self.tremolo_lag);
            self.tremolo_lag = 0.0;
        }
    }

    fn catch_up_modulation(&mut self, settings: &Settings) {
        let frames = core::mem::take(&mut self.modulation_lag);
        self.modulation.advance(&settings.modulation_times, settings.modulation_sustain, frames);
    }
}

#[derive(Debug, Clone)]
pub(super) struct Voice {
    /// Counts the notes of the synthesizer; the voices of one note share it.
    pub(super) serial: u64,
    pub(super) key: u8,
    pub(super) key_down: bool,
    /// Whether the sostenuto pedal holds it.
    pub(super) sostenuto: bool,
    pub(super) released: bool,
    /// Whether it is on its way out because its place is needed or another note ended it.
    pub(super) fading: bool,
    pub(super) exclusive_class: i16,
    pub(super) sample: usize,
    pub(super) playback: Playback,
    pub(super) ramps: Ramps,
    pub(super) filter: VoiceFilter,
    /// Of its chunk, among those of its group.
    pub(super) lane: usize,
    note: Note,
    zones: ZonePlace,
    /// The zones' own values, or those that the channel has put in their place, before anything
    /// modulates them.
    base: Values,
    /// Offset of the default velocity-to-cutoff modulator in cents.
    velocity_cutoff_cents: f32,
    settings: Settings,
    tuning: Tuning,
    /// Of the zones, key and velocity, whatever controllers do.
    least_attenuation_cb: f32,
    /// To the reverb and to the chorus, in tenths of a per cent, likewise.
    most_sent: [f32; 2],
    /// How far the envelope must fall so that a sample of full scale is not heard, whatever
    /// controllers do.
    inaudible_cb: f32,
    /// Of the loop, once it has been looked through.
    sample_attenuation_cb: Option<f32>,
    now: Motion,
    /// Where the voice will be at the end of the stretch that has been aimed at.
    then: Motion,
    /// Of the attenuation, and of how far the envelope has fallen.
    own_gain: KnownGain,
    fallen_gain: KnownGain,
    /// What a fall may take that counts as fast.
    fast_frames: f32,
    aimed_at: u64,
    aimed_frames: u32,
    pitch_cents: f32,
    /// What the gains of the outputs have besides the envelope, where the stretch begins and where
    /// it ends.
    shares: [[f32; TRACK_OUTPUTS]; 2],
    /// What the filter is to become, and what it is at the end of the stretch.
    filter_target: (FilterSetting, Coefficients),
    filter_aim: Coefficients,
    resonance: Resonance,
    /// Frames, from where the stretch begins, in which gains and filter are still to follow a
    /// controller.
    smooth_frames: u32,
    /// When it is to be released, on the synthesizer's clock: notes sound for a while at least.
    release_at: Option<u64>,
    /// When it started, on the same clock.
    started_at: u64,
    /// Whether the filter has been aimed at another than it was.
    filter_moves: bool,
    /// Whether the filter changes nothing, now and until the voice is aimed again.
    filter_is_open: bool,
    /// Whether the last stretch was gone to its end.
    has_arrived: bool,
    /// When it is heard in full, on the same clock.
    risen_at: u64,
}

/// What a voice is started with.
pub(super) struct Start {
    pub(super) serial: u64,
    /// The key that was struck.
    pub(super) key: u8,
    /// Key and velocity as the zone wants them understood.
    pub(super) note: Note,
    pub(super) zones: ZonePlace,
    pub(super) sample: usize,
    pub(super) playback: Playback,
    pub(super) tuning: Tuning,
    pub(super) glide: Glide,
    /// Attenuation besides that of the zones, such as the soft pedal's.
    pub(super) softer_cb: f32,
}

/// What voices are computed with.
#[derive(Clone, Copy)]
pub(super) struct Surroundings<'a> {
    pub(super) bank: &'a Bank,
    pub(super) channel: &'a Channel,
    pub(super) sample_rate_hz: f32,
    pub(super) velocity_to_cutoff: VelocityToCutoff,
    pub(super) grid: Grid,
    /// Frames since the synthesizer was reset.
    pub(super) clock: u64,
}

impl Voice {
    pub(super) fn new(start: Start, around: Surroundings<'_>) -> Self {
        let instrument =
            &around.bank.instruments()[start.zones.instrument].zones[start.zones.instrument_zone];
        let preset = &around.bank.presets()[start.zones.preset].zones[start.zones.preset_zone];
        let mut base = summed(&instrument.generators, &preset.generators);
        base[Generator::InitialAttenuation as usize] *= ATTENUATION_SHARE;
        base[Generator::InitialAttenuation as usize] += start.softer_cb;
        around.channel.awe32().replace(&mut base);
        let lists = [&instrument.modulators, &preset.modulators];
        let velocity_cutoff_cents = match around.velocity_to_cutoff {
            VelocityToCutoff::Specification => {
                modulation::velocity_cutoff_cents(&instrument.modulators, start.note, around.channel)
            }
            VelocityToCutoff::AsStated => 0.0,
        };
        let reach = |generator: Generator| {
            let reaches = lists.map(|list| modulation::reach(list, generator, start.note, around.channel));
            let [(one_least, one_most), (other_least, other_most)] = reaches;
            let value = base[generator as usize];
            (value + one_least + other_least, value + one_most + other_most)
        };
        let (least_attenuation_cb, _) = reach(Generator::InitialAttenuation);
        let most_sent = SENDS.map(|send| reach(send).1);
        let motion = Motion {
            volume: VolumeEnvelope::new(),
            modulation: ModulationEnvelope::new(),
            vibrato: Oscillator::new(),
            tremolo: Oscillator::new(),
            glide: start.glide,
            modulation_lag: 0.0,
            vibrato_lag: 0.0,
            tremolo_lag: 0.0,
        };
        let mut voice = Self {
            serial: start.serial,
            key: start.key,
            key_down: true,
            sostenuto: false,
            released: false,
            fading: false,
            exclusive_class: base[Generator::ExclusiveClass as usize] as i16,
            sample: start.sample,
            playback: start.playback,
            ramps: Ramps::SILENT,
            filter: VoiceFilter::OPEN,
            lane: 0,
            note: start.note,
            zones: start.zones,
            base,
            velocity_cutoff_cents,
            settings: Settings::SILENT,
            tuning: start.tuning,
            least_attenuation_cb,
            most_sent,
            inaudible_cb: f32::INFINITY,
            sample_attenuation_cb: None,
            now: motion,
            then: motion,
            own_gain: KnownGain::UNITY,
            fallen_gain: KnownGain::UNITY,
            fast_frames: FAST_FALL_SECS * around.sample_rate_hz,
            aimed_at: around.clock,
            aimed_frames: 0,
            pitch_cents: f32::NAN,
            shares: [[0.0; TRACK_OUTPUTS]; 2],
            filter_target: (FilterSetting::OPEN, Coefficients::OPEN),
            filter_aim: Coefficients::OPEN,
            resonance: Resonance::NONE,
            smooth_frames: 0,
            release_at: None,
            started_at: around.clock,
            filter_moves: false,
            filter_is_open: true,
            has_arrived: false,
            risen_at: 0,
        };
        voice.follow(around);
        voice.set_filter(around.sample_rate_hz);
        voice.filter_aim = voice.filter_target.1;
        voice.filter = VoiceFilter::new(voice.filter_aim);
        voice.filter_is_open = voice.filter_aim == Coefficients::OPEN;
        voice
    }

    /// Takes over what the channel's controllers say now.
    pub(super) fn follow(&mut self, around: Surroundings<'_>) {
        let ZonePlace { preset, preset_zone, instrument, instrument_zone } = self.zones;
        let mut values = self.base;
        around.channel.awe32().replace_live(&mut values);
        values[Generator::InitialFilterFc as usize] += self.velocity_cutoff_cents;
        for (value, offset) in values.iter_mut().zip(around.channel.generator_offsets()) {
            *value += offset;
        }
        let instrument_zone = &around.bank.instruments()[instrument].zones[instrument_zone];
        let preset_zone = &around.bank.presets()[preset].zones[preset_zone];
        for list in [&instrument_zone.modulators, &preset_zone.modulators] {
            modulation::add(list, self.note, around.channel, &mut values);
        }
        let offset = |generator: Generator| around.channel.generator_offsets()[generator as usize];
        let tuning_cents = around.channel.tuning_cents();
        self.settings.set(&values, self.note.key, tuning_cents, around.sample_rate_hz);
        let sends = SENDS.into_iter().zip(self.most_sent);
        let sent = sends.map(|(send, most)| most + larger(offset(send), 0.0)).fold(0.0, larger);
        // The highest gain of the filter lies half the resonance above unity; an NRPN may take from
        // the attenuation; and what is sent may be louder than what is heard at once.
        let lifted_cb = self.settings.resonance_cb / 2.0
            + self.settings.tremolo_to_volume_cb.abs()
            + larger(-offset(Generator::InitialAttenuation), 0.0)
            + settings::send_lift_cb(sent);
        self.inaudible_cb = FULL_FALL_CB + lifted_cb - self.least_attenuation_cb - VOICE_ATTENUATION_CB;
        if self.fading {
            self.settings.volume_times.release = FADE_SECS * around.sample_rate_hz;
        }
    }

    /// As [`Self::follow`], without a step in what is heard.
    pub(super) fn follow_smoothly(&mut self, around: Surroundings<'_>) {
        self.follow(around);
        // A voice that begins here has nothing to step from.
        if self.started_at != around.clock {
            self.smooth_frames = around.grid.fine_frames();
        }
    }

    /// Whether two voices may be the sides of one stereo sample: zones of one instrument, played by
    /// one zone of the preset.
    pub(super) fn is_layer_of(&self, other: &Self) -> bool {
        let ZonePlace { preset_zone, instrument, .. } = self.zones;
        self.serial == other.serial
            && (preset_zone, instrument) == (other.zones.preset_zone, other.zones.instrument)
    }

    /// The preset that it belongs to, by its place in the bank.
    pub(super) fn preset(&self) -> usize {
        self.zones.preset
    }

    /// Releases the voice, now or when it has sounded for as long as a note must.
    pub(super) fn release_in_time(&mut self, clock: u64, sample_rate_hz: f32) {
        let earliest = self.started_at + (LEAST_NOTE_SECS * sample_rate_hz) as u64;
        if earliest > clock {
            self.release_at.get_or_insert(earliest);
        } else {
            self.release();
        }
    }

    /// Frames until the voice is to be released; it is released if that is now.
    pub(super) fn frames_to_release(&mut self, clock: u64) -> Option<u32> {
        let frames = self.release_at?.saturating_sub(clock);
        if frames == 0 {
            self.release();
            return None;
        }
        Some(u32::try_from(frames).unwrap_or(u32::MAX))
    }

    /// What decides the voice's pitch but controllers and what moves by itself.
    pub(super) fn pitch(&self) -> Pitch {
        Pitch { tuning: self.tuning, tunes: PITCH_GENERATORS.map(|generator| self.base[generator as usize]) }
    }

    /// To be followed by [`Self::follow`].
    pub(super) fn set_pitch(&mut self, pitch: Pitch) {
        self.tuning = pitch.tuning;
        for (generator, value) in PITCH_GENERATORS.into_iter().zip(pitch.tunes) {
            self.base[generator as usize] = value;
        }
    }

    /// Whether the filter is on its way to another.
    pub(super) fn filter_moves(&self) -> bool {
        self.filter_moves
    }

    /// Whether the filter changes nothing, now and until the voice is aimed again.
    pub(super) fn filter_is_open(&self) -> bool {
        self.filter_is_open
    }

    /// Brings what moves by itself to the present.
    pub(super) fn catch_up(&mut self, clock: u64) {
        let passed = (clock - self.aimed_at) as u32;
        if passed == 0 {
            return;
        }
        self.has_arrived = passed == self.aimed_frames;
        if self.has_arrived {
            self.now = self.then;
            self.shares[0] = self.shares[1];
        } else {
            self.now.advance(&self.settings, passed as f32);
            let way = passed as f32 / self.aimed_frames.max(1) as f32;
            let [from, to] = self.shares;
            self.shares[0] = core::array::from_fn(|output| from[output] + (to[output] - from[output]) * way);
        }
        self.smooth_frames = self.smooth_frames.saturating_sub(passed);
        self.aimed_at = clock;
        self.aimed_frames = 0;
    }

    /// Frames until the volume or the filter turns a corner that no straight line should cut off.
    pub(super) fn frames_to_corner(&self) -> Option<u32> {
        let settings = &self.settings;
        let of_volume = self.now.volume.frames_to_corner(&settings.volume_times);
        let of_filter = if settings.envelope_to_cutoff == 0.0 {
            None
        } else {
            self.now.modulation.frames_to_corner(&settings.modulation_times)
        };
        let frames = match (of_volume, of_filter) {
            (Some(one), Some(other)) => smaller(one, other),
            (one, other) => one.or(other)?,
        };
        // Not beyond it: a line that ends after a delay would begin to rise before its end.
        Some((frames as u32).max(1))
    }

    /// Frames until the voice has fallen below hearing, unless something moves it.
    pub(super) fn frames_to_silence(&self) -> Option<u32> {
        let settings = &self.settings;
        let fallen_cb = self.inaudible_cb - self.sample_attenuation_cb.unwrap_or(0.0);
        let frames =
            self.now.volume.frames_to_fall(&settings.volume_times, settings.sustain_cb, fallen_cb)?;
        Some((frames as u32).saturating_add(1))
    }

    /// Whether the volume's delay is not over: the sample waits for it.
    pub(super) fn waits(&self) -> bool {
        self.now.volume.delay_frames(&self.settings.volume_times).is_some_and(|frames| frames >= 1.0)
    }

    /// The grid on which the voice is aimed: so fine that straight lines between its places are not
    /// heard. Pitches go in steps.
    pub(super) fn grid_frames(&self, grid: Grid) -> u32 {
        let settings = &self.settings;
        let pitch_moves = settings.vibrato_to_pitch != 0.0
            || settings.tremolo_to_pitch != 0.0
            || settings.envelope_to_pitch != 0.0
            || self.now.glide.cents != 0.0;
        if self.now.volume.falls_within(&settings.volume_times, settings.sustain_cb, 0.2 * self.fast_frames) {
            grid.finest_frames()
        } else if pitch_moves || self.moves_within(self.fast_frames) {
            grid.fine_frames()
        } else if settings.follows_tremolo() || self.moves_within(2.0 * self.fast_frames) {
            grid.middle_frames()
        } else {
            grid.coarse_frames()
        }
    }

    /// Whether the volume or the filter goes all of its way in less than so many frames.
    fn moves_within(&self, frames: f32) -> bool {
        let settings = &self.settings;
        self.now.volume.falls_within(&settings.volume_times, settings.sustain_cb, frames)
            || settings.envelope_to_cutoff != 0.0
                && self.now.modulation.moves_within(
                    &settings.modulation_times,
                    settings.modulation_sustain,
                    frames,
                )
    }

    /// Whether it is where it was aimed at.
    pub(super) fn has_gone_its_way(&self, clock: u64) -> bool {
        self.aimed_at + u64::from(self.aimed_frames) <= clock
    }

    /// Frames until it is where it was aimed at.
    pub(super) fn frames_to_go(&self, clock: u64) -> u32 {
        (self.aimed_at + u64::from(self.aimed_frames)).saturating_sub(clock) as u32
    }

    /// Whether its sample is over, and its filter has rung out.
    pub(super) fn has_ended(&self, kernel: &Kernel) -> bool {
        self.playback.is_over(kernel) && self.filter.is_quiet()
    }

    /// Whether the voice has fallen below hearing, 96 dB below full scale, and no controller could
    /// bring it back: its gain, its key and velocity, the fall of its envelope and what is left of
    /// its sample count, less all that modulators could lift.
    pub(super) fn is_inaudible(&mut self, bank: &Bank) -> bool {
        let Some(fallen_cb) = self.now.volume.fallen_cb() else { return false };
        if fallen_cb + self.sample_attenuation_cb.unwrap_or(0.0) >= self.inaudible_cb {
            return true;
        }
        if fallen_cb >= self.inaudible_cb - FULL_FALL_CB / 2.0 && self.sample_attenuation_cb.is_none() {
            // What comes before the loop may be louder than it.
            if self.playback.is_in_loop() {
                let peak = bank.wave(self.sample).and_then(|wave| self.playback.loop_peak(wave));
                self.sample_attenuation_cb = Some(peak.map_or(0.0, gain_to_centibels).max(0.0));
            }
        }
        false
    }

    /// Whether it has begun just here, so that nothing of it has been heard.
    pub(super) fn begins_at(&self, clock: u64) -> bool {
        self.started_at == clock
    }

    /// How long it has sounded, in frames.
    pub(super) fn age_frames(&self, clock: u64) -> u64 {
        clock.saturating_sub(self.started_at)
    }

    /// How quiet the voice is, in centibels below full scale.
    pub(super) fn attenuation_cb(&self) -> f32 {
        self.settings.attenuation_cb + self.now.volume.fallen_cb().unwrap_or(0.0)
    }

    /// The key, and whatever held the voice, is let go. The voice must have caught up.
    pub(super) fn release(&mut self) {
        self.release_at = None;
        if !self.released {
            self.released = true;
            self.now.volume.release();
            self.now.catch_up_modulation(&self.settings);
            self.now.modulation.release();
            self.playback.release();
        }
    }

    /// Lets the voice rise from silence. `passed` frames have been counted for its ramps.
    pub(super) fn rise(&mut self, clock: u64, passed: u32, sample_rate_hz: f32) {
        self.risen_at = clock + (RISE_SECS * sample_rate_hz) as u64;
        let frames = self.frames_to_go(clock);
        let share = self.risen(clock + u64::from(frames), sample_rate_hz);
        self.ramps.rise(passed, frames, share);
    }

    /// The share of it that is heard at a place of the clock.
    fn risen(&self, clock: u64, sample_rate_hz: f32) -> f32 {
        match self.risen_at.checked_sub(clock) {
            None | Some(0) => 1.0,
            Some(left) => larger(1.0 - left as f32 / (RISE_SECS * sample_rate_hz), 0.0),
        }
    }

    /// Ends the voice at once, without a click. The voice must have caught up.
    pub(super) fn fade(&mut self, sample_rate_hz: f32) {
        self.release();
        self.fading = true;
        self.key_down = false;
        self.sostenuto = false;
        self.settings.volume_times.release = FADE_SECS * sample_rate_hz;
    }

    /// Says where the voice goes in the next frames, of which it has caught up with the first.
    pub(super) fn aim(&mut self, frames: u32, offset: Offset, sample_rate_hz: f32) {
        self.aim_pitch();
        self.then = self.now;
        self.then.advance(&self.settings, frames as f32);
        self.aimed_frames = frames;
        // What a controller moves takes its time, however near the next place is; what moves by
        // itself arrives.
        let way = if self.smooth_frames > frames { frames as f32 / self.smooth_frames as f32 } else { 1.0 };
        let per_frame = 1.0 / frames as f32;
        let risen = self.risen(self.aimed_at + u64::from(frames), sample_rate_hz);
        self.aim_gains(way, per_frame, offset, risen);
        self.aim_filter(way, per_frame, sample_rate_hz);
    }

    fn aim_gains(&mut self, way: f32, per_frame: f32, offset: Offset, risen: f32) {
        let settings = &self.settings;
        let tremolo_cb = self.then.tremolo.value() * settings.tremolo_to_volume_cb;
        let attenuation_cb = larger(settings.attenuation_cb - tremolo_cb, 0.0);
        let own_gain = self.own_gain.of(attenuation_cb);
        let mut shares = settings.output_gains.map(|output| output * own_gain);
        if way < 1.0 {
            for (share, from) in shares.iter_mut().zip(self.shares[0]) {
                *share = from + (*share - from) * way;
            }
        }
        self.shares[1] = shares;
        let gain = self.then.volume.gain(&mut self.fallen_gain) * risen;
        self.ramps.aim(shares.map(|share| share * gain), per_frame, offset);
    }

    fn aim_filter(&mut self, way: f32, per_frame: f32, sample_rate_hz: f32) {
        let is_under_way = self.filter_moves && !self.has_arrived;
        if self.filter_moves && self.has_arrived {
            self.filter.hold(self.filter_aim);
        }
        let before = self.filter_aim;
        self.set_filter(sample_rate_hz);
        self.filter_aim = self.filter_target.1;
        if way < 1.0 {
            let from = if is_under_way { self.filter.coefficients() } else { before };
            self.filter_aim = from.toward(self.filter_aim, way);
        }
        // From where it is, if events have cut its way short.
        self.filter_moves = is_under_way || self.filter_aim != before;
        self.filter_is_open = !self.filter_moves && self.filter_aim == Coefficients::OPEN;
        if self.filter_moves {
            self.filter.aim(self.filter_aim, per_frame);
        }
    }

    fn aim_pitch(&mut self) {
        let Settings { vibrato_to_pitch, tremolo_to_pitch, envelope_to_pitch, .. } = self.settings;
        let moving = self.now.vibrato.value() * vibrato_to_pitch
            + self.now.tremolo.value() * tremolo_to_pitch
            + self.now.modulation.level() * envelope_to_pitch
            + self.now.glide.cents;
        let Tuning { root_key, correction_cents, rate_ratio } = self.tuning;
        let keys = f32::from(self.note.key) - root_key;
        let cents = keys * self.settings.scale_tuning + correction_cents + self.settings.pitch_cents + moving;
        if cents != self.pitch_cents {
            self.pitch_cents = cents;
            self.playback.set_speed(rate_ratio * cents_to_exact_ratio(f64::from(cents)));
        }
    }

    /// Says what the filter is to become.
    fn set_filter(&mut self, sample_rate_hz: f32) {
        let settings = &self.settings;
        let cents = settings.cutoff_cents
            + self.then.tremolo.value() * settings.tremolo_to_cutoff
            + self.then.modulation.level() * settings.envelope_to_cutoff;
        let setting = FilterSetting::new(cents, settings.resonance_cb);
        if setting != self.filter_target.0 {
            self.filter_target = (setting, setting.coefficients(sample_rate_hz, &mut self.resonance));
        }
    }
}

/// Share of a zone's initial attenuation that is applied: a decibel of the file is 0.4 dB, as on
/// the sound cards for which banks were made, and in every player since.
const ATTENUATION_SHARE: f32 = 0.4;

/// A fall by 96 dB in less time is computed on a fine grid; one in less than twice of it on the
/// middle one, and one in less than a fifth on the finest.
const FAST_FALL_SECS: f32 = 0.25;

/// Shortest time that a note sounds before its release, in seconds: files have drum notes of no
/// length at all.
const LEAST_NOTE_SECS: f32 = 0.01;

/// Time in which a voice rises that is heard from its middle on, in seconds, besides the way to the
/// next place of its grid.
const RISE_SECS: f32 = 0.003;

/// Time in which a voice that must end falls by 96 dB.
const FADE_SECS: f32 = 0.05;
