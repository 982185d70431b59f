//! Answers requests about a plugin.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use songfoundry_bridge_protocol::PluginFormat;
use songfoundry_bridge_protocol::frame::{read_samples, write_samples};
use songfoundry_bridge_protocol::host::{
    Answer, BLOCK_FRAMES_MAX, Event, Open, Opened, PROTOCOL_VERSION, ParameterValue, Process, Processed,
    Request, Transport,
};

use super::blocks::{
    block_end, change_interval, check, check_parameter, next_transport_change, transport_of,
};
use super::buses::convert_channels;
use super::plugin::{Block, Format, HostedPlugin};
use crate::module::{self, FailureReason};
use crate::process::denormals;
use crate::vst2::Vst2Plugin;
use crate::vst3::Vst3Plugin;

/// Permitted sample rates in hertz.
const SAMPLE_RATES_HZ: std::ops::RangeInclusive<f64> = 8_000.0..=768_000.0;

/// Maximum length of a tail that a reset waits for. Noise generators never become silent.
const TAIL_MAX_SECS: f64 = 5.0;

/// Samples below this level (-120 dBFS) are silent.
const SILENCE: f32 = 0.000_001;

/// Reason for refusing requests about a plugin before one is open.
const NOT_OPEN: &str = "no plugin is open";

/// The state of a connection to the service, which opens at most one plugin.
#[derive(Default)]
pub(crate) struct Session {
    has_version_match: bool,
    hosted: Option<Hosted>,
}

struct Hosted {
    plugin: Box<dyn HostedPlugin>,
    format: Format,
    parameters: HashSet<u32>,
    buffers: RequestBuffers,
}

/// The audio of a request, a vector of samples for each channel. The vectors keep their memory
/// between requests.
#[derive(Default)]
struct RequestBuffers {
    input: Vec<Vec<f32>>,
    output: Vec<Vec<f32>>,
}

impl Session {
    /// Returns the plugin, if one is open.
    pub(crate) fn plugin(&mut self) -> Option<&mut dyn HostedPlugin> {
        match &mut self.hosted {
            Some(hosted) => Some(hosted.plugin.as_mut()),
            None => None,
        }
    }

    /// Lets the plugin process a block of silence. Only then do some plugins show new values and
    /// report changes of their window.
    #[cfg(target_os = "linux")]
    pub(crate) fn process_silence(&mut self) -> Result<(), FailureReason> {
        self.hosted.as_mut().map_or(Ok(()), |hosted| hosted.process_silence().map(|_| ()))
    }

    /// Checks a value of a parameter of the open plugin.
    #[cfg(target_os = "linux")]
    pub(crate) fn check_value(&self, value: &ParameterValue) -> Result<(), FailureReason> {
        check_parameter(value, &self.hosted.as_ref().ok_or(NOT_OPEN)?.parameters)
    }

    /// Closes the plugin, if one is open.
    pub(crate) fn close(self) {
        if let Some(hosted) = self.hosted {
            hosted.plugin.close();
        }
    }

    /// Answers a request. `reply` becomes the binary part of the answer.
    pub(crate) fn answer(&mut self, request: Request, binary: &[u8], reply: &mut Vec<u8>) -> Answer {
        let answered = match request {
            Request::Process(process) if self.has_version_match => self.process(&process, binary, reply),
            request => {
                reply.clear();
                self.try_answer(request, binary, reply)
            }
        };
        answered.unwrap_or_else(|reason| {
            reply.clear();
            Answer::Refused { reason }
        })
    }

    /// Processes a block in real time: channels of [`Process::frames`] samples. Replaces the
    /// content of `output`.
    pub(super) fn process_block(
        &mut self,
        process: &Process,
        input: &[Vec<f32>],
        output: &mut Vec<Vec<f32>>,
    ) -> Result<Processed, FailureReason> {
        let hosted = self.hosted.as_mut().ok_or(NOT_OPEN)?;
        check(process, &hosted.parameters)?;
        hosted.process_channels(process, input, output)
    }

    /// Whether the plugin has a parameter with this id.
    pub(super) fn has_parameter(&self, id: u32) -> bool {
        self.hosted.as_ref().is_some_and(|hosted| hosted.parameters.contains(&id))
    }

    /// Whether a plugin is open.
    pub(super) fn is_open(&self) -> bool {
        self.hosted.is_some()
    }

    fn process(
        &mut self,
        process: &Process,
        binary: &[u8],
        reply: &mut Vec<u8>,
    ) -> Result<Answer, FailureReason> {
        let hosted = self.hosted.as_mut().ok_or(NOT_OPEN)?;
        let mut buffers = std::mem::take(&mut hosted.buffers);
        let processed = hosted.process(process, binary, &mut buffers);
        write_samples(&buffers.output, reply);
        hosted.buffers = buffers;
        processed.map(Answer::Processed)
    }

