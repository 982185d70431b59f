//! Chunks and parameter values of an effect: the parts of its state and of presets.
#![expect(unsafe_code, reason = "VST2 modules have a C interface")]

use std::ffi::c_void;

use songfoundry_bridge_protocol::frame::BINARY_BYTES_MAX;

use super::effect::{HAS_CHUNKS, Instance, Request};
use crate::host::bounds::bounded_value;
use crate::module::FailureReason;

/// The content of a chunk. The numbers are those of VST 2.4.
#[repr(i32)]
#[derive(Debug, Clone, Copy)]
pub(super) enum ChunkKind {
    /// All programs.
    Bank = 0,
    /// The current program.
    Program = 1,
}

impl Instance {
    /// Whether the plugin stores its state as chunks.
    pub(super) fn has_chunks(&self) -> bool {
        self.read(|effect| effect.flags & HAS_CHUNKS != 0)
    }

    /// Returns a copy of a chunk.
    pub(super) fn chunk(&self, kind: ChunkKind) -> Result<Vec<u8>, FailureReason> {
        let mut data: *mut c_void = std::ptr::null_mut();
        let bytes = self.request_with(Request::GetChunk, kind as i32, 0, (&raw mut data).cast(), 0.0);
        let bytes = usize::try_from(bytes).unwrap_or(0);
        if bytes == 0 || data.is_null() {
            return Err("the plugin returned no state".to_owned());
        }
        if bytes > BINARY_BYTES_MAX {
            return Err(format!(
                "the state of the plugin has {bytes} bytes; the maximum is {BINARY_BYTES_MAX}"
            ));
        }
        // SAFETY: the plugin returned a pointer to as many bytes, which stay valid until its next
        // call.
        Ok(unsafe { std::slice::from_raw_parts(data.cast::<u8>(), bytes) }.to_vec())
    }

    /// Passes a chunk to the plugin, which restores its state from it.
    pub(super) fn set_chunk(&self, kind: ChunkKind, chunk: &[u8]) {
        // Some plugins write to the chunk.
        let mut chunk = chunk.to_vec();
        let bytes = chunk.len().cast_signed();
        self.request_with(Request::SetChunk, kind as i32, bytes, chunk.as_mut_ptr().cast(), 0.0);
    }

    /// Returns the value of a parameter.
    pub(super) fn value(&self, index: u32) -> f32 {
        let Some(get) = self.read(|effect| effect.get_parameter) else { return 0.0 };
        // SAFETY: the effect is open, and the index is less than the number of parameters.
        bounded_value(unsafe { get(self.as_ptr(), index.cast_signed()) }.into()) as f32
    }

    /// Sets the value of a parameter.
    pub(super) fn set_value(&self, index: u32, value: f32) {
        if let Some(set) = self.read(|effect| effect.set_parameter) {
            // SAFETY: the effect is open, and the index is less than the number of parameters.
            unsafe { set(self.as_ptr(), index.cast_signed(), value) };
        }
    }
}
