//! A module with an instrument, an effect and a plugin without a category.

use songfoundry_test_plugins::vst3::Described;

songfoundry_test_plugins::vst3_module!(
    || true,
    &[
        Described {
            id: 0x31,
            name: "Mixed Drums",
            category: "Audio Module Class",
            sub_categories: "Instrument|Drum"
        },
        Described {
            id: 0x32,
            name: "Mixed Echo",
            category: "Audio Module Class",
            sub_categories: "Fx|Delay"
        },
        Described { id: 0x33, name: "Mixed Something", category: "Audio Module Class", sub_categories: "" },
    ]
);
