//! The container in which the service stores the state of a plugin.
//!
//! It has a magic number, the format of the plugin, its id and name, and the parts of the state.
//! Numbers are 32-bit unsigned integers in little-endian order; a text and a part begin with their
//! length.

use songfoundry_bridge_protocol::PluginFormat;
use songfoundry_bridge_protocol::frame::BINARY_BYTES_MAX;

use crate::module::FailureReason;

/// The first bytes of a state; the last is the version of the container.
const MAGIC: [u8; 8] = *b"SFPLUG\0\x01";

/// The kinds of parts. The numbers are stored.
#[repr(u32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PartKind {
    /// The state of a VST3 component.
    Component = 1,
    /// The state of a VST3 controller.
    Controller = 2,
    /// The chunk of a VST2 plugin with all its programs.
    BankChunk = 3,
    /// The values of all parameters of a VST2 plugin: 32-bit floats in little-endian order.
    Values = 4,
    /// The index of a VST2 plugin's selected program.
    Program = 5,
}

/// The state of a plugin.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct StoredState {
    /// Format of the plugin.
    pub(crate) format: PluginFormat,
    /// Id of the plugin.
    pub(crate) plugin_id: String,
    /// Name of the plugin, for messages.
    pub(crate) plugin_name: String,
    /// The parts, each with a number of [`PartKind`].
    parts: Vec<(u32, Vec<u8>)>,
}

impl StoredState {
    /// Creates a state without parts.
    pub(crate) fn new(format: PluginFormat, plugin_id: &str, plugin_name: &str) -> Self {
        let (plugin_id, plugin_name) = (plugin_id.to_owned(), plugin_name.to_owned());
        Self { format, plugin_id, plugin_name, parts: Vec::new() }
    }

    /// Adds a part of a kind.
    pub(crate) fn push(&mut self, kind: PartKind, bytes: Vec<u8>) {
        self.parts.push((kind as u32, bytes));
    }

    /// Returns the part of a kind; `None` if the state has no such part.
    pub(crate) fn part(&self, kind: PartKind) -> Option<&[u8]> {
        self.parts.iter().find(|(number, _)| *number == kind as u32).map(|(_, bytes)| bytes.as_slice())
    }

    /// Writes the container. Returns an error if it does not fit into a frame.
    pub(crate) fn to_bytes(&self) -> Result<Vec<u8>, FailureReason> {
        let bytes = self.parts.iter().map(|(_, part)| part.len()).sum::<usize>();
        let (id, name) = (self.plugin_id.as_bytes(), self.plugin_name.as_bytes());
        if bytes + id.len() + name.len() + 1_024 > BINARY_BYTES_MAX {
            return Err(format!(
                "the state of the plugin has {bytes} bytes; the maximum is {BINARY_BYTES_MAX}"
            ));
        }
        let mut output = MAGIC.to_vec();
        let mut put = |bytes: &[u8]| {
            // The check above ensures that the length fits into 32 bits.
            output.extend((bytes.len() as u32).to_le_bytes());
            output.extend(bytes);
        };
        put(format_name(self.format).as_bytes());
        put(id);
        put(name);
        for (number, part) in &self.parts {
            put(&number.to_le_bytes());
            put(part);
        }
        Ok(output)
    }

