//! A module that ends its process as if all were well.

songfoundry_test_plugins::vst3_module!(|| std::process::exit(0), &[]);
