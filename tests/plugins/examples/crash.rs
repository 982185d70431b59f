//! A module that reads from an invalid address.
#![expect(unsafe_code, reason = "a module exports C functions")]

songfoundry_test_plugins::vst3_module!(
    || {
        let invalid_address = std::hint::black_box(8_usize) as *const bool;
        // SAFETY: none; the module is unsafe on purpose.
        unsafe { std::ptr::read_volatile(invalid_address) }
    },
    &[]
);