    /// Reads a container. Returns an error if it is damaged or of another version.
    fn from_bytes(bytes: &[u8]) -> Result<Self, FailureReason> {
        let mut remaining = bytes.strip_prefix(&MAGIC).ok_or(
            "the state has an unknown format: another program or a newer version of this program wrote it",
        )?;
        let damaged = || "the state is damaged".to_owned();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).map_err(|_| damaged());
        let format = match take(&mut remaining).ok_or_else(damaged)? {
            b"vst2" => PluginFormat::Vst2,
            b"vst3" => PluginFormat::Vst3,
            _ => return Err(damaged()),
        };
        let plugin_id = text(take(&mut remaining).ok_or_else(damaged)?)?;
        let plugin_name = text(take(&mut remaining).ok_or_else(damaged)?)?;
        let mut parts = Vec::new();
        while !remaining.is_empty() {
            let number =
                take(&mut remaining).and_then(|number| number.try_into().ok()).ok_or_else(damaged)?;
            let part = take(&mut remaining).ok_or_else(damaged)?;
            parts.push((u32::from_le_bytes(number), part.to_vec()));
        }
        Ok(Self { format, plugin_id, plugin_name, parts })
    }

    /// Reads a container and checks that it belongs to a plugin.
    pub(crate) fn of_plugin(
        bytes: &[u8],
        format: PluginFormat,
        plugin_id: &str,
        plugin_name: &str,
    ) -> Result<Self, FailureReason> {
        let state = Self::from_bytes(bytes)?;
        if (state.format, state.plugin_id.as_str()) != (format, plugin_id) {
            return Err(format!(
                "the state belongs to the plugin {:?} ({} {}), not to {plugin_name:?} ({} {plugin_id})",
                state.plugin_name,
                format_name(state.format),
                state.plugin_id,
                format_name(format)
            ));
        }
        Ok(state)
    }
}

fn format_name(format: PluginFormat) -> &'static str {
    match format {
        PluginFormat::Vst2 => "vst2",
        PluginFormat::Vst3 => "vst3",
    }
}

/// Reads a length, and then that number of bytes.
fn take<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (length, remaining) = bytes.split_first_chunk()?;
    let (part, remaining) = remaining.split_at_checked(u32::from_le_bytes(*length) as usize)?;
    *bytes = remaining;
    Some(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state() -> StoredState {
        let mut state = StoredState::new(PluginFormat::Vst3, "0123", "Éclair");
        state.push(PartKind::Component, vec![1, 2, 3]);
        state.push(PartKind::Controller, Vec::new());
        state
    }

    #[test]
    fn a_state_is_read_as_it_was_written() {
        let bytes = state().to_bytes().expect("fits");
        let read_state = StoredState::of_plugin(&bytes, PluginFormat::Vst3, "0123", "Éclair").expect("reads");
        assert_eq!(read_state, state());
        assert_eq!(read_state.part(PartKind::Component), Some([1, 2, 3].as_slice()));
        assert_eq!(read_state.part(PartKind::Controller), Some([].as_slice()));
        assert_eq!(read_state.part(PartKind::Values), None);
    }

    #[test]
    fn the_state_of_another_plugin_is_refused_by_name() {
        let bytes = state().to_bytes().expect("fits");
        let error = StoredState::of_plugin(&bytes, PluginFormat::Vst3, "4567", "Tart").expect_err("refused");
        assert_eq!(
            error,
            "the state belongs to the plugin \"Éclair\" (vst3 0123), not to \"Tart\" (vst3 4567)"
        );
        assert!(StoredState::of_plugin(&bytes, PluginFormat::Vst2, "0123", "Éclair").is_err());
    }

    #[test]
    fn damaged_states_are_refused() {
        let bytes = state().to_bytes().expect("fits");
        // The end of a part is a valid end of the container, but no other byte is.
        let ends_of_parts = [bytes.len() - 12, bytes.len() - 12 - 15];
        for length in (0..bytes.len()).filter(|length| !ends_of_parts.contains(length)) {
            assert!(StoredState::from_bytes(&bytes[..length]).is_err(), "{length} bytes");
        }
        let mut newer_state = bytes;
        newer_state[7] = 2;
        assert!(StoredState::from_bytes(&newer_state).expect_err("refused").contains("newer version"));
    }

    #[test]
    fn a_state_that_does_not_fit_into_a_frame_is_refused() {
        let mut state = state();
        state.push(PartKind::BankChunk, vec![0; BINARY_BYTES_MAX]);
        assert!(state.to_bytes().expect_err("refused").contains("the maximum is"));
    }
}
