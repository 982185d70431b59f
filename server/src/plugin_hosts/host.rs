//! One hosted plugin: opens it, and sends requests to its helper.

use std::collections::VecDeque;

use songfoundry_bridge_protocol::frame::{Frame, bytes_to_samples, write_samples};
use songfoundry_bridge_protocol::host::{
    Answer, Open, OpenWindow, Opened, PARAMETERS_MAX, PROGRAMS_MAX, PROTOCOL_VERSION, ParameterValue,
    PresetFormat, Process, Processed, Request, TEXT_BYTES_MAX, WindowOpened,
};

use super::error::{HostError, printable};
use super::helper::HostHelper;
use super::live_link::LiveLink;
use super::{PluginHosts, PluginRef};

/// Maximum number of requests to process audio that wait for their answers. While the plugin
/// processes one, the next ones are already in its socket.
const PENDING_MAX: usize = 4;

/// Settings with which a plugin is opened.
#[derive(Clone, Copy)]
pub struct OpenOptions<'a> {
    /// Sample rate in hertz.
    pub sample_rate_hz: u32,
    /// Maximum number of frames that the plugin processes at once.
    pub block_frames_max: u32,
    /// Whether the plugin processes in real time instead of offline.
    pub is_real_time: bool,
    /// Whether the plugin's own window can be opened ([`PluginHost::open_window`]).
    pub can_show_window: bool,
    /// Returns whether the result is no longer needed.
    pub is_cancelled: &'a dyn Fn() -> bool,
}

/// Output of a plugin.
#[derive(Debug)]
pub struct Audio {
    /// Samples of each channel that was requested.
    pub channels: Vec<Vec<f32>>,
    /// Properties of the output.
    pub processed: Processed,
}

/// A hosted plugin. Dropping it ends all of its processes and deletes its home folder.
pub struct PluginHost<'a> {
    helper: HostHelper<'a>,
    opened: Opened,
    /// The requests to process audio that have no answer yet, the oldest first.
    pending: VecDeque<PendingOutput>,
    /// The audio of the last request or answer.
    bytes: Vec<u8>,
}

/// Properties of output that was requested but not yet received.
#[derive(Clone, Copy)]
struct PendingOutput {
    channels: usize,
    frames: usize,
}

impl<'a> PluginHost<'a> {
    /// Starts a helper, and opens a plugin in it. Blocks.
    ///
    /// # Errors
    /// [`HostError`], if the helper cannot be started or the plugin cannot be opened.
    pub fn open(
        hosts: &'a PluginHosts,
        plugin: &PluginRef,
        options: OpenOptions<'a>,
    ) -> Result<Self, HostError> {
        let refusal = |reason: &str| HostError::Refused { reason: reason.to_owned() };
        let module =
            plugin.module.to_str().ok_or_else(|| refusal("the path of its module is not Unicode"))?;
        let mut helper = HostHelper::start(hosts, options.is_cancelled, options.can_show_window)?;
        let hello = Request::Hello { protocol_version: PROTOCOL_VERSION };
        let answer = match helper.request(&hello, &[]) {
            Ok(frame) => Ok(frame.header),
            // A helper refuses a version that it does not know.
            Err(HostError::Refused { reason }) => Err(reason),
            Err(error) => return Err(error),
        };
        match answer {
            Ok(Answer::Hello { protocol_version: PROTOCOL_VERSION, .. }) => {}
            answer => {
                let program = hosts.bridge.program().display().to_string();
                let reason = match answer {
                    Ok(Answer::Hello { protocol_version, .. }) => {
                        format!(
                            "it uses protocol version {protocol_version}; this service uses {PROTOCOL_VERSION}"
                        )
                    }
                    Ok(_) => "it did not answer with its protocol version".to_owned(),
                    Err(reason) => reason,
                };
                return Err(HostError::NotStarted { program, reason });
            }
        }
        let open = Open {
            module: module.to_owned(),
            plugin_id: plugin.plugin_id.clone(),
            sample_rate_hz: options.sample_rate_hz.into(),
            block_frames_max: options.block_frames_max,
            is_real_time: options.is_real_time,
        };
        match helper.request(&Request::Open(open), &[])?.header {
            Answer::Opened(opened) => {
                let opened = checked(*opened)?;
                let pending = VecDeque::with_capacity(PENDING_MAX);
                Ok(Self { helper, opened, pending, bytes: Vec::new() })
            }
            _ => Err(unexpected()),
        }
    }

