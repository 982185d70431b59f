//! Choice of the instruction set for the hot loops. The results are bit-identical with every
//! instruction set.

#[cfg(all(feature = "std", target_arch = "x86_64"))]
use core::sync::atomic::{AtomicBool, Ordering};

#[cfg(all(feature = "std", target_arch = "x86_64"))]
static BASELINE_ONLY: AtomicBool = AtomicBool::new(false);

/// Restricts the whole process to the baseline instructions of the target (SSE2 on x86-64), or
/// lifts the restriction. Tests use this function to check that the results do not change.
pub fn force_baseline(is_baseline_only: bool) {
    #[cfg(all(feature = "std", target_arch = "x86_64"))]
    BASELINE_ONLY.store(is_baseline_only, Ordering::Relaxed);
    #[cfg(not(all(feature = "std", target_arch = "x86_64")))]
    let _ = is_baseline_only;
}

/// Returns the name of the instruction set that the hot loops currently use.
pub fn instructions() -> &'static str {
    #[cfg(all(feature = "std", target_arch = "x86_64"))]
    if has_avx2() {
        return "AVX2";
    }
    if cfg!(target_arch = "x86_64") {
        "SSE2"
    } else if cfg!(target_feature = "simd128") {
        "wasm simd128"
    } else {
        "the compiler's choice"
    }
}

/// Whether the CPU has AVX2 and [`force_baseline`] does not forbid it.
#[cfg(all(feature = "std", target_arch = "x86_64"))]
pub(crate) fn has_avx2() -> bool {
    std::arch::is_x86_feature_detected!("avx2") && !BASELINE_ONLY.load(Ordering::Relaxed)
}

/// Prefetches the memory of a value, on x86-64 only.
#[inline(always)]
pub(crate) fn prefetch<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    #[expect(unsafe_code, reason = "no safe function prefetches")]
    // SAFETY: a prefetch is a hint without side effects, and every x86-64 CPU supports it.
    unsafe {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(core::ptr::from_ref(value).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}

/// Transposes a 4 x 4 matrix. The compiler does not generate these shuffles by itself.
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
#[inline(always)]
pub(crate) fn transpose(rows: [wide::f32x4; 4]) -> [wide::f32x4; 4] {
    use core::arch::wasm32::{i32x4_shuffle, v128};

    let [a, b, c, d]: [v128; 4] = rows.map(bytemuck::cast);
    let (ab_low, cd_low) = (i32x4_shuffle::<0, 4, 1, 5>(a, b), i32x4_shuffle::<0, 4, 1, 5>(c, d));
    let (ab_high, cd_high) = (i32x4_shuffle::<2, 6, 3, 7>(a, b), i32x4_shuffle::<2, 6, 3, 7>(c, d));
    let columns = [
        i32x4_shuffle::<0, 1, 4, 5>(ab_low, cd_low),
        i32x4_shuffle::<2, 3, 6, 7>(ab_low, cd_low),
        i32x4_shuffle::<0, 1, 4, 5>(ab_high, cd_high),
        i32x4_shuffle::<2, 3, 6, 7>(ab_high, cd_high),
    ];
    columns.map(bytemuck::cast)
}

/// Transposes a 4 x 4 matrix.
#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
#[inline(always)]
pub(crate) fn transpose(rows: [wide::f32x4; 4]) -> [wide::f32x4; 4] {
    wide::f32x4::transpose(rows)
}

/// Defines a function that calls `$body`, an `#[inline(always)]` function with the same arguments.
/// The code is compiled for AVX2 and for the target's baseline. CPUs with AVX2 use the AVX2 code.
macro_rules! on_best_instructions {
    ($(#[$meta:meta])* $visibility:vis fn $name:ident($($argument:ident: $type:ty),* $(,)?) $(-> $result:ty)? = $body:path;) => {
        $(#[$meta])*
        $visibility fn $name($($argument: $type),*) $(-> $result)? {
            #[cfg(all(feature = "std", target_arch = "x86_64"))]
            {
                #[target_feature(enable = "avx2")]
                fn with_avx2($($argument: $type),*) $(-> $result)? {
                    $body($($argument),*)
                }
                if $crate::simd::has_avx2() {
                    #[expect(unsafe_code, reason = "the only way to call code for a feature found at run time")]
                    // SAFETY: `avx2` has confirmed that the CPU has AVX2, the only feature that the
                    // function needs.
                    return unsafe { with_avx2($($argument),*) };
                }
            }
            $body($($argument),*)
        }
    };
}
pub(crate) use on_best_instructions;
