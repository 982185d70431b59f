//! The file and wire contract.
