#![no_main]

songfoundry_fuzz::target!(dawproject);
