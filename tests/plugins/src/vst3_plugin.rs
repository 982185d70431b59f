//! The plugins of VST3 modules: a gain with a latency, a synthesizer of sines, and a meter. Each is
//! one object that is component, processor and controller. A gain with a timer sets itself to its
//! maximum and doubles its latency when the host first calls the timer. A gain with a side-chain
//! adds the side-chain to its input. The left output of the meter is the start of the bar in
//! quarter notes as the host states it. The right one is the numerator of the time signature plus
//! 1/256 of the denominator. Both outputs are multiplied by the gain, which cannot be automated.

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ::vst3::Steinberg::Linux::{IRunLoop, IRunLoopTrait as _, ITimerHandler, ITimerHandlerTrait};
use ::vst3::Steinberg::Vst::RestartFlags_::kLatencyChanged;

use ::vst3::Steinberg::Vst::BusDirections_::kInput;
use ::vst3::Steinberg::Vst::BusTypes_::kAux;
use ::vst3::Steinberg::Vst::Event_::EventTypes_::{kNoteExpressionValueEvent, kNoteOffEvent, kNoteOnEvent};
use ::vst3::Steinberg::Vst::MediaTypes_::kAudio;
use ::vst3::Steinberg::Vst::ParameterInfo_::ParameterFlags_::{kCanAutomate, kIsHidden, kIsReadOnly};
use ::vst3::Steinberg::Vst::{
    BusDirection, BusInfo, CtrlNumber, IAudioProcessor, IAudioProcessorTrait, IComponent, IComponentHandler,
    IComponentHandlerTrait as _, IComponentTrait, IEditController, IEditControllerTrait, IEventListTrait,
    IMidiMapping, IMidiMappingTrait, INoteExpressionController, INoteExpressionControllerTrait,
    IParamValueQueueTrait, IParameterChangesTrait, IoMode, MediaType, NoteExpressionTypeID,
    NoteExpressionTypeIDs_, NoteExpressionTypeInfo, ParamID, ParamValue, ParameterInfo, ProcessContext,
    ProcessData, ProcessSetup, RoutingInfo, SpeakerArr, SpeakerArrangement, String128, TChar,
};
use ::vst3::Steinberg::{
    FIDString, FUnknown, IBStream, IBStreamTrait, IPlugView, IPluginBaseTrait, TBool, TUID, kInvalidArgument,
    kNotImplemented, kResultFalse, kResultOk, kResultTrue, tresult,
};
use ::vst3::com_scrape_types::{Guid, Unknown};
use ::vst3::{Class, ComPtr, ComRef, ComWrapper};

use crate::bus_lie::BusLie;
use crate::dsp::{GAIN_LATENCY_FRAMES, Gain, LONG_LATENCY_FRAMES, Sines, gain};

/// Id of the parameter that changes the level.
const GAIN_ID: ParamID = 100;

/// Id of a hidden parameter.
const HIDDEN_ID: ParamID = 101;

/// Id of a read-only parameter with the level of the output.
const LEVEL_ID: ParamID = 102;

/// MIDI controller that is mapped to the gain: the channel volume.
const VOLUME_CONTROLLER: CtrlNumber = 7;

/// Interval of the timer in milliseconds.
const TIMER_MILLISECONDS: u64 = 10;

struct State {
    latency_frames: u32,
    gain: Gain,
    sines: Sines,
    value: f64,
    sample_rate_hz: f64,
}

/// A plugin: one object with the interfaces of component, processor and controller.
struct Plugin {
    is_synth: bool,
    is_meter: bool,
    has_side_chain: bool,
    bus_lie: Option<BusLie>,
    /// Whether the host has set an arrangement.
    is_arranged: AtomicBool,
    state: Arc<Mutex<State>>,
    timer: Option<ComWrapper<Timer>>,
}

/// The handler of the plugin's timer.
struct Timer {
    state: Arc<Mutex<State>>,
    host: Mutex<TimerHost>,
}

