//! Creates the parts of a plugin, connects them, and activates its processor.
#![expect(unsafe_code, reason = "VST3 objects have a C interface")]

use std::path::Path;

use songfoundry_bridge_protocol::ScannedPlugin;
use songfoundry_bridge_protocol::host::{BUSES_MAX, Bus};
use vst3::Steinberg::Vst::BusDirections_::{kInput, kOutput};
use vst3::Steinberg::Vst::BusTypes_::{kAux, kMain};
use vst3::Steinberg::Vst::MediaTypes_::{kAudio, kEvent};
use vst3::Steinberg::Vst::ProcessModes_::{kOffline, kRealtime};
use vst3::Steinberg::Vst::SymbolicSampleSizes_::kSample32;
use vst3::Steinberg::Vst::{
    BusDirection, BusInfo, IAudioProcessor, IAudioProcessorTrait as _, IComponent, IComponentHandler,
    IComponentTrait as _, IConnectionPoint, IConnectionPointTrait as _, IEditController,
    IEditControllerTrait as _, IHostApplication, MediaType, ProcessSetup, SpeakerArr, SpeakerArrangement,
};
use vst3::Steinberg::{
    FUnknown, IPluginBaseTrait as _, IPluginFactory, IPluginFactory3, IPluginFactory3Trait as _,
    IPluginFactoryTrait as _, TUID, kResultOk,
};
use vst3::{ComPtr, ComWrapper, Interface};

use super::component_handler::ComponentHandler;
use super::factory::{AUDIO_CATEGORY, Class, class, factory};
use super::host_application::HostApplication;
use super::stream::{MemoryStream, as_stream};
use super::text::wide_text;
use crate::host::bounds::bounded_text;
use crate::host::buses::{Buses, too_many};
use crate::host::plugin::Format;
use crate::module::{FailureReason, library_path};

/// Maximum number of classes of a module that are searched.
const CLASSES_MAX: i32 = 10_000;

/// The parts of a plugin.
///
/// Some plugins crash if the component is released before the interfaces that belong to it. The
/// fields are therefore in the order in which they are released if the plugin cannot be opened.
pub(super) struct Instance {
    /// The factory's description of the plugin.
    pub(super) description: ScannedPlugin,
    /// The part that processes audio.
    pub(super) processor: ComPtr<IAudioProcessor>,
    connection: Option<(ComPtr<IConnectionPoint>, ComPtr<IConnectionPoint>)>,
    /// The part that has the parameters; some plugins have none.
    pub(super) controller: Option<ComPtr<IEditController>>,
    has_separate_controller: bool,
    /// The part that has the buses and the state.
    pub(super) component: ComPtr<IComponent>,
    factory: ComPtr<IPluginFactory>,
    /// Changes that the controller reports.
    pub(super) handler: ComWrapper<ComponentHandler>,
    /// The host as the plugin sees it.
    pub(super) application: ComWrapper<HostApplication>,
}

impl Instance {
    /// Loads a module, creates the plugin with the id, and connects its parts.
    pub(super) fn create(module: &Path, plugin_id: &str) -> Result<Self, FailureReason> {
        let factory = factory(&library_path(module)?)?;
        let Class { id, plugin, .. } = find_class(&factory, plugin_id)?;
        let application = ComWrapper::new(HostApplication::default());
        let context = context(&application);
        if let Some(factory) = factory.cast::<IPluginFactory3>() {
            // SAFETY: the interface was queried, and the application outlives the plugin.
            unsafe { factory.setHostContext(context) };
        }
        let component = create_object::<IComponent>(&factory, &id)
            .ok_or_else(|| format!("the module could not create the plugin {:?}", plugin.name))?;
        // SAFETY: the component is new, and the application outlives it.
        if unsafe { component.initialize(context) } != kResultOk {
            return Err("the plugin could not be initialized".to_owned());
        }
        let processor = component
            .cast::<IAudioProcessor>()
            .ok_or("the plugin's component does not implement `IAudioProcessor`")?;
        let (controller, has_separate_controller) = match component.cast::<IEditController>() {
            Some(controller) => (Some(controller), false),
            None => (create_controller(&factory, &component, context), true),
        };
        let mut instance = Self {
            description: plugin,
            component,
            processor,
            controller,
            handler: ComWrapper::new(ComponentHandler::default()),
            application,
            has_separate_controller,
            connection: None,
            factory,
        };
        instance.connect();
        instance.synchronize_controller(&instance.component_state()?);
        Ok(instance)
    }

    fn connect(&mut self) {
        let Some(controller) = &self.controller else { return };
        let handler = self.handler.as_com_ref::<IComponentHandler>();
        // SAFETY: the controller is initialized, and the handler outlives it.
        unsafe {
            controller.setComponentHandler(handler.map_or(std::ptr::null_mut(), |handler| handler.as_ptr()));
        }
        if !self.has_separate_controller {
            return;
        }
        let points = (self.component.cast::<IConnectionPoint>(), controller.cast::<IConnectionPoint>());
        if let (Some(component), Some(controller)) = points {
            // SAFETY: both objects are initialized, and they are disconnected before they are
            // released.
            unsafe {
                component.connect(controller.as_ptr());
                controller.connect(component.as_ptr());
            }
            self.connection = Some((component, controller));
        }
    }