    /// Returns the description of the plugin, as it was when it was opened.
    #[must_use]
    pub fn opened(&self) -> &Opened {
        &self.opened
    }

    /// Processes audio. `input` has [`Process::input_channels`] channels, followed by
    /// [`Process::side_chain_channels`] channels. Blocks.
    ///
    /// # Errors
    /// [`HostError`].
    pub fn process(&mut self, process: Process, input: &[Vec<f32>]) -> Result<Audio, HostError> {
        self.send(process, input)?;
        self.receive()
    }

    /// Whether [`Self::send`] can be called before [`Self::receive`].
    #[must_use]
    pub fn can_send(&self) -> bool {
        self.pending.len() < PENDING_MAX
    }

    /// Sends audio as [`Self::process`] does, and does not wait for the output. Only
    /// [`Self::receive`] may be called until all output has been received. Blocks while earlier
    /// requests fill the socket.
    ///
    /// # Errors
    /// [`HostError`].
    pub fn send(&mut self, process: Process, input: &[Vec<f32>]) -> Result<(), HostError> {
        self.pending.push_back(PendingOutput {
            channels: process.output_channels.into(),
            frames: process.frames as usize,
        });
        write_samples(input, &mut self.bytes);
        self.helper.send(&Request::Process(process), &self.bytes)
    }

    /// Returns the output for the oldest audio that was sent and has no output yet. Blocks.
    ///
    /// # Errors
    /// [`HostError`].
    pub fn receive(&mut self) -> Result<Audio, HostError> {
        let answer = self.helper.receive(&mut self.bytes)?;
        let (Answer::Processed(processed), Some(pending)) = (answer, self.pending.pop_front()) else {
            return Err(unexpected());
        };
        let PendingOutput { channels, frames } = pending;
        let Some(channels) = bytes_to_samples(&self.bytes, channels, frames) else {
            let reason = format!("{} bytes of audio for {channels} x {frames} samples", self.bytes.len());
            return Err(HostError::InvalidAnswer { reason });
        };
        // Without an early exit, the compiler vectorizes the loop.
        let is_finite =
            |channel: &Vec<f32>| channel.iter().fold(true, |finite, sample| finite & sample.is_finite());
        if !channels.iter().all(is_finite) {
            let reason = "a sample is infinite or not a number".to_owned();
            return Err(HostError::InvalidAnswer { reason });
        }
        Ok(Audio { channels, processed })
    }

    /// Ends all notes and tails of the plugin. Blocks.
    ///
    /// # Errors
    /// [`HostError`].
    pub fn reset(&mut self) -> Result<(), HostError> {
        match self.helper.request(&Request::Reset, &[])?.header {
            Answer::Done => Ok(()),
            _ => Err(unexpected()),
        }
    }

    /// Makes the plugin process blocks in shared memory from now on. Must be called in the context
    /// of the runtime that waits for the answers. Blocks.
    ///
    /// # Errors
    /// [`HostError`].
    #[cfg(target_os = "linux")]
    pub fn share_blocks(&mut self) -> Result<LiveLink, HostError> {
        let (link, descriptors) = LiveLink::new()?;
        self.helper.send(&Request::ShareBlocks, &[])?;
        self.helper.send_descriptors(descriptors.borrowed())?;
        match self.helper.receive(&mut self.bytes)? {
            Answer::Done => Ok(link),
            _ => Err(unexpected()),
        }
    }

    /// Always fails: plugins process in real time only on Linux.
    ///
    /// # Errors
    /// [`HostError::Io`].
    #[cfg(not(target_os = "linux"))]
    pub fn share_blocks(&mut self) -> Result<LiveLink, HostError> {
        Err(std::io::Error::from(std::io::ErrorKind::Unsupported).into())
    }

    /// Returns the reason if the process of the plugin has ended, or if an administrator has
    /// requested its end.
    pub fn take_end(&mut self) -> Option<HostError> {
        self.helper.take_end()
    }

    /// Returns the state of the plugin. Blocks.
    ///
    /// # Errors
    /// [`HostError`].
    pub fn state(&mut self) -> Result<Vec<u8>, HostError> {
        let Frame { header, binary } = self.helper.request(&Request::GetState, &[])?;
        match header {
            Answer::State => Ok(binary),
            _ => Err(unexpected()),
        }
    }

