//! A module with an effect that has a side-chain.

use songfoundry_test_plugins::vst3::Described;

songfoundry_test_plugins::vst3_module!(
    || true,
    &[Described {
        id: 0x51,
        name: "Test Side-Chain",
        category: "Audio Module Class",
        sub_categories: "Fx|Dynamics"
    }]
);
