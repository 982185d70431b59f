#![no_main]

songfoundry_fuzz::target!(sf3);
