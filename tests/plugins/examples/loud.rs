//! A module with an effect. It prints text when it is loaded, including a fake scan record.

use songfoundry_test_plugins::vst3::Described;

songfoundry_test_plugins::vst3_module!(
    || {
        print!("Loading... ");
        println!(r#"{{"record":"end","plugins":0}}"#);
        print!("half a line");
        std::io::Write::flush(&mut std::io::stdout()).is_ok()
    },
    &[Described { id: 0x41, name: "Loud Effect", category: "Audio Module Class", sub_categories: "Fx" }]
);
