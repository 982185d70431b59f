//! Hosts a VST3 plugin.
#![expect(unsafe_code, reason = "VST3 objects have a C interface")]

use std::collections::HashSet;
use std::path::Path;

use songfoundry_bridge_protocol::host::{
    EventKind, Opened, Parameter, ParameterValue, PresetFormat, Tail, Transport,
};
use songfoundry_bridge_protocol::{PluginFormat, ScannedPlugin};
use vst3::Steinberg::Vst::BusDirections_::kInput;
use vst3::Steinberg::Vst::MediaTypes_::kEvent;
use vst3::Steinberg::Vst::RestartFlags_::{
    kIoChanged, kMidiCCAssignmentChanged, kNoteExpressionChanged, kParamValuesChanged, kReloadComponent,
};
use vst3::Steinberg::Vst::SymbolicSampleSizes_::kSample32;
use vst3::Steinberg::Vst::{
    BusDirection, IAudioProcessorTrait as _, IComponentTrait as _, IEditControllerTrait as _, MediaType,
    NoteExpressionTypeID, ParamID, ProcessData, kInfiniteTail, kNoTail,
};
use vst3::Steinberg::{IPlugView, kResultOk};
use vst3::{ComPtr, ComWrapper};

use super::events::{EventList, as_list, note_event};
use super::instance::{Instance, process_mode};
use super::midi_mapping::MidiMapping;
use super::parameter_changes::{ParameterChanges, as_changes};
use super::parameters::{Programs, normalized_value, read_note_expressions, read_parameters, value_text};
use super::preset::Preset;
use super::process_data::{bus_buffers, process_context};
use super::stream::{MemoryStream, as_stream};
use crate::host::bounds::{bounded_latency, bounded_tail, bounded_text, bounded_value};
use crate::host::buses::Buses;
use crate::host::editor::PluginEditor as _;
use crate::host::plugin::{Block, Format, HostedPlugin};
#[cfg(target_os = "linux")]
use crate::host::plugin::{Descriptor, IdleWork};
use crate::host::state::{PartKind, StoredState};
use crate::module::FailureReason;

/// A VST3 plugin that is open and active.
pub(crate) struct Vst3Plugin {
    /// The open window. It is released before the plugin.
    pub(super) view: Option<ComPtr<IPlugView>>,
    pub(super) instance: Instance,
    format: Format,
    inputs: Buses,
    outputs: Buses,
    parameters: Vec<Parameter>,
    programs: Option<Programs>,
    note_expressions: HashSet<NoteExpressionTypeID>,
    midi_mapping: MidiMapping,
    accepts_notes: bool,
    /// Changes by the controller, which the processor gets with the next block.
    pub(super) pending: Vec<(ParamID, f64)>,
    /// Changes by the processor in the last block.
    output_changes: Vec<(ParamID, f64)>,
    /// Number of frames that were processed.
    frames: i64,
}

impl Vst3Plugin {
    /// Loads a module, creates the plugin with the id, and activates it.
    pub(crate) fn open(module: &Path, plugin_id: &str, format: Format) -> Result<Self, FailureReason> {
        let instance = Instance::create(module, plugin_id)?;
        let (inputs, outputs) = instance.arrange(format.block_frames_max)?;
        let accepts_notes = instance.bus_count(kEvent as MediaType, kInput as BusDirection)? > 0;
        instance.activate(format)?;
        let mut plugin = Self {
            view: None,
            instance,
            format,
            inputs,
            outputs,
            parameters: Vec::new(),
            programs: None,
            note_expressions: HashSet::new(),
            midi_mapping: MidiMapping::new(None),
            accepts_notes,
            pending: Vec::new(),
            output_changes: Vec::new(),
            frames: 0,
        };
        plugin.read_controller()?;
        Ok(plugin)
    }

    fn read_controller(&mut self) -> Result<(), FailureReason> {
        if let Some(controller) = &self.instance.controller {
            (self.parameters, self.programs) = read_parameters(controller)?;
            self.note_expressions = read_note_expressions(controller);
            self.midi_mapping = MidiMapping::new(controller.cast());
        }
        Ok(())
    }

    /// Reads the values of all parameters and returns those that changed.
    fn read_values(&mut self) -> Vec<ParameterValue> {
        let Some(controller) = &self.instance.controller else { return Vec::new() };
        let mut changes = Vec::new();
        for parameter in &mut self.parameters {
            let value = normalized_value(controller, parameter.id);
            if value != parameter.value {
                parameter.value = value;
                changes.push(ParameterValue { id: parameter.id, value });
            }
        }
        changes
    }

