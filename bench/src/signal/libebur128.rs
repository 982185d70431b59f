//! Opens libebur128, the usual C library for loudness, at run time. The declarations follow its
//! header `ebur128.h`.

use std::ffi::{c_int, c_uint, c_ulong, c_void};

use anyhow::{Context as _, ensure};
use libloading::{Library, Symbol};

const LIBRARY: &str = "libebur128.so.1";

/// The flags for integrated loudness, loudness range and true peak: `EBUR128_MODE_I`, `_LRA` and
/// `_TRUE_PEAK`.
const MODE: c_int = 0b11_1111;

/// The library libebur128, opened at run time.
pub(super) struct LibEbur128 {
    library: Library,
}

/// Measurements of a signal.
#[derive(Debug, Clone, Copy)]
pub(super) struct Measurements {
    pub(super) integrated_lufs: f64,
    pub(super) range_lu: f64,
    /// Linear; 1 is full scale.
    pub(super) true_peak: f64,
}

impl LibEbur128 {
    pub(super) fn open() -> anyhow::Result<Self> {
        #[expect(unsafe_code, reason = "this calls a C library")]
        // SAFETY: opening libebur128 runs only its own initializers, which are harmless.
        let library = unsafe { Library::new(LIBRARY) }
            .with_context(|| format!("cannot open {LIBRARY} of Debian's package libebur128-1"))?;
        Ok(Self { library })
    }

    /// Measures interleaved stereo in chunks of `chunk_frames` frames.
    pub(super) fn measure(
        &self,
        rate_hz: u32,
        frames: &[[f32; 2]],
        chunk_frames: usize,
    ) -> anyhow::Result<Measurements> {
        type Add = unsafe extern "C" fn(*mut c_void, *const [f32; 2], usize) -> c_int;
        type Get = unsafe extern "C" fn(*mut c_void, *mut f64) -> c_int;
        type Peak = unsafe extern "C" fn(*mut c_void, c_uint, *mut f64) -> c_int;
        let mut figures = [0.0; 4];
        let mut failures = 0;
        #[expect(unsafe_code, reason = "this calls a C library")]
        // SAFETY: the types are those of ebur128.h 1.2. Each call passes the length of its chunk,
        // whose frames have two floats.
        unsafe {
            let init: Symbol<'_, unsafe extern "C" fn(c_uint, c_ulong, c_int) -> *mut c_void> =
                self.library.get(b"ebur128_init")?;
            let destroy: Symbol<'_, unsafe extern "C" fn(*mut *mut c_void)> =
                self.library.get(b"ebur128_destroy")?;
            let add: Symbol<'_, Add> = self.library.get(b"ebur128_add_frames_float")?;
            let loudness: Symbol<'_, Get> = self.library.get(b"ebur128_loudness_global")?;
            let range: Symbol<'_, Get> = self.library.get(b"ebur128_loudness_range")?;
            let peak: Symbol<'_, Peak> = self.library.get(b"ebur128_true_peak")?;
            let mut meter = init(2, rate_hz.into(), MODE);
            ensure!(!meter.is_null(), "libebur128 cannot create a meter");
            for chunk in frames.chunks(chunk_frames) {
                failures += add(meter, chunk.as_ptr(), chunk.len());
            }
            let [integrated, range_lu, left, right] = &mut figures;
            failures += loudness(meter, integrated) + range(meter, range_lu);
            failures += peak(meter, 0, left) + peak(meter, 1, right);
            destroy(&raw mut meter);
        }
        ensure!(failures == 0, "libebur128 failed: the sum of its error codes is {failures}, expected 0");
        let [integrated_lufs, range_lu, left, right] = figures;
        Ok(Measurements { integrated_lufs, range_lu, true_peak: left.max(right) })
    }
}
