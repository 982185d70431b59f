//! A module with one effect.

use songfoundry_test_plugins::vst3::Described;

songfoundry_test_plugins::vst3_module!(
    || true,
    &[Described {
        id: 0x21,
        name: "Test Effect",
        category: "Audio Module Class",
        sub_categories: "Fx|Reverb"
    }]
);