    /// Returns the state of the component.
    pub(super) fn component_state(&self) -> Result<Vec<u8>, FailureReason> {
        let stream = MemoryStream::new(&[]);
        // SAFETY: the component is initialized, and the stream lives as long as the call. Plugins
        // without a state answer with an error; their state is empty.
        unsafe { self.component.getState(as_stream(&stream)) };
        Ok(stream.bytes())
    }

    /// Passes the state of the component to the controller.
    pub(super) fn synchronize_controller(&self, component_state: &[u8]) {
        if let Some(controller) = &self.controller {
            let stream = MemoryStream::new(component_state);
            // SAFETY: the controller is initialized, and the stream lives as long as the call.
            unsafe { controller.setComponentState(as_stream(&stream)) };
        }
    }

    /// Requests stereo for the main buses, and returns the inputs and outputs that the plugin then
    /// has.
    pub(super) fn arrange(&self, block_frames_max: u32) -> Result<(Buses, Buses), FailureReason> {
        let current_value =
            [self.arrangements(kInput as BusDirection)?, self.arrangements(kOutput as BusDirection)?];
        let mut stereo = current_value.clone();
        for (arrangements, direction) in stereo.iter_mut().zip([kInput, kOutput]) {
            let Some(first) = arrangements.first_mut() else { continue };
            let info = self.bus_info(kAudio as MediaType, direction as BusDirection, 0);
            if info.is_some_and(|info| info.busType == kMain as i32) {
                *first = SpeakerArr::kStereo;
            }
        }
        // A plugin that refuses keeps its channels. Some plugins then need a call that confirms
        // these channels.
        if !self.set_arrangements(stereo) {
            self.set_arrangements(current_value);
        }
        let buses = |direction| self.buses(direction as BusDirection);
        Ok((
            Buses::new(buses(kInput)?, "input", block_frames_max)?,
            Buses::new(buses(kOutput)?, "output", block_frames_max)?,
        ))
    }

    fn set_arrangements(&self, [mut inputs, mut outputs]: [Vec<SpeakerArrangement>; 2]) -> bool {
        let (input_count, output_count) = (inputs.len() as i32, outputs.len() as i32);
        // SAFETY: the arrays live as long as the call.
        let answer = unsafe {
            self.processor.setBusArrangements(
                inputs.as_mut_ptr(),
                input_count,
                outputs.as_mut_ptr(),
                output_count,
            )
        };
        answer == kResultOk
    }

    fn arrangements(&self, direction: BusDirection) -> Result<Vec<SpeakerArrangement>, FailureReason> {
        let count = self.bus_count(kAudio as MediaType, direction)?;
        Ok((0..count)
            .map(|index| {
                let mut arrangement = 0;
                // SAFETY: the variable lives as long as the call.
                let answer = unsafe { self.processor.getBusArrangement(direction, index, &mut arrangement) };
                let channels = self.bus_info(kAudio as MediaType, direction, index);
                match (answer == kResultOk, channels.map_or(0, |info| info.channelCount)) {
                    (true, _) => arrangement,
                    (false, 1) => SpeakerArr::kMono,
                    (false, 2) => SpeakerArr::kStereo,
                    (false, _) => SpeakerArr::kEmpty,
                }
            })
            .collect())
    }

    /// Returns the number of buses of a direction.
    pub(super) fn bus_count(&self, media: MediaType, direction: BusDirection) -> Result<i32, FailureReason> {
        // SAFETY: the component is initialized.
        let count = unsafe { self.component.getBusCount(media, direction) }.max(0);
        match count as usize > BUSES_MAX {
            true => Err(too_many(count as u64, "buses", BUSES_MAX as u64)),
            false => Ok(count),
        }
    }

    fn bus_info(&self, media: MediaType, direction: BusDirection, index: i32) -> Option<BusInfo> {
        // SAFETY: numbers and arrays of numbers, for which all zeros are valid.
        let mut info: BusInfo = unsafe { std::mem::zeroed() };
        // SAFETY: the component is initialized, and `info` lives as long as the call.
        let answer = unsafe { self.component.getBusInfo(media, direction, index, &mut info) };
        (answer == kResultOk).then_some(info)
    }

    fn buses(&self, direction: BusDirection) -> Result<Vec<Bus>, FailureReason> {
        let (mut has_main, mut has_side_chain) = (false, direction != kInput as BusDirection);
        let count = self.bus_count(kAudio as MediaType, direction)?;
        let mut bus = |index| match self.bus_info(kAudio as MediaType, direction, index) {
            Some(info) => {
                let is_main = info.busType == kMain as i32 && !has_main && info.channelCount > 0;
                has_main |= is_main;
                let is_side_chain = info.busType == kAux as i32 && !has_side_chain && info.channelCount > 0;
                has_side_chain |= is_side_chain;
                let channels = info.channelCount.clamp(0, u16::MAX.into()) as u16;
                Bus { name: bounded_text(&wide_text(&info.name)), channels, is_main, is_side_chain }
            }
            None => Bus { name: String::new(), channels: 0, is_main: false, is_side_chain: false },
        };
        let mut buses: Vec<Bus> = (0..count).map(&mut bus).collect();
        // Only effects have a side-chain.
        buses.iter_mut().for_each(|bus| bus.is_side_chain &= has_main);
        Ok(buses)
    }

