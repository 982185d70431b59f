//! A module with an effect that returns the bar that the host states.

use songfoundry_test_plugins::vst3::Described;

songfoundry_test_plugins::vst3_module!(
    || true,
    &[Described {
        id: 0x61,
        name: "Test Meter",
        category: "Audio Module Class",
        sub_categories: "Fx|Analyzer"
    }]
);
