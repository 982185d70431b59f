//! A module that ends its process because there is no display.

songfoundry_test_plugins::vst3_module!(
    || {
        eprintln!("(module:1): Gtk-WARNING **: cannot open display: ");
        std::process::exit(1)
    },
    &[]
);