    fn try_answer(
        &mut self,
        request: Request,
        binary: &[u8],
        reply: &mut Vec<u8>,
    ) -> Result<Answer, FailureReason> {
        match request {
            Request::Hello { protocol_version } if protocol_version == PROTOCOL_VERSION => {
                self.has_version_match = true;
                let version = env!("CARGO_PKG_VERSION").to_owned();
                return Ok(Answer::Hello { protocol_version, version });
            }
            Request::Hello { protocol_version } => {
                return Err(format!(
                    "the service uses version {protocol_version} of the protocol; this helper uses version \
                     {PROTOCOL_VERSION}"
                ));
            }
            _ if !self.has_version_match => return Err("the first request must be `hello`".to_owned()),
            Request::Open(open) => {
                let opened_plugin = self.open(&open)?;
                return Ok(Answer::Opened(Box::new(opened_plugin)));
            }
            Request::Close => return Ok(Answer::Done),
            _ => {}
        }
        let hosted = self.hosted.as_mut().ok_or(NOT_OPEN)?;
        let plugin = hosted.plugin.as_mut();
        match request {
            Request::GetState => {
                *reply = plugin.state()?;
                Ok(Answer::State)
            }
            Request::SetState => {
                plugin.set_state(binary)?;
                Ok(Answer::StateSet { parameters: plugin.parameter_values() })
            }
            Request::LoadPreset => {
                plugin.load_preset(binary)?;
                Ok(Answer::StateSet { parameters: plugin.parameter_values() })
            }
            Request::SetProgram { index } => {
                plugin.set_program(index)?;
                Ok(Answer::StateSet { parameters: plugin.parameter_values() })
            }
            Request::SavePreset { format } => {
                *reply = plugin.save_preset(format)?;
                Ok(Answer::Preset)
            }
            Request::ParameterTexts { values } => {
                values.iter().try_for_each(|value| check_parameter(value, &hosted.parameters))?;
                let texts = values.into_iter().map(|value| plugin.parameter_text(value)).collect();
                Ok(Answer::ParameterTexts { texts })
            }
            Request::Reset => {
                hosted.reset()?;
                Ok(Answer::Done)
            }
            // Only the caller can answer this request, because file descriptors follow it on the
            // socket.
            Request::ShareBlocks => Err("blocks are shared only by a helper that hosts".to_owned()),
            Request::OpenWindow(_) => Err("only the command `gui` opens windows".to_owned()),
            Request::Hello { .. } | Request::Open(_) | Request::Close | Request::Process(_) => {
                unreachable!("answered above")
            }
        }
    }

    fn open(&mut self, open: &Open) -> Result<Opened, FailureReason> {
        if self.hosted.is_some() {
            return Err("a plugin is open already".to_owned());
        }
        if !SAMPLE_RATES_HZ.contains(&open.sample_rate_hz) {
            return Err(format!("the sample rate must be 8000 to 768000 Hz, not {}", open.sample_rate_hz));
        }
        if !(1..=BLOCK_FRAMES_MAX).contains(&open.block_frames_max) {
            return Err(format!(
                "the maximum block size must be 1 to {BLOCK_FRAMES_MAX}, not {}",
                open.block_frames_max
            ));
        }
        let format = Format {
            sample_rate_hz: open.sample_rate_hz,
            block_frames_max: open.block_frames_max,
            is_real_time: open.is_real_time,
        };
        let module = Path::new(&open.module);
        let plugin: Box<dyn HostedPlugin> = match module::format(module) {
            PluginFormat::Vst3 => Box::new(Vst3Plugin::open(module, &open.plugin_id, format)?),
            PluginFormat::Vst2 => Box::new(Vst2Plugin::open(module, &open.plugin_id, format)?),
        };
        let mut hosted =
            Hosted { plugin, format, parameters: HashSet::new(), buffers: RequestBuffers::default() };
        // Some plugins know their latency only after they have processed a block.
        hosted.process_silence()?;
        hosted.plugin.take_changes()?;
        hosted.plugin.reset()?;
        let opened_plugin = hosted.plugin.opened()?;
        hosted.parameters = opened_plugin.parameters.iter().map(|parameter| parameter.id).collect();
        self.hosted = Some(hosted);
        Ok(opened_plugin)
    }
}

impl Hosted {
    /// Ends all notes and tails. Some plugins keep tails when they are deactivated, so they process
    /// silence until they are silent.
    fn reset(&mut self) -> Result<(), FailureReason> {
        self.plugin.reset()?;
        let frames_max = (self.format.sample_rate_hz * TAIL_MAX_SECS) as u64;
        let (mut frames, mut silent_frames) = (0, 0);
        // A plugin with a latency may be silent before its tail.
        while frames < frames_max && silent_frames <= u64::from(self.plugin.latency_frames()) {
            let block_frames = u64::from(self.format.block_frames_max);
            silent_frames = if self.process_silence()? { silent_frames + block_frames } else { 0 };
            frames += block_frames;
        }
        self.plugin.reset()
    }

