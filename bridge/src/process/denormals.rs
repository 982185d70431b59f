//! Makes the processor treat denormal numbers as zero. Many plugins rely on this mode. Without it,
//! decaying sounds are slow to process.
#![expect(unsafe_code, reason = "the control register of the processor is set by an instruction")]

/// Flushes denormal numbers to zero on this thread. Plugins may reset the mode, so a host calls
/// this function before each block.
pub(crate) fn flush() {
    #[cfg(target_arch = "x86_64")]
    {
        /// Bits 15 (flush to zero) and 6 (denormals are zero) of MXCSR. Source: Intel Software
        /// Developer's Manual, volume 1, section 10.2.3.
        const FLUSH_TO_ZERO_BITS: u32 = 1 << 15 | 1 << 6;
        let mut control = 0_u32;
        // SAFETY: the instructions read and write four bytes of `control`. The flags only change
        // the results of operations with denormal numbers.
        unsafe {
            std::arch::asm!("stmxcsr [{}]", in(reg) &raw mut control, options(nostack));
            control |= FLUSH_TO_ZERO_BITS;
            std::arch::asm!("ldmxcsr [{}]", in(reg) &raw const control, options(nostack));
        }
    }
    #[cfg(target_arch = "aarch64")]
    {
        /// Bit 24 (flush to zero) of FPCR. Source: Arm Architecture Reference Manual, section
        /// "FPCR".
        const FLUSH_TO_ZERO_BITS: u64 = 1 << 24;
        let control: u64;
        // SAFETY: the register exists on every processor of this architecture. The flag only
        // changes the results of operations with denormal numbers.
        unsafe {
            std::arch::asm!("mrs {}, fpcr", out(reg) control, options(nostack, nomem));
            std::arch::asm!("msr fpcr, {}", in(reg) control | FLUSH_TO_ZERO_BITS, options(nostack, nomem));
        }
    }
}

#[cfg(all(test, any(target_arch = "x86_64", target_arch = "aarch64")))]
mod tests {
    use std::hint::black_box;

    #[test]
    fn denormal_results_are_zero() {
        assert_ne!(black_box(f32::MIN_POSITIVE) * black_box(0.5), 0.0);
        super::flush();
        assert_eq!(black_box(f32::MIN_POSITIVE) * black_box(0.5), 0.0);
    }
}
