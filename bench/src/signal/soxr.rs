//! libsoxr, the SoX Resampler library, at its very high quality (`SOXR_VHQ`, 28 bits), in one
//! thread.
//!
//! The library is opened at run time; what is declared here follows its header `soxr.h`.

use std::ffi::{c_char, c_double, c_int, c_uint, c_ulong, c_void};
use std::ptr::null_mut;

use anyhow::{Context as _, ensure};
use libloading::{Library, Symbol};

const LIBRARY: &str = "libsoxr.so.0";
/// `SOXR_FLOAT32_S`: 32-bit floats, a buffer for each channel.
const FLOAT32_PLANAR: c_int = 4;
/// `SOXR_VHQ`.
const VERY_HIGH_QUALITY: c_ulong = 6;

#[repr(C)]
struct IoSpec {
    input: c_int,
    output: c_int,
    scale: c_double,
    reserved: *mut c_void,
    flags: c_ulong,
}

#[repr(C)]
struct QualitySpec {
    precision_bits: c_double,
    phase_response: c_double,
    passband_end: c_double,
    stopband_begin: c_double,
    reserved: *mut c_void,
    flags: c_ulong,
}

#[repr(C)]
struct RuntimeSpec {
    log2_min_dft_size: c_uint,
    log2_large_dft_size: c_uint,
    coefficients_kilobytes: c_uint,
    threads: c_uint,
    reserved: *mut c_void,
    flags: c_ulong,
}

type Create = unsafe extern "C" fn(
    c_double,
    c_double,
    c_uint,
    *mut *const c_char,
    *const IoSpec,
    *const QualitySpec,
    *const RuntimeSpec,
) -> *mut c_void;
type Process = unsafe extern "C" fn(
    *mut c_void,
    *const *const f32,
    usize,
    *mut usize,
    *const *mut f32,
    usize,
    *mut usize,
) -> *const c_char;

/// The opened library.
pub(super) struct Soxr {
    library: Library,
}

impl Soxr {
    pub(super) fn open() -> anyhow::Result<Self> {
        #[expect(unsafe_code, reason = "a C library")]
        // SAFETY: what libsoxr does when it is opened is harmless.
        let library = unsafe { Library::new(LIBRARY) }
            .with_context(|| format!("{LIBRARY} (Debian's package libsoxr0)"))?;
        Ok(Self { library })
    }

    /// Converts a stereo signal in pieces of `piece` input frames; returns the frames it became.
    pub(super) fn resample(
        &self,
        [input_hz, output_hz]: [u32; 2],
        input: [&[f32]; 2],
        piece: usize,
        output: [&mut [f32]; 2],
    ) -> anyhow::Result<usize> {
        ensure!(
            input[0].len() == input[1].len() && output[0].len() == output[1].len(),
            "channels of one length"
        );
        let (frames, room) = (input[0].len(), output[0].len());
        let input = input.map(<[f32]>::as_ptr);
        let output = output.map(<[f32]>::as_mut_ptr);
        let (mut read, mut written) = (0, 0);
        #[expect(unsafe_code, reason = "a C library")]
        // SAFETY: types are those of soxr.h 0.1.3. The pointers handed over always have
        // `frames - read` frames of input and `room - written` of output behind them; a null input
        // ends the signal.
        unsafe {
            let create: Symbol<'_, Create> = self.library.get(b"soxr_create")?;
            let process: Symbol<'_, Process> = self.library.get(b"soxr_process")?;
            let delete: Symbol<'_, unsafe extern "C" fn(*mut c_void)> = self.library.get(b"soxr_delete")?;
            let quality: Symbol<'_, unsafe extern "C" fn(c_ulong, c_ulong) -> QualitySpec> =
                self.library.get(b"soxr_quality_spec")?;
            let runtime: Symbol<'_, unsafe extern "C" fn(c_uint) -> RuntimeSpec> =
                self.library.get(b"soxr_runtime_spec")?;
            let io = IoSpec {
                input: FLOAT32_PLANAR,
                output: FLOAT32_PLANAR,
                scale: 1.0,
                reserved: null_mut(),
                flags: 0,
            };
            let (quality, runtime) = (quality(VERY_HIGH_QUALITY, 0), runtime(1));
            let resampler = create(
                input_hz.into(),
                output_hz.into(),
                2,
                null_mut(),
                &raw const io,
                &raw const quality,
                &raw const runtime,
            );
            ensure!(!resampler.is_null(), "libsoxr makes no resampler");
            loop {
                let here = input.map(|channel| channel.add(read));
                let there = output.map(|channel| channel.add(written));
                let pointers = if read < frames { here.as_ptr() } else { std::ptr::null() };
                let (mut done, mut made) = (0, 0);
                let error = process(
                    resampler,
                    pointers,
                    piece.min(frames - read),
                    &raw mut done,
                    there.as_ptr(),
                    room - written,
                    &raw mut made,
                );
                read += done;
                written += made;
                if !error.is_null() || (pointers.is_null() && made == 0) || written == room {
                    break;
                }
            }
            delete(resampler);
        }
        ensure!(read == frames, "libsoxr took {read} of {frames} frames");
        Ok(written)
    }
}
