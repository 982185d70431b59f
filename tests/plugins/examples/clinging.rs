//! A module that starts a process which outlives it, and then ends its own.

songfoundry_test_plugins::vst3_module!(
    || {
        let started = std::process::Command::new("/bin/sleep").arg("600").spawn();
        if started.is_ok() {
            std::process::abort();
        }
        false
    },
    &[]
);
