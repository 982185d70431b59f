//! Opens libsoxr, the SoX Resampler library, at run time. It runs at very high quality (`SOXR_VHQ`,
//! 28 bits) on one thread. The declarations follow its header `soxr.h`.

use std::ffi::{c_char, c_double, c_int, c_uint, c_ulong, c_void};
use std::ptr::null_mut;

use anyhow::{Context as _, ensure};
use libloading::{Library, Symbol};

const LIBRARY: &str = "libsoxr.so.0";
/// `SOXR_FLOAT32_S`: 32-bit floats, a buffer for each channel.
const FLOAT32_PLANAR: c_int = 4;
/// The quality recipe `SOXR_VHQ`: 28 bits.
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

/// The library libsoxr, opened at run time.
pub(super) struct Soxr {
    library: Library,
}

impl Soxr {
    pub(super) fn open() -> anyhow::Result<Self> {
        #[expect(unsafe_code, reason = "this calls a C library")]
        // SAFETY: opening libsoxr runs only its own initializers, which are harmless.
        let library = unsafe { Library::new(LIBRARY) }
            .with_context(|| format!("cannot open {LIBRARY} of Debian's package libsoxr0"))?;
        Ok(Self { library })
    }

    /// Resamples a stereo signal in chunks of `chunk_frames` input frames and returns the number of
    /// output frames.
    pub(super) fn resample(
        &self,
        [input_hz, output_hz]: [u32; 2],
        input: [&[f32]; 2],
        chunk_frames: usize,
        output: [&mut [f32]; 2],
    ) -> anyhow::Result<usize> {
        ensure!(
            input[0].len() == input[1].len() && output[0].len() == output[1].len(),
            "the channels have different lengths"
        );
        let (frames, capacity_frames) = (input[0].len(), output[0].len());
        let input = input.map(<[f32]>::as_ptr);
        let output = output.map(<[f32]>::as_mut_ptr);
        let (mut read_values, mut written_values) = (0, 0);
        #[expect(unsafe_code, reason = "this calls a C library")]
        // SAFETY: the types are those of soxr.h 0.1.3. The input pointers are valid for `frames -
        // read` frames, the output pointers for `capacity_frames - written` frames. A null pointer
        // as input ends the signal.
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
            ensure!(!resampler.is_null(), "libsoxr cannot create a resampler");
            loop {
                let inputs = input.map(|channel| channel.add(read_values));
                let outputs = output.map(|channel| channel.add(written_values));
                let pointers = if read_values < frames { inputs.as_ptr() } else { std::ptr::null() };
                let (mut frames_read, mut frames_written) = (0, 0);
                let error = process(
                    resampler,
                    pointers,
                    chunk_frames.min(frames - read_values),
                    &raw mut frames_read,
                    outputs.as_ptr(),
                    capacity_frames - written_values,
                    &raw mut frames_written,
                );
                read_values += frames_read;
                written_values += frames_written;
                if !error.is_null()
                    || (pointers.is_null() && frames_written == 0)
                    || written_values == capacity_frames
                {
                    break;
                }
            }
            delete(resampler);
        }
        ensure!(read_values == frames, "libsoxr read {read_values} of {frames} frames");
        Ok(written_values)
    }
}
