//! Renders the notes of one track, or the input of one effect, with a hosted plugin to a WAV file.
//!
//! The plugin first processes silence, so that it can load its sounds and report its latency. The
//! latency is removed from the start of the file.

mod automation;
mod input;
mod output;
mod setup;
mod time_signatures;
mod timeline;
mod warnings;

use std::io::{self, BufWriter, Seek, Write};
use std::time::Duration;

use dsp_core::render::EffectInput;
use dsp_core::session::{Event, Session};
use dsp_core::wav::FLOAT_HEADER_BYTES;
use songfoundry_bridge_protocol::host::{Event as PluginEvent, Process, Transport};

use super::budget::Reservation;
use super::pass::Pass;
use super::{Observer, RenderError};
use crate::plugin_hosts::{Audio, HostError, OpenOptions, PluginHost, PluginHosts, PluginRef};
use input::{CHANNELS_EACH, InputReader};
use output::Output;
use timeline::Timeline;

pub use automation::{AUTOMATION_VERSION, AutomationCurve, CURVES_MAX};
pub use output::SILENT_MAGNITUDE;
pub use setup::{PluginSetup, StartState, UnknownParameters};
pub use time_signatures::TimeSignatureChange;
pub use warnings::{PluginFault, PluginWarning};

/// Number of channels of the file.
const CHANNELS: u16 = 2;

/// Maximum number of frames of a request to the plugin.
const REQUEST_FRAMES_MAX: u32 = 8_192;

/// Maximum number of frames that the plugin processes at once.
const BLOCK_FRAMES_MAX: u32 = 512;

/// Length of the silence that a plugin processes before the song, in seconds.
const WARM_UP_SECS: f64 = 0.1;

/// Number of times that a plugin processes this silence in a long warm-up, and the pause after
/// each. A plugin that loads its sounds in the background gets a second for this.
const LONG_WARM_UP_ROUNDS: u32 = 20;
const LONG_WARM_UP_PAUSE: Duration = Duration::from_millis(50);

/// Maximum latency of a plugin, in seconds.
const LATENCY_MAX_SECS: u32 = 10;

/// Opens the input and the side-chain of an effect, from their start.
pub type OpenInput<'t> = &'t dyn Fn() -> Result<EffectInput, RenderError>;

/// A track to render: notes that a plugin plays, or a signal that it processes.
pub struct PluginTrack<'t> {
    /// Hosts the plugin.
    pub hosts: &'t PluginHosts,
    /// The plugin.
    pub plugin: &'t PluginRef,
    /// State, parameters and automation of the plugin.
    pub setup: &'t PluginSetup,
    /// The session, whose first track has the notes.
    pub session: &'t Session,
    /// Time signatures in ascending order; 4/4 if there are none.
    pub time_signatures: &'t [TimeSignatureChange],
    /// The sound that the plugin processes; `None` for an instrument.
    pub input: Option<OpenInput<'t>>,
    /// Maximum tail in seconds. Silence ends the tail earlier.
    pub tail_secs: f64,
    /// Returns whether the file is no longer needed.
    pub is_cancelled: &'t dyn Fn() -> bool,
}

/// Length of the silence that a plugin processes before the song.
#[derive(Clone, Copy)]
enum WarmUp {
    /// A tenth of a second of silence, as fast as possible.
    Short,
    /// Two seconds of silence, with pauses of a second in total.
    Long,
}

/// A rendered track.
#[derive(Debug, Clone)]
pub struct RenderedTrack {
    /// Whether the file is silent although the track has notes, or the input has sound.
    pub is_silent: bool,
    /// Number of samples that were infinite or not a number. They are 0 in the file.
    pub non_finite_samples: u64,
    /// Name of the plugin.
    pub plugin_name: String,
    /// Values and automation that were ignored.
    pub ignored: Vec<PluginFault>,
}

impl RenderedTrack {
    /// Returns the faults of the sound.
    #[must_use]
    pub fn warnings(&self) -> Vec<PluginWarning> {
        let non_finite = PluginFault::NonFiniteSamples(self.non_finite_samples);
        let non_finite = (self.non_finite_samples > 0).then_some(non_finite);
        let faults = self.ignored.iter().cloned().chain(non_finite);
        faults.map(|fault| PluginWarning { plugin_name: self.plugin_name.clone(), fault }).collect()
    }
}

