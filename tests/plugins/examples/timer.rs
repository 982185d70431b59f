//! A module with an effect that changes itself with a timer.

use songfoundry_test_plugins::vst3::Described;

songfoundry_test_plugins::vst3_module!(
    || true,
    &[Described { id: 0x51, name: "Test Timer", category: "Audio Module Class", sub_categories: "Fx|Tools" }]
);