    pub(super) fn set_controller_value(&self, id: ParamID, value: f64) {
        if let Some(controller) = &self.instance.controller {
            // SAFETY: the controller is initialized.
            unsafe { controller.setParamNormalized(id, value) };
        }
    }

    /// Stores a new value. Returns the change if the parameter is listed and its stored value was
    /// different.
    pub(super) fn accept_value(&mut self, id: ParamID, value: f64) -> Option<ParameterValue> {
        let value = bounded_value(value);
        let parameter = self.parameters.iter_mut().find(|parameter| parameter.id == id)?;
        (std::mem::replace(&mut parameter.value, value) != value).then_some(ParameterValue { id, value })
    }

    /// Queues the changes that the plugin reported while the service changed its state for the
    /// processor, without reporting them to the service.
    fn discard_changes(&mut self) {
        self.pending.extend(self.instance.handler.take_edits());
        self.read_values();
    }

    /// Passes pending changes to the processor without processing audio.
    fn flush_pending(&mut self) {
        let pending = self.take_pending();
        if !pending.is_empty() {
            self.run_processor(0, &Transport::default(), ParameterChanges::new(pending), Vec::new());
        }
    }

    fn take_pending(&mut self) -> Vec<(ParamID, i32, f64)> {
        std::mem::take(&mut self.pending).into_iter().map(|(id, value)| (id, 0, value)).collect()
    }

    /// Calls the processor. With 0 frames, it gets only parameter changes and no buses. Source: VST
    /// 3 Developer Portal, "Parameters and Automation", section "Flush".
    fn run_processor(
        &mut self,
        frames: usize,
        transport: &Transport,
        changes: ComWrapper<ParameterChanges>,
        events: Vec<vst3::Steinberg::Vst::Event>,
    ) {
        let output_changes = ParameterChanges::new([]);
        let (events, output_events) = (EventList::new(events), EventList::new(Vec::new()));
        let mut context = process_context(transport, self.format.sample_rate_hz, self.frames);
        let (mut input_pointers, mut output_pointers) = (self.inputs.pointers(), self.outputs.pointers());
        let mut inputs = bus_buffers(&mut input_pointers, &self.inputs.spare_pointers());
        let mut outputs = bus_buffers(&mut output_pointers, &self.outputs.spare_pointers());
        let (input_count, output_count) = match frames {
            0 => (0, 0),
            _ => (inputs.len() as i32, outputs.len() as i32),
        };
        let mut data = ProcessData {
            processMode: process_mode(self.format),
            symbolicSampleSize: kSample32 as i32,
            numSamples: frames as i32,
            numInputs: input_count,
            numOutputs: output_count,
            inputs: inputs.as_mut_ptr(),
            outputs: outputs.as_mut_ptr(),
            inputParameterChanges: as_changes(&changes),
            outputParameterChanges: as_changes(&output_changes),
            inputEvents: as_list(&events),
            outputEvents: as_list(&output_events),
            processContext: &raw mut context,
        };
        // SAFETY: the processor is active. The buffers have the channels that it stated and at
        // least as many samples; they and all objects live as long as the call. Some plugins answer
        // with an error when they have nothing to do; their output is silent.
        unsafe { self.instance.processor.process(&mut data) };
        self.frames += frames as i64;
        self.output_changes.extend(output_changes.last_values());
    }

    /// Stops the processor, requests its buses again and starts the processor.
    fn restart(&mut self) -> Result<(), FailureReason> {
        self.instance.stop();
        (self.inputs, self.outputs) = self.instance.arrange(self.format.block_frames_max)?;
        self.instance.activate(self.format)
    }

    fn restore(&mut self, component: &[u8], controller_state: Option<&[u8]>) -> Result<(), FailureReason> {
        let stream = MemoryStream::new(component);
        // SAFETY: the component is initialized, and the stream lives as long as the call.
        let answer = unsafe { self.instance.component.setState(as_stream(&stream)) };
        // Plugins without parameters or with an empty state answer with an error although nothing
        // is wrong.
        if answer != kResultOk && self.instance.component_state()? != component {
            return Err(format!(
                "the component of the plugin rejected the state (`setState` returned {answer:#x})"
            ));
        }
        self.instance.synchronize_controller(component);
        if let (Some(controller), Some(state)) = (&self.instance.controller, controller_state) {
            let stream = MemoryStream::new(state);
            // SAFETY: the controller is initialized, and the stream lives as long as the call.
            unsafe { controller.setState(as_stream(&stream)) };
        }
        self.pending.clear();
        self.discard_changes();
        Ok(())
    }

