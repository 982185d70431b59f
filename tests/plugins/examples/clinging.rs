//! A module that forks its process and ends the original process. The copy keeps all open handles.
#![expect(unsafe_code, reason = "the function of the C library that copies a process")]

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
