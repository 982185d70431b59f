//! A module with one instrument and its controller class.

use songfoundry_test_plugins::vst3::Described;

songfoundry_test_plugins::vst3_module!(
    || true,
    &[
        Described {
            id: 0x11,
            name: "Test Synth",
            category: "Audio Module Class",
            sub_categories: "Instrument|Synth"
        },
        Described {
            id: 0x12,
            name: "Test Synth",
            category: "Component Controller Class",
            sub_categories: ""
        },
    ]
);