/// The host's interfaces that the timer uses.
#[derive(Default)]
struct TimerHost {
    run_loop: Option<ComPtr<IRunLoop>>,
    component_handler: Option<ComPtr<IComponentHandler>>,
}

impl Class for Timer {
    type Interfaces = (ITimerHandler,);
}

impl Timer {
    fn host(&self) -> MutexGuard<'_, TimerHost> {
        self.host.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn pointer(timer: &ComWrapper<Self>) -> *mut ITimerHandler {
        timer.as_com_ref::<ITimerHandler>().map_or(std::ptr::null_mut(), |timer| timer.as_ptr())
    }
}

impl ITimerHandlerTrait for Timer {
    unsafe fn onTimer(&self) {
        let Some(handler) = self.host().component_handler.take() else { return };
        {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            state.latency_frames *= 2;
            state.gain = Gain::new(state.latency_frames);
        }
        // SAFETY: the host's object is kept during the calls.
        unsafe {
            handler.beginEdit(GAIN_ID);
            handler.performEdit(GAIN_ID, 1.0);
            handler.endEdit(GAIN_ID);
            handler.restartComponent(kLatencyChanged);
        }
    }
}

impl Class for Plugin {
    type Interfaces = (IComponent, IAudioProcessor, IEditController, IMidiMapping, INoteExpressionController);
}

/// Creates a plugin.
///
/// # Safety
/// `object` must point to memory for the pointer.
pub(crate) unsafe fn create(sub_categories: &str, iid: &Guid, object: *mut *mut c_void) -> tresult {
    let is_synth = sub_categories.contains("Instrument");
    let is_meter = sub_categories.contains("Analyzer");
    let latency_frames = match sub_categories.contains("Restoration") {
        true => LONG_LATENCY_FRAMES,
        false => GAIN_LATENCY_FRAMES,
    };
    let state = State {
        latency_frames,
        gain: Gain::new(latency_frames),
        sines: Sines::default(),
        value: 0.5,
        sample_rate_hz: 48_000.0,
    };
    let state = Arc::new(Mutex::new(state));
    let timer = sub_categories
        .contains("Tools")
        .then(|| ComWrapper::new(Timer { state: Arc::clone(&state), host: Mutex::default() }));
    let has_side_chain = sub_categories.contains("Dynamics");
    let bus_lie = BusLie::of(sub_categories);
    let is_arranged = AtomicBool::new(false);
    let plugin =
        ComWrapper::new(Plugin { is_synth, is_meter, has_side_chain, bus_lie, is_arranged, state, timer });
    let Some(plugin) = plugin.as_com_ref::<IComponent>() else { return kResultFalse };
    // SAFETY: the object lives during the call, which counts a reference for the caller.
    match unsafe { IComponent::query_interface(plugin.as_ptr(), iid) } {
        Some(interface) => {
            // SAFETY: guaranteed by the caller.
            unsafe { *object = interface };
            kResultOk
        }
        None => kResultFalse,
    }
}

impl Plugin {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn channels(&self, direction: BusDirection) -> i32 {
        if self.is_synth && direction == kInput as BusDirection { 0 } else { 2 }
    }

    /// Returns the number of channels that the plugin states for its bus.
    fn stated_channels(&self, direction: BusDirection) -> i32 {
        match self.bus_lie {
            Some(BusLie::NegativeChannels) => -2,
            Some(BusLie::ManyChannels) => 1_000,
            Some(BusLie::OtherArrangement) if self.is_arranged.load(Ordering::Relaxed) => 1,
            _ => self.channels(direction),
        }
    }

    /// Returns the number of channels that the plugin uses of its bus.
    fn used_channels(&self) -> usize {
        match self.bus_lie {
            Some(BusLie::OtherArrangement) => 1,
            Some(BusLie::MoreChannels) => 6,
            _ => 2,
        }
    }

    /// Whether an audio bus is the mono side-chain.
    fn is_side_chain(&self, direction: BusDirection, index: i32) -> bool {
        self.has_side_chain && direction == kInput as BusDirection && index == 1
    }
}

