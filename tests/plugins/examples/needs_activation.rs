//! A module that refuses to work because it is not activated.

songfoundry_test_plugins::vst3_module!(
    || {
        eprintln!("Test Activation 1.2: no valid license found. Please activate the product.");
        false
    },
    &[]
);
