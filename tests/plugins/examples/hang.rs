//! A module that never returns.

songfoundry_test_plugins::vst3_module!(
    || loop {
        std::thread::sleep(std::time::Duration::from_secs(1));
    },
    &[]
);
