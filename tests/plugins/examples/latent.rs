//! A module with an effect whose latency is 4,096 frames.

use songfoundry_test_plugins::vst3::Described;

songfoundry_test_plugins::vst3_module!(
    || true,
    &[Described {
        id: 0x91,
        name: "Test Latency",
        category: "Audio Module Class",
        sub_categories: "Fx|Restoration"
    }]
);