    fn controller_state(&self) -> Option<Vec<u8>> {
        let stream = MemoryStream::new(&[]);
        // SAFETY: the controller is initialized, and the stream lives as long as the call.
        unsafe { self.instance.controller.as_ref()?.getState(as_stream(&stream)) };
        Some(stream.bytes())
    }

    /// Whether the controller can create a window. The window's object is released at once.
    fn has_editor(&self) -> bool {
        self.view.is_some() || self.create_view().is_some()
    }

    /// Carries out the changes that the processor requested, and returns the parameters that it
    /// changed.
    pub(super) fn take_processor_changes(&mut self) -> Result<Vec<ParameterValue>, FailureReason> {
        let mut changes = Vec::new();
        for (id, value) in std::mem::take(&mut self.output_changes) {
            self.set_controller_value(id, value);
            changes.extend(self.accept_value(id, value));
        }
        let flags = self.instance.handler.take_restart_flags();
        let has = |flag| flags & flag != 0;
        if has(kMidiCCAssignmentChanged) {
            self.midi_mapping.forget();
        }
        if has(kNoteExpressionChanged)
            && let Some(controller) = &self.instance.controller
        {
            self.note_expressions = read_note_expressions(controller);
        }
        if has(kParamValuesChanged) || has(kReloadComponent) {
            changes.extend(self.read_values());
        }
        if has(kIoChanged) || has(kReloadComponent) {
            self.restart()?;
        }
        Ok(changes)
    }
}

impl HostedPlugin for Vst3Plugin {
    fn opened(&mut self) -> Result<Opened, FailureReason> {
        self.read_controller()?;
        let ScannedPlugin { name, vendor, version, kind, .. } = &self.instance.description;
        // SAFETY: the processor is initialized.
        let tail_frames = unsafe { self.instance.processor.getTailSamples() };
        Ok(Opened {
            name: bounded_text(name),
            vendor: bounded_text(vendor),
            version: bounded_text(version),
            kind: *kind,
            inputs: self.inputs.descriptions.clone(),
            outputs: self.outputs.descriptions.clone(),
            latency_frames: self.latency_frames(),
            tail_frames: match tail_frames {
                tail_frames if tail_frames == kNoTail => Tail::None,
                tail_frames if tail_frames == kInfiniteTail => Tail::Infinite,
                tail_frames => bounded_tail(tail_frames, self.format.sample_rate_hz),
            },
            parameters: self.parameters.clone(),
            programs: self.programs.as_ref().map_or_else(Vec::new, |programs| programs.names.clone()),
            program: self.programs.as_ref().zip(self.instance.controller.as_ref()).map(
                |(programs, controller)| programs.index_of(normalized_value(controller, programs.parameter)),
            ),
            has_editor: self.has_editor(),
            accepts_notes: self.accepts_notes,
        })
    }

    fn main_input(&mut self) -> &mut [Vec<f32>] {
        self.inputs.main_mut()
    }

    fn side_chain(&mut self) -> &mut [Vec<f32>] {
        self.inputs.side_chain_mut()
    }

    fn main_output(&mut self) -> &mut [Vec<f32>] {
        self.outputs.main_mut()
    }

    fn process(&mut self, block: &Block) -> Result<(), FailureReason> {
        let mut changes = self.take_pending();
        let mut events = Vec::new();
        for event in block.events {
            let frame = event.frame.cast_signed();
            if let EventKind::Parameter(ParameterValue { id, value }) = event.kind {
                changes.push((id, frame, value));
                self.set_controller_value(id, value);
                self.accept_value(id, value);
            } else if let Some((id, value)) = self.midi_mapping.parameter_change(&event.kind) {
                changes.push((id, frame, value));
                self.set_controller_value(id, value);
            } else if let EventKind::ProgramChange { program, .. } = event.kind {
                if let Some(programs) = &self.programs {
                    changes.push((programs.parameter, frame, programs.value_of(program.into())));
                }
            } else {
                events.extend(note_event(event, &self.note_expressions));
            }
        }
        self.inputs.silence_others();
        self.outputs.silence();
        let changes = ParameterChanges::new(changes);
        self.run_processor(block.frames, &block.transport, changes, events);
        Ok(())
    }

    fn latency_frames(&mut self) -> u32 {
        // SAFETY: the processor is initialized.
        let latency_frames = unsafe { self.instance.processor.getLatencySamples() };
        bounded_latency(latency_frames.into(), self.format.sample_rate_hz)
    }