fn put(text: &str, field: &mut String128) {
    *field = [0; 128];
    for (unit, character) in field.iter_mut().take(127).zip(text.encode_utf16()) {
        *unit = character;
    }
}

impl IPluginBaseTrait for Plugin {
    unsafe fn initialize(&self, context: *mut FUnknown) -> tresult {
        let Some(timer) = &self.timer else { return kResultOk };
        // SAFETY: the host passes its object, or null.
        let run_loop = unsafe { ComRef::from_raw(context) }.and_then(|context| context.cast::<IRunLoop>());
        let Some(run_loop) = run_loop else { return kResultFalse };
        // SAFETY: the timer lives until it is unregistered.
        let answer = unsafe { run_loop.registerTimer(Timer::pointer(timer), TIMER_MILLISECONDS) };
        timer.host().run_loop = Some(run_loop);
        answer
    }

    unsafe fn terminate(&self) -> tresult {
        let Some(timer) = &self.timer else { return kResultOk };
        let run_loop = timer.host().run_loop.take();
        // SAFETY: the timer was registered.
        run_loop.map_or(kResultOk, |run_loop| unsafe { run_loop.unregisterTimer(Timer::pointer(timer)) })
    }
}

impl IComponentTrait for Plugin {
    unsafe fn getControllerClassId(&self, _: *mut TUID) -> tresult {
        kNotImplemented
    }

    unsafe fn setIoMode(&self, _: IoMode) -> tresult {
        kNotImplemented
    }

    unsafe fn getBusCount(&self, media: MediaType, direction: BusDirection) -> i32 {
        match self.bus_lie {
            Some(BusLie::NegativeCount) if media == kAudio as MediaType => return -1,
            Some(BusLie::NoBuses) if media == kAudio as MediaType => return 0,
            Some(BusLie::ManyBuses) if media == kAudio as MediaType => return 1_000,
            _ => {}
        }
        match media == kAudio as MediaType {
            true => i32::from(self.channels(direction) > 0) + i32::from(self.is_side_chain(direction, 1)),
            false => i32::from(self.is_synth && direction == kInput as BusDirection),
        }
    }

    unsafe fn getBusInfo(
        &self,
        media: MediaType,
        direction: BusDirection,
        index: i32,
        info: *mut BusInfo,
    ) -> tresult {
        // SAFETY: the caller provides a buffer for the result.
        let info = unsafe { &mut *info };
        if media == kAudio as MediaType && self.is_side_chain(direction, index) {
            (info.channelCount, info.busType) = (1, kAux as i32);
            put("Side-chain", &mut info.name);
            return kResultOk;
        }
        let is_unknown = media == kAudio as MediaType && self.bus_lie == Some(BusLie::UnknownBus);
        if index != 0 || is_unknown {
            return kInvalidArgument;
        }
        info.channelCount = if media == kAudio as MediaType { self.stated_channels(direction) } else { 16 };
        info.busType = 0;
        put("Main", &mut info.name);
        kResultOk
    }

    unsafe fn getRoutingInfo(&self, _: *mut RoutingInfo, _: *mut RoutingInfo) -> tresult {
        kNotImplemented
    }

    unsafe fn activateBus(&self, _: MediaType, _: BusDirection, _: i32, _: TBool) -> tresult {
        kResultOk
    }

    unsafe fn setActive(&self, is_active: TBool) -> tresult {
        if is_active != 0 {
            let mut state = self.state();
            state.sines.reset();
            state.gain = Gain::new(state.latency_frames);
        }
        kResultOk
    }

    unsafe fn setState(&self, stream: *mut IBStream) -> tresult {
        let mut bytes = [0; 8];
        let mut count = 0;
        // SAFETY: the caller passes a stream, and the buffer has eight bytes.
        let answer = unsafe {
            ComRef::from_raw(stream).map(|stream| stream.read(bytes.as_mut_ptr().cast(), 8, &mut count))
        };
        if answer != Some(kResultOk) || count != 8 {
            return kResultFalse;
        }
        self.state().value = f64::from_le_bytes(bytes);
        kResultOk
    }

