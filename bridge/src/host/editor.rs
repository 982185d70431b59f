//! The interface of a plugin's own window, whatever the plugin's format.

use songfoundry_bridge_protocol::host::ParameterValue;

use crate::module::FailureReason;

/// Size of an editor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EditorSize {
    /// Width in pixels; 0 if the plugin does not state it.
    pub(crate) width: u32,
    /// Height in pixels; 0 if the plugin does not state it.
    pub(crate) height: u32,
}

/// A step of a change that the user makes in the window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum ParameterEdit {
    /// The user starts to change a parameter.
    Begin(u32),
    /// A parameter has a new value.
    Perform(ParameterValue),
    /// The user has finished changing a parameter.
    End(u32),
}

/// The part of a plugin that controls its window. All methods are called on the main thread.
pub(crate) trait PluginEditor {
    /// Opens the editor in an X11 window.
    fn open_editor(&mut self, parent: u32) -> Result<EditorSize, FailureReason>;

    /// Closes the editor, if it is open.
    fn close_editor(&mut self);

    /// Lets an open editor do its periodic work. The caller calls this about every 20 ms.
    fn editor_idle(&mut self);

    /// Returns and clears the size in pixels that the editor last requested for its window.
    fn take_size_request(&mut self) -> Option<(u32, u32)>;

    /// Returns and removes the changes of parameters, in order.
    fn take_edits(&mut self) -> Result<Vec<ParameterEdit>, FailureReason>;

    /// Sets a parameter, which the editor then shows. The caller has checked the value.
    fn set_parameter(&mut self, value: ParameterValue);
}
