//! The window of a VST3 plugin.
#![expect(unsafe_code, reason = "VST3 objects have a C interface")]

use songfoundry_bridge_protocol::host::ParameterValue;
use vst3::ComPtr;
use vst3::Steinberg::Vst::{IEditControllerTrait as _, ViewType};
use vst3::Steinberg::{
    IPlugFrame, IPlugView, IPlugViewTrait as _, ViewRect, kPlatformTypeX11EmbedWindowID, kResultOk,
};

use super::component_handler::Edit;
use super::plugin::Vst3Plugin;
use crate::host::editor::{EditorSize, ParameterEdit, PluginEditor};
use crate::module::FailureReason;

impl Vst3Plugin {
    /// Creates the view, if the plugin has one.
    pub(super) fn create_view(&self) -> Option<ComPtr<IPlugView>> {
        let controller = self.instance.controller.as_ref()?;
        // SAFETY: the controller is initialized. It returns null or an object that the caller owns.
        unsafe { ComPtr::from_raw(controller.createView(ViewType::kEditor)) }
    }
}

impl PluginEditor for Vst3Plugin {
    fn open_editor(&mut self, parent: u32) -> Result<EditorSize, FailureReason> {
        let view = self.create_view().ok_or("the plugin has no window of its own")?;
        let frame = self.instance.application.as_com_ref::<IPlugFrame>();
        let frame = frame.map_or(std::ptr::null_mut(), |frame| frame.as_ptr());
        // SAFETY: the view is new, and the frame outlives it.
        unsafe { view.setFrame(frame) };
        let mut size = ViewRect { left: 0, top: 0, right: 0, bottom: 0 };
        // SAFETY: the view has a frame, `size` lives as long as the call, and the window exists
        // until the view is removed.
        let answer = unsafe {
            let answer = view.attached(parent as usize as *mut _, kPlatformTypeX11EmbedWindowID);
            view.getSize(&mut size);
            answer
        };
        if answer != kResultOk {
            // SAFETY: the view no longer uses the frame when the view is released.
            unsafe { view.setFrame(std::ptr::null_mut()) };
            return Err(format!("the plugin could not open its window (`attached` returned {answer:#x})"));
        }
        self.view = Some(view);
        let length = |from: i32, to: i32| u32::try_from(i64::from(to) - i64::from(from)).unwrap_or(0);
        Ok(EditorSize { width: length(size.left, size.right), height: length(size.top, size.bottom) })
    }

    fn close_editor(&mut self) {
        if let Some(view) = self.view.take() {
            // SAFETY: the view is attached.
            unsafe {
                view.removed();
                view.setFrame(std::ptr::null_mut());
            }
        }
    }

    /// VST3 editors register timers and descriptors instead.
    fn editor_idle(&mut self) {}

    fn take_size_request(&mut self) -> Option<(u32, u32)> {
        self.instance.application.take_size_request()
    }

    fn take_edits(&mut self) -> Result<Vec<ParameterEdit>, FailureReason> {
        let mut edits = Vec::new();
        for edit in self.instance.handler.take_all_edits() {
            match edit {
                Edit::Begin(id) => edits.push(ParameterEdit::Begin(id)),
                Edit::End(id) => edits.push(ParameterEdit::End(id)),
                Edit::Perform(id, value) => {
                    self.pending.push((id, value));
                    edits.extend(self.accept_value(id, value).map(ParameterEdit::Perform));
                }
            }
        }
        edits.extend(self.take_processor_changes()?.into_iter().map(ParameterEdit::Perform));
        Ok(edits)
    }

    fn set_parameter(&mut self, ParameterValue { id, value }: ParameterValue) {
        self.set_controller_value(id, value);
        self.pending.push((id, value));
        self.accept_value(id, value);
    }
}