    /// Opens the plugin's own window, and the server that shows it, which demands `secret`. Blocks.
    ///
    /// # Errors
    /// [`HostError`]; [`HostError::Refused`] if the plugin has no window or cannot open it.
    pub fn open_window(&mut self, secret: String) -> Result<WindowOpened, HostError> {
        match self.helper.request(&Request::OpenWindow(OpenWindow { secret }), &[])?.header {
            Answer::WindowOpened(window) => Ok(window),
            _ => Err(unexpected()),
        }
    }

    /// Returns the reason why the process of the plugin has ended or must end; `None` while it
    /// runs.
    pub fn end_reason(&mut self) -> Option<HostError> {
        self.helper.end_reason()
    }

    /// Asks the plugin's process to end itself, and waits for a short time. Blocks.
    pub fn close(mut self) {
        self.helper.close();
    }

    /// Restores a state. Returns the values of all parameters. Blocks.
    ///
    /// # Errors
    /// [`HostError`]; [`HostError::Refused`] if the state belongs to another plugin.
    pub fn set_state(&mut self, state: &[u8]) -> Result<Vec<ParameterValue>, HostError> {
        self.change(&Request::SetState, state)
    }

    /// Loads the content of a preset file. Returns the values of all parameters. Blocks.
    ///
    /// # Errors
    /// [`HostError`]; [`HostError::Refused`] if the preset belongs to another plugin.
    pub fn load_preset(&mut self, preset: &[u8]) -> Result<Vec<ParameterValue>, HostError> {
        self.change(&Request::LoadPreset, preset)
    }

    /// Returns the current settings of the plugin as the content of a preset file. Blocks.
    ///
    /// # Errors
    /// [`HostError`]; [`HostError::Refused`] if the plugin has no presets of this format.
    pub fn save_preset(&mut self, format: PresetFormat) -> Result<Vec<u8>, HostError> {
        let Frame { header, binary } = self.helper.request(&Request::SavePreset { format }, &[])?;
        match header {
            Answer::Preset => Ok(binary),
            _ => Err(unexpected()),
        }
    }

    /// Selects a program of the plugin. Returns the values of all parameters. Blocks.
    ///
    /// # Errors
    /// [`HostError`]; [`HostError::Refused`] if there is no such program.
    pub fn set_program(&mut self, index: u32) -> Result<Vec<ParameterValue>, HostError> {
        self.change(&Request::SetProgram { index }, &[])
    }

    /// Returns the texts of parameter values, as the plugin formats them. Blocks.
    ///
    /// # Errors
    /// [`HostError`].
    pub fn parameter_texts(&mut self, values: Vec<ParameterValue>) -> Result<Vec<String>, HostError> {
        let count = values.len();
        match self.helper.request(&Request::ParameterTexts { values }, &[])?.header {
            Answer::ParameterTexts { texts } if texts.len() == count => {
                Ok(texts.iter().map(|text| printable(text)).collect())
            }
            _ => Err(unexpected()),
        }
    }

    fn change(&mut self, request: &Request, binary: &[u8]) -> Result<Vec<ParameterValue>, HostError> {
        match self.helper.request(request, binary)?.header {
            Answer::StateSet { parameters } if parameters.len() <= PARAMETERS_MAX => Ok(parameters),
            _ => Err(unexpected()),
        }
    }
}

fn checked(opened: Opened) -> Result<Opened, HostError> {
    let (parameters, programs) = (opened.parameters.len(), opened.programs.len());
    let reason = if parameters > PARAMETERS_MAX || programs > PROGRAMS_MAX {
        format!(
            "it has {parameters} parameters and {programs} programs; at most {PARAMETERS_MAX} and \
             {PROGRAMS_MAX} are allowed"
        )
    } else if let Some(parameter) =
        opened.parameters.iter().find(|parameter| parameter.name.len() > TEXT_BYTES_MAX)
    {
        let (id, bytes) = (&parameter.id, parameter.name.len());
        format!("the name of parameter {id} has {bytes} bytes; at most {TEXT_BYTES_MAX} are allowed")
    } else {
        return Ok(opened);
    };
    Err(HostError::InvalidAnswer { reason })
}

fn unexpected() -> HostError {
    HostError::InvalidAnswer { reason: "its type does not match the request".to_owned() }
}