    /// Sets up and starts the processor, with all buses active.
    pub(super) fn activate(&self, format: Format) -> Result<(), FailureReason> {
        let mut setup = ProcessSetup {
            processMode: process_mode(format),
            symbolicSampleSize: kSample32 as i32,
            maxSamplesPerBlock: format.block_frames_max.cast_signed(),
            sampleRate: format.sample_rate_hz,
        };
        // SAFETY: the processor is initialized, and `setup` lives as long as the call.
        if unsafe { self.processor.setupProcessing(&mut setup) } != kResultOk {
            return Err(format!(
                "the plugin refuses to process {} Hz in blocks of {} frames",
                format.sample_rate_hz, format.block_frames_max
            ));
        }
        for media in [kAudio, kEvent] {
            for direction in [kInput, kOutput] {
                let (media, direction) = (media as MediaType, direction as BusDirection);
                for index in 0..self.bus_count(media, direction)? {
                    // SAFETY: the component is initialized and inactive.
                    unsafe { self.component.activateBus(media, direction, index, 1) };
                }
            }
        }
        self.start();
        Ok(())
    }

    /// Activates the component and starts processing.
    pub(super) fn start(&self) {
        // SAFETY: the processor is set up. Many plugins answer that these calls are not
        // implemented, so the answers are not used.
        unsafe {
            self.component.setActive(1);
            self.processor.setProcessing(1);
        }
    }

    /// Stops processing and deactivates the component.
    pub(super) fn stop(&self) {
        // SAFETY: the processor is active.
        unsafe {
            self.processor.setProcessing(0);
            self.component.setActive(0);
        }
    }

    /// Disconnects, terminates and releases the plugin's objects. The caller has called
    /// [`Self::stop`].
    pub(super) fn close(self) {
        let Self { component, processor, controller, connection, application, handler, factory, .. } = self;
        drop(processor);
        if let Some((component, controller)) = connection {
            // SAFETY: both objects are connected to each other.
            unsafe {
                component.disconnect(controller.as_ptr());
                controller.disconnect(component.as_ptr());
            }
        }
        if let Some(controller) = controller {
            // SAFETY: the controller is initialized.
            unsafe {
                controller.setComponentHandler(std::ptr::null_mut());
                if self.has_separate_controller {
                    controller.terminate();
                }
            }
        }
        // SAFETY: the component is initialized.
        unsafe { component.terminate() };
        drop(component);
        drop(factory);
        drop(handler);
        drop(application);
    }
}

fn context(application: &ComWrapper<HostApplication>) -> *mut FUnknown {
    let application = application.as_com_ref::<IHostApplication>();
    application.map_or(std::ptr::null_mut(), |application| application.as_ptr().cast())
}

fn find_class(factory: &ComPtr<IPluginFactory>, plugin_id: &str) -> Result<Class, FailureReason> {
    // SAFETY: the factory belongs to the module, which stays loaded.
    let count = unsafe { factory.countClasses() }.min(CLASSES_MAX);
    (0..count)
        .filter_map(|index| class(factory, index))
        .find(|class| class.category == AUDIO_CATEGORY && class.plugin.plugin_id == plugin_id)
        .ok_or_else(|| format!("the module contains no plugin with the id {plugin_id}"))
}

fn create_object<I: Interface>(factory: &ComPtr<IPluginFactory>, class: &TUID) -> Option<ComPtr<I>> {
    let mut object = std::ptr::null_mut();
    // SAFETY: the factory belongs to the module, which stays loaded. Both ids have 16 bytes.
    let answer = unsafe { factory.createInstance(class.as_ptr(), I::IID.as_ptr().cast(), &mut object) };
    // SAFETY: the factory returned null or an object with this interface, which the caller owns.
    unsafe { ComPtr::from_raw(object.cast::<I>()) }.filter(|_| answer == kResultOk)
}

/// Creates and initializes the controller whose class the component names.
fn create_controller(
    factory: &ComPtr<IPluginFactory>,
    component: &ComPtr<IComponent>,
    context: *mut FUnknown,
) -> Option<ComPtr<IEditController>> {
    let mut class: TUID = [0; 16];
    // SAFETY: the component is initialized, and `class` lives as long as the call.
    if unsafe { component.getControllerClassId(&mut class) } != kResultOk {
        return None;
    }
    let controller = create_object::<IEditController>(factory, &class)?;
    // SAFETY: the controller is new, and the application outlives it.
    let is_initialized = unsafe { controller.initialize(context) } == kResultOk;
    is_initialized.then_some(controller)
}

/// Returns VST3's number of the mode in which a plugin processes.
pub(super) fn process_mode(format: Format) -> i32 {
    if format.is_real_time { kRealtime as i32 } else { kOffline as i32 }
}