    /// Processes a block of silence. Returns whether the output is silent.
    fn process_silence(&mut self) -> Result<bool, FailureReason> {
        denormals::flush();
        self.plugin.main_input().iter_mut().for_each(|channel| channel.fill(0.0));
        self.plugin.side_chain().iter_mut().for_each(|channel| channel.fill(0.0));
        let transport = Transport { is_playing: false, ..Transport::default() };
        let frames = self.format.block_frames_max as usize;
        self.plugin.process(&Block { frames, transport, events: &[] })?;
        let mut samples = self.plugin.main_output().iter().flat_map(|channel| &channel[..frames]);
        Ok(samples.all(|sample| sample.abs() < SILENCE))
    }

    fn process(
        &mut self,
        request: &Process,
        binary: &[u8],
        RequestBuffers { input, output }: &mut RequestBuffers,
    ) -> Result<Processed, FailureReason> {
        check(request, &self.parameters)?;
        let channels = usize::from(request.input_channels) + usize::from(request.side_chain_channels);
        if !read_samples(binary, channels, request.frames as usize, input) {
            return Err(format!(
                "the input has {} bytes, which are not {channels} channels of {} samples",
                binary.len(),
                request.frames
            ));
        }
        self.process_channels(request, input, output)
    }

    /// Processes a checked request with its input. Replaces the content of `output`.
    fn process_channels(
        &mut self,
        request: &Process,
        input: &[Vec<f32>],
        output: &mut Vec<Vec<f32>>,
    ) -> Result<Processed, FailureReason> {
        output.resize(request.output_channels.into(), Vec::new());
        output.iter_mut().for_each(|channel| channel.resize(request.frames as usize, 0.0));
        let mut changes = BTreeMap::new();
        let mut non_finite_samples = 0;
        let change_interval = change_interval(request);
        let mut events = request.events.as_slice();
        let mut start = 0;
        while start < request.frames {
            let frames_max = next_transport_change(request, start);
            let end = block_end(start, frames_max, self.format.block_frames_max, change_interval, events);
            let count = events.partition_point(|event| event.frame < end);
            let (block_events, later_events) = events.split_at(count);
            let block_events: Vec<Event> = block_events
                .iter()
                .map(|event| Event { frame: event.frame - start, kind: event.kind })
                .collect();
            let frames = start as usize..end as usize;
            let block = Block {
                frames: frames.len(),
                transport: transport_of(request, start, self.format.sample_rate_hz),
                events: &block_events,
            };
            let source: Vec<&[f32]> = input.iter().map(|channel| &channel[frames.clone()]).collect();
            let sources = source.split_at(request.input_channels.into());
            non_finite_samples += self.process_block(&block, sources, output, frames)?;
            for change in self.plugin.take_changes()? {
                changes.insert(change.id, change.value);
            }
            (start, events) = (end, later_events);
        }
        let parameter_changes = changes.into_iter().map(|(id, value)| ParameterValue { id, value }).collect();
        let latency_frames = self.plugin.latency_frames();
        Ok(Processed { latency_frames, parameter_changes, non_finite_samples })
    }

    /// Processes a block of the input and the side-chain. Returns how many samples were not finite.
    fn process_block(
        &mut self,
        block: &Block,
        (input, side_chain): (&[&[f32]], &[&[f32]]),
        output: &mut [Vec<f32>],
        frames: std::ops::Range<usize>,
    ) -> Result<u64, FailureReason> {
        convert_to_bus(input, self.plugin.main_input(), block.frames);
        convert_to_bus(side_chain, self.plugin.side_chain(), block.frames);
        denormals::flush();
        self.plugin.process(block)?;
        let mut non_finite_samples = 0;
        for channel in self.plugin.main_output() {
            let samples = &mut channel[..block.frames];
            // The first loop has no branches, so the compiler vectorizes it.
            if samples.iter().fold(true, |finite, sample| finite & sample.is_finite()) {
                continue;
            }
            for sample in samples.iter_mut().filter(|sample| !sample.is_finite()) {
                *sample = 0.0;
                non_finite_samples += 1;
            }
        }
        let processed = self.plugin.main_output().iter().map(|channel| &channel[..block.frames]);
        let processed: Vec<&[f32]> = processed.collect();
        let mut output: Vec<&mut [f32]> =
            output.iter_mut().map(|channel| &mut channel[frames.clone()]).collect();
        convert_channels(&processed, &mut output);
        Ok(non_finite_samples)
    }
}

/// Copies audio to the first frames of a bus, and converts it to the channels of the bus.
fn convert_to_bus(source: &[&[f32]], bus: &mut [Vec<f32>], frames: usize) {
    let mut bus: Vec<&mut [f32]> = bus.iter_mut().map(|channel| &mut channel[..frames]).collect();
    convert_channels(source, &mut bus);
}
