//! Table of the factory's instruments. Programs have the numbers of General MIDI, level 1, counted
//! from 0.

use super::Setting::{Choice, On, To};
use super::{FactoryChain, FactoryInstrument};

pub(super) const INSTRUMENTS: &[FactoryInstrument] = &[
    FactoryInstrument {
        bank: 0,
        program: 0,
        chain: FactoryChain {
            id: "grand-piano-in-a-hall",
            name: "Grand piano in a hall",
            category: "Keys",
            description: "A concert grand with the reverb of a hall.",
            effects: &[(
                "reverb",
                &[("size", To(0.85)), ("decay_secs", To(2.2)), ("pre_delay_ms", To(20.0)), ("mix", To(0.22))],
            )],
        },
    },
    FactoryInstrument {
        bank: 0,
        program: 0,
        chain: FactoryChain {
            id: "felt-piano",
            name: "Felt piano",
            category: "Keys",
            description: "A soft piano close to the listener, with damped highs.",
            effects: &[
                (
                    "filter",
                    &[
                        ("type", Choice("Low-pass")),
                        ("slope", Choice("12 dB/octave")),
                        ("cutoff_hz", To(1_900.0)),
                        ("resonance_db", To(0.0)),
                    ],
                ),
                (
                    "compressor",
                    &[
                        ("threshold_db", To(-30.0)),
                        ("ratio", To(2.0)),
                        ("attack_ms", To(25.0)),
                        ("release_ms", To(300.0)),
                        ("makeup_db", To(5.0)),
                    ],
                ),
                ("reverb", &[("size", To(0.35)), ("decay_secs", To(1.0)), ("mix", To(0.15))]),
            ],
        },
    },
    FactoryInstrument {
        bank: 0,
        program: 4,
        chain: FactoryChain {
            id: "suitcase-piano",
            name: "Suitcase piano",
            category: "Keys",
            description: "An electric piano with its stereo tremolo.",
            effects: &[
                (
                    "saturator",
                    &[
                        ("type", Choice("Tube")),
                        ("drive_db", To(6.0)),
                        ("output_db", To(-3.0)),
                        ("mix", To(0.5)),
                    ],
                ),
                ("tremolo", &[("rate_hz", To(4.5)), ("depth", To(0.4)), ("stereo_degrees", To(180.0))]),
            ],
        },
    },
    FactoryInstrument {
        bank: 0,
        program: 16,
        chain: FactoryChain {
            id: "rotary-organ",
            name: "Rotary organ",
            category: "Keys",
            description: "A drawbar organ through an overdriven rotary loudspeaker.",
            effects: &[
                ("saturator", &[("type", Choice("Tube")), ("drive_db", To(10.0)), ("output_db", To(-6.0))]),
                (
                    "chorus",
                    &[
                        ("voices", Choice("2")),
                        ("rate_hz", To(6.2)),
                        ("depth_ms", To(0.6)),
                        ("delay_ms", To(4.0)),
                        ("mix", To(0.5)),
                    ],
                ),
                ("tremolo", &[("rate_hz", To(6.2)), ("depth", To(0.25)), ("stereo_degrees", To(120.0))]),
            ],
        },
    },
    FactoryInstrument {
        bank: 0,
        program: 25,
        chain: FactoryChain {
            id: "studio-steel-guitar",
            name: "Studio steel guitar",
            category: "Guitar",
            description: "A steel-string guitar, recorded close to the microphone.",
            effects: &[
                (
                    "equalizer",
                    &[
                        ("low_cut_on", On),
                        ("low_cut_frequency_hz", To(80.0)),
                        ("high_shelf_frequency_hz", To(8_000.0)),
                        ("high_shelf_gain_db", To(2.0)),
                    ],
                ),
                (
                    "compressor",
                    &[
                        ("threshold_db", To(-26.0)),
                        ("ratio", To(2.5)),
                        ("attack_ms", To(15.0)),
                        ("makeup_db", To(3.0)),
                    ],
                ),
            ],
        },
    },
    FactoryInstrument {
        bank: 0,
        program: 27,
        chain: FactoryChain {
            id: "chorused-clean-guitar",
            name: "Chorused clean guitar",
            category: "Guitar",
            description: "A clean electric guitar with chorus and an echo in dotted eighth notes.",
            effects: &[
                ("chorus", &[("rate_hz", To(0.5)), ("mix", To(0.45))]),
                ("delay", &[("note", Choice("1/8D")), ("feedback", To(0.3)), ("mix", To(0.2))]),
            ],
        },
    },
    FactoryInstrument {
        bank: 0,
        program: 33,
        chain: FactoryChain {
            id: "finger-bass",
            name: "Finger bass",
            category: "Bass",
            description: "A fingered bass with an even level and mono lows.",
            effects: &[
                (
                    "compressor",
                    &[
                        ("threshold_db", To(-26.0)),
                        ("ratio", To(4.0)),
                        ("attack_ms", To(12.0)),
                        ("release_ms", To(140.0)),
                        ("makeup_db", To(5.0)),
                    ],
                ),
                ("width", &[("mono_below_on", On), ("mono_below_hz", To(160.0))]),
            ],
        },
    },
    FactoryInstrument {
        bank: 0,
        program: 38,
        chain: FactoryChain {
            id: "squelch-bass",
            name: "Squelch bass",
            category: "Bass",
            description: "A synthesizer bass through a resonant filter that follows the level.",
            effects: &[
                (
                    "filter",
                    &[
                        ("type", Choice("Low-pass")),
                        ("cutoff_hz", To(350.0)),
                        ("resonance_db", To(14.0)),
                        ("drive_db", To(6.0)),
                        ("envelope_octaves", To(3.0)),
                        ("envelope_release_ms", To(180.0)),
                    ],
                ),
                ("saturator", &[("type", Choice("Soft")), ("drive_db", To(8.0)), ("output_db", To(-4.0))]),
            ],
        },
    },
    FactoryInstrument {
        bank: 0,
        program: 48,
        chain: FactoryChain {
            id: "wide-strings",
            name: "Wide strings",
            category: "Orchestra",
            description: "A string section with wide stereo.",
            effects: &[
                ("width", &[("width", To(1.3))]),
                (
                    "reverb",
                    &[
                        ("size", To(0.9)),
                        ("decay_secs", To(2.8)),
                        ("pre_delay_ms", To(24.0)),
                        ("mix", To(0.25)),
                    ],
                ),
            ],
        },
    },
    FactoryInstrument {
        bank: 0,
        program: 61,
        chain: FactoryChain {
            id: "tight-brass",
            name: "Tight brass",
            category: "Orchestra",
            description: "A bright brass section with a short room reverb.",
            effects: &[
                (
                    "equalizer",
                    &[
                        ("low_cut_on", On),
                        ("low_cut_frequency_hz", To(90.0)),
                        ("bell_4_frequency_hz", To(3_200.0)),
                        ("bell_4_gain_db", To(2.5)),
                    ],
                ),
                (
                    "compressor",
                    &[
                        ("threshold_db", To(-24.0)),
                        ("ratio", To(3.0)),
                        ("attack_ms", To(10.0)),
                        ("makeup_db", To(3.0)),
                    ],
                ),
                ("convolution", &[("response", Choice("Small room")), ("mix", To(0.18))]),
            ],
        },
    },
    FactoryInstrument {
        bank: 0,
        program: 81,
        chain: FactoryChain {
            id: "echo-lead",
            name: "Echo lead",
            category: "Synths",
            description: "A sawtooth lead with echoes that alternate between left and right.",
            effects: &[
                (
                    "delay",
                    &[
                        ("note", Choice("1/8D")),
                        ("mode", Choice("Ping-pong")),
                        ("feedback", To(0.42)),
                        ("mix", To(0.28)),
                    ],
                ),
                ("reverb", &[("decay_secs", To(2.0)), ("mix", To(0.15))]),
            ],
        },
    },
    FactoryInstrument {
        bank: 0,
        program: 89,
        chain: FactoryChain {
            id: "drifting-pad",
            name: "Drifting pad",
            category: "Synths",
            description: "A warm pad through a slow phaser, with the long reverb of a hall.",
            effects: &[
                (
                    "phaser",
                    &[
                        ("stages", Choice("8")),
                        ("rate_hz", To(0.07)),
                        ("depth_octaves", To(2.0)),
                        ("mix", To(0.45)),
                    ],
                ),
                ("reverb", &[("size", To(1.0)), ("decay_secs", To(6.0)), ("mix", To(0.35))]),
            ],
        },
    },
    FactoryInstrument {
        bank: 128,
        program: 0,
        chain: FactoryChain {
            id: "room-kit",
            name: "Room kit",
            category: "Drums",
            description: "The standard drum kit with compression and the reverb of a small room.",
            effects: &[
                (
                    "compressor",
                    &[
                        ("threshold_db", To(-20.0)),
                        ("ratio", To(2.5)),
                        ("attack_ms", To(25.0)),
                        ("release_ms", To(100.0)),
                        ("makeup_db", To(3.0)),
                    ],
                ),
                ("convolution", &[("response", Choice("Small room")), ("mix", To(0.2))]),
            ],
        },
    },
];
