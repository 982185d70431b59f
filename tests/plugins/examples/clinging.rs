//! A module that leaves a copy of its process behind, which holds all that the process held, and
//! ends its own.
#![expect(unsafe_code, reason = "the system's own way to copy a process")]

unsafe extern "C" {
    safe fn fork() -> i32;
}

songfoundry_test_plugins::vst3_module!(
    || {
        if fork() != 0 {
            std::process::abort();
        }
        loop {
            std::thread::sleep(std::time::Duration::from_secs(1));
        }
    },
    &[]
);
