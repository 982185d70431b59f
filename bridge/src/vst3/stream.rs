//! A stream in memory, through which plugins read and write their state.
#![expect(unsafe_code, reason = "VST3 objects have a C interface")]

use std::ffi::c_void;
use std::sync::{Mutex, MutexGuard, PoisonError};

use songfoundry_bridge_protocol::frame::BINARY_BYTES_MAX;
use vst3::Steinberg::IBStream_::IStreamSeekMode_::{kIBSeekCur, kIBSeekEnd, kIBSeekSet};
use vst3::Steinberg::{IBStream, IBStreamTrait, kInvalidArgument, kOutOfMemory, kResultOk, tresult};
use vst3::{Class, ComWrapper};

/// A stream in memory of limited size.
pub(super) struct MemoryStream(Mutex<Content>);

#[derive(Default)]
struct Content {
    bytes: Vec<u8>,
    position: usize,
}

impl Class for MemoryStream {
    type Interfaces = (IBStream,);
}

impl MemoryStream {
    /// Creates a stream that is at the start of these bytes.
    pub(super) fn new(bytes: &[u8]) -> ComWrapper<Self> {
        ComWrapper::new(Self(Mutex::new(Content { bytes: bytes.to_vec(), position: 0 })))
    }

    /// Returns all bytes of the stream.
    pub(super) fn bytes(&self) -> Vec<u8> {
        self.content().bytes.clone()
    }

    fn content(&self) -> MutexGuard<'_, Content> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the interface of a stream, which is valid as long as the stream.
pub(super) fn as_stream(stream: &ComWrapper<MemoryStream>) -> *mut IBStream {
    stream.as_com_ref::<IBStream>().map_or(std::ptr::null_mut(), |stream| stream.as_ptr())
}

impl IBStreamTrait for MemoryStream {
    unsafe fn read(&self, buffer: *mut c_void, bytes: i32, read: *mut i32) -> tresult {
        let Ok(wanted_bytes) = usize::try_from(bytes) else { return kInvalidArgument };
        let mut content = self.content();
        let available_bytes = content.bytes.get(content.position..).unwrap_or_default();
        let count = wanted_bytes.min(available_bytes.len());
        // SAFETY: the caller provides a buffer of `bytes` bytes, and null or memory for the count.
        unsafe {
            if count > 0 {
                std::ptr::copy_nonoverlapping(available_bytes.as_ptr(), buffer.cast(), count);
            }
            if !read.is_null() {
                *read = count as i32;
            }
        }
        content.position += count;
        kResultOk
    }

    unsafe fn write(&self, buffer: *mut c_void, bytes: i32, written: *mut i32) -> tresult {
        let Ok(count) = usize::try_from(bytes) else { return kInvalidArgument };
        let mut content = self.content();
        let (start, end) = (content.position, content.position.saturating_add(count));
        if end > BINARY_BYTES_MAX {
            return kOutOfMemory;
        }
        if content.bytes.len() < end {
            content.bytes.resize(end, 0);
        }
        // SAFETY: the caller provides a buffer of `bytes` bytes, and null or memory for the count.
        unsafe {
            if count > 0 {
                let source = std::slice::from_raw_parts(buffer.cast::<u8>(), count);
                content.bytes[start..end].copy_from_slice(source);
            }
            if !written.is_null() {
                *written = bytes;
            }
        }
        content.position = end;
        kResultOk
    }

    unsafe fn seek(&self, offset: i64, mode: i32, result: *mut i64) -> tresult {
        let mut content = self.content();
        let origin = match mode {
            mode if mode == kIBSeekSet as i32 => 0,
            mode if mode == kIBSeekCur as i32 => content.position,
            mode if mode == kIBSeekEnd as i32 => content.bytes.len(),
            _ => return kInvalidArgument,
        };
        let position = (origin as i64).saturating_add(offset);
        let Ok(position) = usize::try_from(position) else { return kInvalidArgument };
        if position > BINARY_BYTES_MAX {
            return kInvalidArgument;
        }
        content.position = position;
        if !result.is_null() {
            // SAFETY: the caller provides memory for the result.
            unsafe { *result = position as i64 };
        }
        kResultOk
    }

    unsafe fn tell(&self, position: *mut i64) -> tresult {
        if position.is_null() {
            return kInvalidArgument;
        }
        // SAFETY: the caller provides memory for the result.
        unsafe { *position = self.content().position as i64 };
        kResultOk
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_reads_what_was_written() {
        let stream = MemoryStream::new(&[]);
        let mut source = *b"abcdef";
        let mut buffer = [0_u8; 8];
        let (mut count, mut position) = (0, 0);
        // SAFETY: all pointers point to variables of sufficient size.
        unsafe {
            assert_eq!(stream.write(source.as_mut_ptr().cast(), 6, &mut count), kResultOk);
            assert_eq!(stream.seek(-4, kIBSeekEnd as i32, &mut position), kResultOk);
            assert_eq!((count, position), (6, 2));
            assert_eq!(stream.read(buffer.as_mut_ptr().cast(), 8, &mut count), kResultOk);
            assert_eq!((count, &buffer[..4]), (4, b"cdef".as_slice()));
            assert_eq!(stream.seek(-1, kIBSeekSet as i32, &mut position), kInvalidArgument);
            assert_eq!(stream.seek(8, kIBSeekSet as i32, std::ptr::null_mut()), kResultOk);
            assert_eq!(stream.read(buffer.as_mut_ptr().cast(), 8, &mut count), kResultOk);
            assert_eq!(count, 0);
            assert_eq!(stream.write(source.as_mut_ptr().cast(), 1, std::ptr::null_mut()), kResultOk);
            assert_eq!(stream.write(source.as_mut_ptr().cast(), -1, &mut count), kInvalidArgument);
        }
        assert_eq!(stream.bytes(), b"abcdef\0\0a");
    }

    #[test]
    fn a_stream_is_limited() {
        let stream = MemoryStream::new(&[]);
        let mut source = [0_u8; 2];
        // SAFETY: the pointer points to two bytes.
        unsafe {
            let end = BINARY_BYTES_MAX as i64 - 1;
            assert_eq!(stream.seek(end, kIBSeekSet as i32, std::ptr::null_mut()), kResultOk);
            assert_eq!(stream.write(source.as_mut_ptr().cast(), 2, std::ptr::null_mut()), kOutOfMemory);
        }
        assert!(stream.bytes().is_empty());
    }
}