    fn take_changes(&mut self) -> Result<Vec<ParameterValue>, FailureReason> {
        let mut edited_parameters = Vec::new();
        for (id, value) in self.instance.handler.take_edits() {
            self.pending.push((id, value));
            edited_parameters.extend(self.accept_value(id, value));
        }
        let mut changes = self.take_processor_changes()?;
        changes.extend(edited_parameters);
        Ok(changes)
    }

    fn parameter_values(&mut self) -> Vec<ParameterValue> {
        let value = |parameter: &Parameter| ParameterValue { id: parameter.id, value: parameter.value };
        self.parameters.iter().map(value).collect()
    }

    fn parameter_text(&mut self, ParameterValue { id, value }: ParameterValue) -> String {
        self.instance
            .controller
            .as_ref()
            .map(|controller| value_text(controller, id, value))
            .unwrap_or_default()
    }

    fn state(&mut self) -> Result<Vec<u8>, FailureReason> {
        self.flush_pending();
        let ScannedPlugin { plugin_id, name, .. } = &self.instance.description;
        let mut state = StoredState::new(PluginFormat::Vst3, plugin_id, name);
        state.push(PartKind::Component, self.instance.component_state()?);
        if let Some(controller) = self.controller_state() {
            state.push(PartKind::Controller, controller);
        }
        state.to_bytes()
    }

    fn set_state(&mut self, bytes: &[u8]) -> Result<(), FailureReason> {
        let ScannedPlugin { plugin_id, name, .. } = &self.instance.description;
        let state = StoredState::of_plugin(bytes, PluginFormat::Vst3, plugin_id, name)?;
        let component =
            state.part(PartKind::Component).ok_or("the state does not contain the state of the component")?;
        self.restore(component, state.part(PartKind::Controller))
    }

    fn load_preset(&mut self, bytes: &[u8]) -> Result<(), FailureReason> {
        let preset = Preset::from_bytes(bytes)?;
        let ScannedPlugin { plugin_id, name, .. } = &self.instance.description;
        if !preset.class_id.eq_ignore_ascii_case(plugin_id) {
            return Err(format!(
                "the preset belongs to the plugin {}, not to {name:?} ({plugin_id})",
                preset.class_id
            ));
        }
        self.restore(&preset.component, preset.controller.as_deref())
    }

    fn save_preset(&mut self, format: PresetFormat) -> Result<Vec<u8>, FailureReason> {
        if format != PresetFormat::Vstpreset {
            return Err("VST3 plugins have no .fxp and .fxb files; use vstpreset".to_owned());
        }
        self.flush_pending();
        let preset = Preset {
            class_id: self.instance.description.plugin_id.clone(),
            component: self.instance.component_state()?,
            controller: self.controller_state(),
        };
        Ok(preset.to_bytes())
    }

    fn set_program(&mut self, index: u32) -> Result<(), FailureReason> {
        let programs = self.programs.as_ref().ok_or("the plugin has no programs")?;
        if index as usize >= programs.names.len() {
            return Err(format!("the plugin has {} programs, but no program {index}", programs.names.len()));
        }
        let (id, value) = (programs.parameter, programs.value_of(index));
        self.set_controller_value(id, value);
        self.pending.push((id, value));
        self.flush_pending();
        self.take_changes()?;
        self.discard_changes();
        Ok(())
    }

    fn reset(&mut self) -> Result<(), FailureReason> {
        self.instance.stop();
        self.instance.start();
        Ok(())
    }

    #[cfg(target_os = "linux")]
    fn idle_work(&self) -> IdleWork {
        self.instance.application.run_loop.work()
    }

    #[cfg(target_os = "linux")]
    fn idle(&mut self, ready: &[Descriptor]) {
        use vst3::Steinberg::Linux::{IEventHandlerTrait as _, ITimerHandlerTrait as _};
        for (handler, descriptor) in self.instance.application.run_loop.handlers_of(ready) {
            // SAFETY: the plugin registered the handler, which is kept during the call.
            unsafe { handler.onFDIsSet(descriptor) };
        }
        for handler in self.instance.application.run_loop.due_timers() {
            // SAFETY: the plugin registered the handler, which is kept during the call.
            unsafe { handler.onTimer() };
        }
    }

    fn close(mut self: Box<Self>) {
        self.close_editor();
        self.midi_mapping.release();
        self.instance.stop();
        self.instance.close();
    }
}
