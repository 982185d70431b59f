//! A module that allocates three gibibytes when it is loaded.

songfoundry_test_plugins::vst3_module!(
    || {
        // The pages stay untouched, so they would not be resident even without a limit.
        let memory: Vec<u8> = vec![0; 3 << 30];
        std::hint::black_box(&memory).len() > 1
    },
    &[]
);
