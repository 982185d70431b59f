//! Table of the factory's presets of exports.

use serde_json::{Value, json};

/// A preset of an export in a factory table.
pub(super) struct FactoryExport {
    /// Id without the prefix. It must never change, because clients may store it.
    pub(super) id: &'static str,
    pub(super) name: &'static str,
    pub(super) description: &'static str,
    /// Returns the options of the export.
    pub(super) options: fn() -> Value,
}

pub(super) const EXPORTS: &[FactoryExport] = &[
    FactoryExport {
        id: "export-streaming",
        name: "Streaming",
        description: "For Spotify, YouTube and others: FLAC, 24 bit, -14 LUFS, -1 dBTP.",
        options: || {
            json!({ "format": "flac", "bit_depth": "pcm24",
                "normalize": { "lufs": -14, "true_peak_db": -1 }, "channel_check": true })
        },
    },
    FactoryExport {
        id: "export-cd",
        name: "CD",
        description: "WAV, 44.1 kHz, 16 bit with noise shaping, without normalization.",
        options: || json!({ "format": "wav", "bit_depth": "pcm16", "sample_rate_hz": 44_100, "noise_shaping": true }),
    },
    FactoryExport {
        id: "export-podcast",
        name: "Podcast",
        description: "MP3, 192 kbit/s, -16 LUFS, -1 dBTP.",
        options: || {
            json!({ "format": "mp3", "bit_rate_kbps": 192,
                "normalize": { "lufs": -16, "true_peak_db": -1 }, "channel_check": true })
        },
    },
    FactoryExport {
        id: "export-broadcast",
        name: "Broadcast",
        description: "WAV, 48 kHz, 24 bit, with the levels of EBU R 128: -23 LUFS, -1 dBTP.",
        options: || {
            json!({ "format": "wav", "bit_depth": "pcm24", "sample_rate_hz": 48_000,
                "normalize": { "lufs": -23, "true_peak_db": -1 }, "channel_check": true })
        },
    },
    FactoryExport {
        id: "export-archive",
        name: "Archive",
        description: "WAV, 32-bit float at the song's rate: the samples of the engine.",
        options: || json!({ "format": "wav", "bit_depth": "float32" }),
    },
];
