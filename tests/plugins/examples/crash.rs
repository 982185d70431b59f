//! A module that reads where nothing is.
#![expect(unsafe_code, reason = "a module shows functions of C")]

songfoundry_test_plugins::vst3_module!(
    || {
        let nowhere = std::hint::black_box(8_usize) as *const bool;
        // SAFETY: none: that it is not safe is what this module is for.
        unsafe { std::ptr::read_volatile(nowhere) }
    },
    &[]
);