    unsafe fn getState(&self, stream: *mut IBStream) -> tresult {
        let mut bytes = self.state().value.to_le_bytes();
        // SAFETY: the caller passes a stream, and the buffer has eight bytes.
        unsafe {
            ComRef::from_raw(stream).map_or(kInvalidArgument, |stream| {
                stream.write(bytes.as_mut_ptr().cast(), 8, std::ptr::null_mut())
            })
        }
    }
}

/// A change at a frame of a block.
enum Change {
    Gain(f64),
    Start { id: i32, key: i32, velocity: f32 },
    End { id: i32, key: i32 },
    Tune { id: i32, semitones: f64 },
}

/// # Safety
/// `data` must be what VST3 defines for a call of `process`.
unsafe fn changes(data: &ProcessData) -> Vec<(i32, Change)> {
    let mut changes = Vec::new();
    // SAFETY: guaranteed by the caller.
    unsafe {
        if let Some(queues) = ComRef::from_raw(data.inputParameterChanges) {
            for index in 0..queues.getParameterCount() {
                let Some(queue) = ComRef::from_raw(queues.getParameterData(index)) else { continue };
                for point in 0..queue.getPointCount() {
                    let (mut frame, mut value) = (0, 0.0);
                    queue.getPoint(point, &mut frame, &mut value);
                    if queue.getParameterId() == GAIN_ID {
                        changes.push((frame, Change::Gain(value)));
                    }
                }
            }
        }
        if let Some(events) = ComRef::from_raw(data.inputEvents) {
            for index in 0..events.getEventCount() {
                let mut event = std::mem::zeroed();
                events.getEvent(index, &mut event);
                let content = event.__field0;
                let kind = u32::from(event.r#type);
                let change = if kind == kNoteOnEvent {
                    let note = content.noteOn;
                    Change::Start { id: note.noteId, key: note.pitch.into(), velocity: note.velocity }
                } else if kind == kNoteOffEvent {
                    Change::End { id: content.noteOff.noteId, key: content.noteOff.pitch.into() }
                } else if kind == kNoteExpressionValueEvent {
                    let value = content.noteExpressionValue;
                    Change::Tune { id: value.noteId, semitones: 240.0 * (value.value - 0.5) }
                } else {
                    continue;
                };
                changes.push((event.sampleOffset, change));
            }
        }
    }
    changes.sort_by_key(|change| change.0);
    changes
}

/// Returns the output of the meter, left and right.
fn bar_samples(context: &ProcessContext) -> [f32; 2] {
    let signature = context.timeSigNumerator as f32 + context.timeSigDenominator as f32 / 256.0;
    [context.barPositionMusic as f32, signature]
}

impl State {
    fn apply(&mut self, change: &Change) {
        match *change {
            Change::Gain(value) => self.value = value,
            Change::Start { id, key, velocity } => self.sines.start(id, key, velocity),
            Change::End { id, key } => self.sines.end(id, key),
            Change::Tune { id, semitones } => self.sines.tune(id, semitones),
        }
    }
}

impl IAudioProcessorTrait for Plugin {
    unsafe fn setBusArrangements(
        &self,
        inputs: *mut SpeakerArrangement,
        input_count: i32,
        outputs: *mut SpeakerArrangement,
        output_count: i32,
    ) -> tresult {
        self.is_arranged.store(true, Ordering::Relaxed);
        if self.bus_lie.is_some() {
            return kResultTrue;
        }
        let expected_inputs = i32::from(!self.is_synth) + i32::from(self.has_side_chain);
        if (input_count, output_count) != (expected_inputs, 1) {
            return kResultFalse;
        }
        // SAFETY: the caller passes as many arrangements as it states.
        let is_stereo = unsafe {
            let is_side_chain_mono = input_count < 2 || *inputs.add(1) == SpeakerArr::kMono;
            *outputs == SpeakerArr::kStereo
                && (input_count == 0 || *inputs == SpeakerArr::kStereo)
                && is_side_chain_mono
        };
        if is_stereo { kResultTrue } else { kResultFalse }
    }

    unsafe fn getBusArrangement(
        &self,
        direction: BusDirection,
        index: i32,
        arrangement: *mut SpeakerArrangement,
    ) -> tresult {
        let is_side_chain = self.is_side_chain(direction, index);
        // SAFETY: the caller provides memory for the result.
        unsafe { *arrangement = if is_side_chain { SpeakerArr::kMono } else { SpeakerArr::kStereo } };
        kResultOk
    }

    unsafe fn canProcessSampleSize(&self, size: i32) -> tresult {
        if size == 0 { kResultTrue } else { kResultFalse }
    }

    unsafe fn getLatencySamples(&self) -> u32 {
        if self.is_synth || self.is_meter { 0 } else { self.state().latency_frames }
    }

    unsafe fn setupProcessing(&self, setup: *mut ProcessSetup) -> tresult {
        // SAFETY: the caller passes the setup.
        self.state().sample_rate_hz = unsafe { (*setup).sampleRate };
        kResultOk
    }

    unsafe fn setProcessing(&self, _: TBool) -> tresult {
        kResultOk
    }

    unsafe fn process(&self, data: *mut ProcessData) -> tresult {
        // SAFETY: the caller passes the data of a block, with the buses that the plugin states.
        unsafe {
            let data = &*data;
            let mut changes = changes(data).into_iter().peekable();
            let mut state = self.state();
            let has_buses = data.numOutputs == 1;
            let bar = data.processContext.as_ref().map_or([0.0; 2], bar_samples);
            let mut level = 0.0_f32;
            for frame in 0..data.numSamples.max(1) {
                while let Some((_, change)) = changes.next_if(|change| change.0 <= frame) {
                    state.apply(&change);
                }
                if !has_buses || data.numSamples == 0 {
                    continue;
                }
                let value = gain(state.value);
                let rate = state.sample_rate_hz;
                let sine = if self.is_synth { state.sines.next(rate) } else { 0.0 };
                for channel in 0..self.used_channels() {
                    let output = *(*data.outputs).__field0.channelBuffers32.add(channel);
                    let sample = match self.is_synth {
                        true => sine * value,
                        false if self.is_meter => bar[channel % 2] * value,
                        false if channel >= 2 => 1.0,
                        false => {
                            let input = *(*data.inputs).__field0.channelBuffers32.add(channel);
                            let mut sample = *input.add(frame as usize);
                            if data.numInputs == 2 {
                                let side_chain = *(*data.inputs.add(1)).__field0.channelBuffers32;
                                sample += *side_chain.add(frame as usize);
                            }
                            state.gain.process(channel, sample, value)
                        }
                    };
                    *output.add(frame as usize) = sample;
                    level = level.max(sample.abs());
                }
            }
            if let Some(output) = ComRef::from_raw(data.outputParameterChanges) {
                let mut index = 0;
                if let Some(queue) = ComRef::from_raw(output.addParameterData(&LEVEL_ID, &mut index)) {
                    queue.addPoint(0, f64::from(level.min(1.0)), &mut index);
                }
            }
        }
        kResultOk
    }

    unsafe fn getTailSamples(&self) -> u32 {
        0
    }
}

impl IEditControllerTrait for Plugin {
    unsafe fn setComponentState(&self, _: *mut IBStream) -> tresult {
        kResultOk
    }

    unsafe fn setState(&self, _: *mut IBStream) -> tresult {
        kNotImplemented
    }

    unsafe fn getState(&self, _: *mut IBStream) -> tresult {
        kNotImplemented
    }

    unsafe fn getParameterCount(&self) -> i32 {
        3
    }

    unsafe fn getParameterInfo(&self, index: i32, info: *mut ParameterInfo) -> tresult {
        let (id, name, flags) = match index {
            0 => (GAIN_ID, "Gain", if self.is_meter { 0 } else { kCanAutomate }),
            1 => (HIDDEN_ID, "Hidden", kIsHidden),
            2 => (LEVEL_ID, "Level", kIsReadOnly),
            _ => return kInvalidArgument,
        };
        // SAFETY: the caller provides a buffer for the result.
        let info = unsafe { &mut *info };
        info.id = id;
        put(name, &mut info.title);
        put(name, &mut info.shortTitle);
        put("x", &mut info.units);
        info.stepCount = 0;
        info.defaultNormalizedValue = 0.5;
        info.unitId = 0;
        info.flags = flags;
        kResultOk
    }

    unsafe fn getParamStringByValue(&self, _: ParamID, value: ParamValue, text: *mut String128) -> tresult {
        // SAFETY: the caller provides a buffer for the result.
        put(&format!("{:.2}", gain(value)), unsafe { &mut *text });
        kResultOk
    }

    unsafe fn getParamValueByString(&self, _: ParamID, _: *mut TChar, _: *mut ParamValue) -> tresult {
        kNotImplemented
    }

    unsafe fn normalizedParamToPlain(&self, _: ParamID, value: ParamValue) -> ParamValue {
        gain(value).into()
    }

    unsafe fn plainParamToNormalized(&self, _: ParamID, value: ParamValue) -> ParamValue {
        value / 2.0
    }

    unsafe fn getParamNormalized(&self, id: ParamID) -> ParamValue {
        if id == GAIN_ID { self.state().value } else { 0.0 }
    }

    unsafe fn setParamNormalized(&self, _: ParamID, _: ParamValue) -> tresult {
        // The processor gets the value at its frame.
        kResultOk
    }

    unsafe fn setComponentHandler(&self, handler: *mut IComponentHandler) -> tresult {
        if let Some(timer) = &self.timer {
            // SAFETY: the host passes its object, or null.
            timer.host().component_handler =
                unsafe { ComRef::from_raw(handler) }.map(|handler| handler.to_com_ptr());
        }
        kResultOk
    }

    unsafe fn createView(&self, _: FIDString) -> *mut IPlugView {
        std::ptr::null_mut()
    }
}

impl IMidiMappingTrait for Plugin {
    unsafe fn getMidiControllerAssignment(
        &self,
        bus: i32,
        _: i16,
        controller: CtrlNumber,
        id: *mut ParamID,
    ) -> tresult {
        if bus != 0 || controller != VOLUME_CONTROLLER {
            return kResultFalse;
        }
        // SAFETY: the caller provides memory for the result.
        unsafe { *id = GAIN_ID };
        kResultOk
    }
}

impl INoteExpressionControllerTrait for Plugin {
    unsafe fn getNoteExpressionCount(&self, _: i32, _: i16) -> i32 {
        i32::from(self.is_synth)
    }

    unsafe fn getNoteExpressionInfo(
        &self,
        _: i32,
        _: i16,
        index: i32,
        info: *mut NoteExpressionTypeInfo,
    ) -> tresult {
        if index != 0 || !self.is_synth {
            return kInvalidArgument;
        }
        // SAFETY: the caller provides a buffer for the result.
        unsafe { (*info).typeId = NoteExpressionTypeIDs_::kTuningTypeID };
        kResultOk
    }

    unsafe fn getNoteExpressionStringByValue(
        &self,
        _: i32,
        _: i16,
        _: NoteExpressionTypeID,
        _: f64,
        _: *mut String128,
    ) -> tresult {
        kNotImplemented
    }

    unsafe fn getNoteExpressionValueByString(
        &self,
        _: i32,
        _: i16,
        _: NoteExpressionTypeID,
        _: *const TChar,
        _: *mut f64,
    ) -> tresult {
        kNotImplemented
    }
}
