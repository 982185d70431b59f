//! A module that starts a process in a new session, whose parent ends at once, and never returns.
#![expect(unsafe_code, reason = "functions of the C library that start processes")]

use std::time::Duration;

unsafe extern "C" {
    safe fn fork() -> i32;
    safe fn setsid() -> i32;
}

/// Maximum lifetime of the processes of the module.
const LIFETIME: Duration = Duration::from_secs(300);

songfoundry_test_plugins::vst3_module!(
    || {
        if fork() == 0 {
            setsid();
            if fork() == 0 {
                std::thread::sleep(LIFETIME);
            }
            std::process::abort();
        }
        loop {
            std::thread::sleep(LIFETIME);
        }
    },
    &[]
);
