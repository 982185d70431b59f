//! A module whose effects lie about their buses.

use songfoundry_test_plugins::vst3::Described;

songfoundry_test_plugins::vst3_module!(
    || true,
    &[
        Described {
            id: 0x71,
            name: "Negative Count",
            category: "Audio Module Class",
            sub_categories: "Fx|Negative Count"
        },
        Described {
            id: 0x72,
            name: "No Buses",
            category: "Audio Module Class",
            sub_categories: "Fx|No Buses"
        },
        Described {
            id: 0x73,
            name: "Unknown Bus",
            category: "Audio Module Class",
            sub_categories: "Fx|Unknown Bus"
        },
        Described {
            id: 0x74,
            name: "Negative Channels",
            category: "Audio Module Class",
            sub_categories: "Fx|Negative Channels"
        },
        Described {
            id: 0x75,
            name: "Many Buses",
            category: "Audio Module Class",
            sub_categories: "Fx|Many Buses"
        },
        Described {
            id: 0x76,
            name: "Many Channels",
            category: "Audio Module Class",
            sub_categories: "Fx|Many Channels"
        },
        Described {
            id: 0x77,
            name: "Other Arrangement",
            category: "Audio Module Class",
            sub_categories: "Fx|Other Arrangement"
        },
        Described {
            id: 0x78,
            name: "More Channels",
            category: "Audio Module Class",
            sub_categories: "Fx|More Channels"
        }
    ]
);
