//! Whole-system tests; see the `tests` folder of this crate.
