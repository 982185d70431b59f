//! The window of a VST2 plugin.
#![expect(unsafe_code, reason = "VST2 modules have a C interface")]

use std::ffi::c_void;

use songfoundry_bridge_protocol::host::ParameterValue;

use super::callback::{take_gestures, take_size_request};
use super::effect::{HAS_EDITOR, Request};
use super::plugin::Vst2Plugin;
use crate::host::editor::{EditorSize, ParameterEdit, PluginEditor};
use crate::host::plugin::HostedPlugin as _;
use crate::module::FailureReason;

/// The structure `ERect` of VST 2.4.
#[repr(C)]
struct Rectangle {
    top: i16,
    left: i16,
    bottom: i16,
    right: i16,
}

impl Vst2Plugin {
    fn editor_size(&self) -> (u32, u32) {
        let mut rectangle: *const Rectangle = std::ptr::null();
        let data = (&raw mut rectangle).cast::<c_void>();
        self.instance.request_with(Request::EditorRectangle, 0, 0, data, 0.0);
        // SAFETY: the plugin stored null or a pointer to a rectangle of its own.
        match unsafe { rectangle.as_ref() } {
            Some(Rectangle { top, left, bottom, right }) => {
                let length = |from: i16, to: i16| u32::try_from(i32::from(to) - i32::from(from)).unwrap_or(0);
                (length(*left, *right), length(*top, *bottom))
            }
            None => (0, 0),
        }
    }
}

impl PluginEditor for Vst2Plugin {
    fn open_editor(&mut self, parent: u32) -> Result<EditorSize, FailureReason> {
        if self.instance.read(|effect| effect.flags) & HAS_EDITOR == 0 {
            return Err("the plugin has no window of its own".to_owned());
        }
        // Some plugins know their size only after this request, others only after they have opened.
        self.editor_size();
        let window = parent as usize as *mut c_void;
        self.instance.request_with(Request::OpenEditor, 0, 0, window, 0.0);
        let (width, height) = self.editor_size();
        Ok(EditorSize { width, height })
    }

    fn close_editor(&mut self) {
        self.instance.request(Request::CloseEditor);
    }

    fn editor_idle(&mut self) {
        self.instance.request(Request::EditorIdle);
    }

    fn take_size_request(&mut self) -> Option<(u32, u32)> {
        take_size_request()
    }

    /// VST2 reports new values separately from the starts and ends of gestures. The result has the
    /// starts first, then the values, then the ends.
    fn take_edits(&mut self) -> Result<Vec<ParameterEdit>, FailureReason> {
        let gestures = take_gestures();
        let started = gestures.iter().filter(|edit| matches!(edit, ParameterEdit::Begin(_))).copied();
        let mut edits: Vec<_> = started.collect();
        edits.extend(self.take_changes()?.into_iter().map(ParameterEdit::Perform));
        edits.extend(gestures.into_iter().filter(|edit| matches!(edit, ParameterEdit::End(_))));
        Ok(edits)
    }

    fn set_parameter(&mut self, ParameterValue { id, value }: ParameterValue) {
        self.instance.set_value(id, value as f32);
        self.values[id as usize] = self.instance.value(id);
    }
}