impl PluginTrack<'_> {
    /// Renders the track as 32-bit floats into a file that `new_file` makes. The render is repeated
    /// once if the process of the plugin dies, or if the file is silent although there are notes or
    /// input. The repetition has a new process and another file. After silence, the new process has
    /// a long warm-up.
    ///
    /// # Errors
    /// [`RenderError`]
    pub fn render<W: Write + Seek>(
        &self,
        reservation: &Reservation,
        mut new_file: impl FnMut() -> io::Result<W>,
        observer: Observer<'_>,
    ) -> Result<(W, RenderedTrack), RenderError> {
        let mut attempt = |warm_up| -> Result<_, RenderError> {
            let mut file = new_file()?;
            let track = self.attempt(warm_up, reservation, BufWriter::new(&mut file), observer)?;
            Ok((file, track))
        };
        match attempt(WarmUp::Short) {
            // The plugin may still have been loading its sounds.
            Ok((_, track)) if track.is_silent => attempt(WarmUp::Long),
            Err(RenderError::Plugin(error)) if error.is_death() => attempt(WarmUp::Short),
            outcome => outcome,
        }
    }

    /// Returns the largest size of the file, in bytes.
    #[must_use]
    pub fn max_file_bytes(&self) -> u64 {
        let frames = output::max_frames(self.session, self.tail_secs);
        FLOAT_HEADER_BYTES + frames * u64::from(CHANNELS) * size_of::<f32>() as u64
    }

    fn has_notes(&self) -> bool {
        let events = self.session.tracks.first().map_or(&[][..], |track| &track.events);
        events.iter().any(|event| matches!(event.event, Event::NoteOn { .. }))
    }

    /// Renders the track into `destination`, in a new process of the plugin. The content of the
    /// destination is undefined after an error.
    fn attempt(
        &self,
        warm_up: WarmUp,
        reservation: &Reservation,
        destination: impl Write + Seek,
        observer: Observer<'_>,
    ) -> Result<RenderedTrack, RenderError> {
        let sample_rate_hz = self.session.sample_rate_hz;
        let options = OpenOptions {
            can_show_window: false,
            sample_rate_hz,
            block_frames_max: BLOCK_FRAMES_MAX,
            is_real_time: false,
            is_cancelled: self.is_cancelled,
        };
        let mut host = PluginHost::open(self.hosts, self.plugin, options)?;
        setup::check_kind(host.opened(), &self.plugin.plugin_id, self.input.is_some())?;
        let mut input = match self.input {
            None => None,
            Some(open_input) => Some(InputReader::new(open_input()?, host.opened().has_side_chain())),
        };
        let mut ignored = Vec::new();
        let values = self.setup.apply(&mut host, &mut ignored)?;
        let curves = self.setup.curves(host.opened(), &mut ignored)?;
        let plugin_name = host.opened().name.clone();
        let mut timeline = Timeline::new(self.session, self.time_signatures, curves);
        let latency_frames = self.warm_up(&mut host, warm_up, values)?;
        let mut output = Output::new(destination, self.session, self.tail_secs, latency_frames)?;
        let pass = Pass::begin(reservation);
        let (mut position_frames, mut non_finite_samples) = (0, 0_u64);
        // Output after this frame is never written.
        let end_frame = output.max_frames() + u64::from(latency_frames);
        while !output.has_ended() {
            // The next input is rendered and sent while the plugin processes.
            while host.can_send() && position_frames < end_frame {
                let mut stretch = timeline.next(position_frames, REQUEST_FRAMES_MAX)?;
                position_frames += u64::from(stretch.frames);
                let inputs = input.as_mut().map_or(&[][..], |input| input.read(stretch.frames as usize));
                stretch.input_channels = inputs.len().min(CHANNELS_EACH) as u16;
                stretch.side_chain_channels = inputs.len() as u16 - stretch.input_channels;
                host.send(stretch, inputs)?;
            }
            let Audio { channels, processed } = host.receive()?;
            non_finite_samples = non_finite_samples.saturating_add(processed.non_finite_samples);
            output.write(&channels)?;
            pass.report(output.written_frames(), output.max_frames(), observer)?;
        }
        let has_input = input.is_some_and(|input| input.has_sound());
        let is_silent = output.finish()? && (has_input || self.has_notes());
        Ok(RenderedTrack { is_silent, non_finite_samples, plugin_name, ignored })
    }

    /// Makes the plugin process silence. `values` are set at its start. Returns the latency.
    fn warm_up(
        &self,
        host: &mut PluginHost<'_>,
        warm_up: WarmUp,
        values: Vec<PluginEvent>,
    ) -> Result<u32, RenderError> {
        let (rounds, pause) = match warm_up {
            WarmUp::Short => (1, None),
            WarmUp::Long => (LONG_WARM_UP_ROUNDS, Some(LONG_WARM_UP_PAUSE)),
        };
        let sample_rate_hz = self.session.sample_rate_hz;
        let frames = (WARM_UP_SECS * f64::from(sample_rate_hz)) as u32;
        let transport = Transport { is_playing: false, ..Transport::default() };
        let (mut events, mut latency_frames) = (values, 0);
        for _ in 0..rounds {
            let events = std::mem::take(&mut events);
            let silence =
                Process { frames, output_channels: CHANNELS, transport, events, ..Process::default() };
            latency_frames = host.process(silence, &[])?.processed.latency_frames;
            if let Some(pause) = pause {
                std::thread::sleep(pause);
            }
        }
        let limit_frames = LATENCY_MAX_SECS * sample_rate_hz;
        if latency_frames > limit_frames {
            let reason =
                format!("its latency is {latency_frames} frames; at most {limit_frames} are allowed");
            return Err(HostError::InvalidAnswer { reason }.into());
        }
        Ok(latency_frames)
    }
}

#[cfg(all(test, unix))]
mod tests;
