//! A module that never comes back.

songfoundry_test_plugins::vst3_module!(
    || loop {
        std::thread::sleep(std::time::Duration::from_secs(1));
    },
    &[]
);
