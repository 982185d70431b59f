//! Table of the factory's effect chains. Their settings are chosen for input levels around -18
//! dBFS.

use super::FactoryChain;
use super::Setting::{Choice, On, To};

pub(super) const CHAINS: &[FactoryChain] = &[
    FactoryChain {
        id: "lead-vocal",
        name: "Lead vocal",
        category: "Vocals",
        description: "Cuts the lows, evens out the level, softens sibilants and adds a short room reverb.",
        effects: &[
            (
                "equalizer",
                &[
                    ("low_cut_on", On),
                    ("low_cut_frequency_hz", To(90.0)),
                    ("bell_2_frequency_hz", To(380.0)),
                    ("bell_2_gain_db", To(-2.5)),
                    ("bell_2_q", To(1.2)),
                    ("bell_4_frequency_hz", To(4_500.0)),
                    ("bell_4_gain_db", To(2.0)),
                    ("high_shelf_frequency_hz", To(11_000.0)),
                    ("high_shelf_gain_db", To(2.5)),
                ],
            ),
            (
                "compressor",
                &[
                    ("threshold_db", To(-22.0)),
                    ("ratio", To(3.5)),
                    ("knee_db", To(6.0)),
                    ("attack_ms", To(8.0)),
                    ("release_ms", To(120.0)),
                    ("makeup_db", To(4.0)),
                ],
            ),
            (
                "de_esser",
                &[("frequency_hz", To(6_500.0)), ("threshold_db", To(-30.0)), ("range_db", To(8.0))],
            ),
            (
                "reverb",
                &[("pre_delay_ms", To(25.0)), ("size", To(0.4)), ("decay_secs", To(1.1)), ("mix", To(0.12))],
            ),
        ],
    },
    FactoryChain {
        id: "spoken-word",
        name: "Spoken word",
        category: "Vocals",
        description: "For podcasts: lowers noise between sentences, evens out the level and prevents clipping.",
        effects: &[
            (
                "gate",
                &[
                    ("threshold_db", To(-48.0)),
                    ("range_db", To(16.0)),
                    ("hold_ms", To(150.0)),
                    ("release_ms", To(250.0)),
                ],
            ),
            (
                "equalizer",
                &[
                    ("low_cut_on", On),
                    ("low_cut_frequency_hz", To(80.0)),
                    ("bell_1_frequency_hz", To(250.0)),
                    ("bell_1_gain_db", To(-3.0)),
                    ("bell_4_frequency_hz", To(3_500.0)),
                    ("bell_4_gain_db", To(2.5)),
                ],
            ),
            (
                "compressor",
                &[
                    ("threshold_db", To(-26.0)),
                    ("ratio", To(4.0)),
                    ("knee_db", To(8.0)),
                    ("attack_ms", To(5.0)),
                    ("release_ms", To(180.0)),
                    ("detector", Choice("RMS")),
                    ("makeup_db", To(6.0)),
                ],
            ),
            ("limiter", &[("ceiling_dbtp", To(-1.5))]),
        ],
    },
    FactoryChain {
        id: "doubled-voice",
        name: "Doubled voice",
        category: "Vocals",
        description: "Adds a second voice on each side, as if the part had been sung twice.",
        effects: &[
            (
                "chorus",
                &[
                    ("voices", Choice("2")),
                    ("rate_hz", To(0.25)),
                    ("depth_ms", To(2.2)),
                    ("delay_ms", To(24.0)),
                    ("spread", To(1.0)),
                    ("mix", To(0.38)),
                ],
            ),
            ("width", &[("width", To(1.25))]),
        ],
    },
    FactoryChain {
        id: "telephone",
        name: "Telephone",
        category: "Vocals",
        description: "The narrow frequency band of a telephone line, with the distortion of its amplifier.",
        effects: &[
            (
                "equalizer",
                &[
                    ("low_cut_on", On),
                    ("low_cut_frequency_hz", To(320.0)),
                    ("low_cut_slope", Choice("48 dB/octave")),
                    ("high_cut_on", On),
                    ("high_cut_frequency_hz", To(3_400.0)),
                    ("high_cut_slope", Choice("48 dB/octave")),
                    ("bell_3_frequency_hz", To(1_700.0)),
                    ("bell_3_gain_db", To(4.0)),
                ],
            ),
            ("saturator", &[("type", Choice("Hard")), ("drive_db", To(16.0)), ("output_db", To(-6.0))]),
            ("utility", &[("channels", Choice("Mono"))]),
        ],
    },
    FactoryChain {
        id: "drum-glue",
        name: "Drum bus glue",
        category: "Drums",
        description: "Slow compression, tape saturation and more highs; makes a drum kit sound coherent.",
        effects: &[
            (
                "compressor",
                &[
                    ("threshold_db", To(-18.0)),
                    ("ratio", To(2.0)),
                    ("knee_db", To(6.0)),
                    ("attack_ms", To(30.0)),
                    ("release_ms", To(100.0)),
                    ("side_high_pass_hz", To(90.0)),
                    ("makeup_db", To(2.0)),
                ],
            ),
            (
                "saturator",
                &[("type", Choice("Tape")), ("drive_db", To(6.0)), ("output_db", To(-3.0)), ("mix", To(0.5))],
            ),
            ("equalizer", &[("high_shelf_frequency_hz", To(9_000.0)), ("high_shelf_gain_db", To(1.5))]),
        ],
    },
    FactoryChain {
        id: "parallel-crush",
        name: "Parallel crush",
        category: "Drums",
        description: "Heavy compression mixed with the dry signal; raises quiet sounds and keeps the peaks.",
        effects: &[(
            "compressor",
            &[
                ("threshold_db", To(-36.0)),
                ("ratio", To(10.0)),
                ("knee_db", To(3.0)),
                ("attack_ms", To(1.0)),
                ("release_ms", To(70.0)),
                ("makeup_db", To(14.0)),
                ("mix", To(0.4)),
            ],
        )],
    },
    FactoryChain {
        id: "tight-kick",
        name: "Tight kick",
        category: "Drums",
        description: "More bass at 60 Hz, fewer low mids, more beater, and a gate between the hits.",
        effects: &[
            (
                "gate",
                &[
                    ("threshold_db", To(-32.0)),
                    ("range_db", To(40.0)),
                    ("hold_ms", To(60.0)),
                    ("release_ms", To(90.0)),
                ],
            ),
            (
                "equalizer",
                &[
                    ("low_shelf_frequency_hz", To(60.0)),
                    ("low_shelf_gain_db", To(3.0)),
                    ("bell_2_frequency_hz", To(350.0)),
                    ("bell_2_gain_db", To(-5.0)),
                    ("bell_2_q", To(1.4)),
                    ("bell_4_frequency_hz", To(4_000.0)),
                    ("bell_4_gain_db", To(3.5)),
                ],
            ),
            (
                "compressor",
                &[
                    ("threshold_db", To(-18.0)),
                    ("ratio", To(4.0)),
                    ("attack_ms", To(15.0)),
                    ("release_ms", To(80.0)),
                ],
            ),
        ],
    },
    FactoryChain {
        id: "snare-snap",
        name: "Snare snap",
        category: "Drums",
        description: "Keeps the attack of the snare, compresses its body, and adds a little plate reverb.",
        effects: &[
            (
                "compressor",
                &[
                    ("threshold_db", To(-22.0)),
                    ("ratio", To(4.0)),
                    ("attack_ms", To(18.0)),
                    ("release_ms", To(90.0)),
                    ("makeup_db", To(4.0)),
                ],
            ),
            (
                "equalizer",
                &[
                    ("low_cut_on", On),
                    ("low_cut_frequency_hz", To(100.0)),
                    ("bell_1_frequency_hz", To(200.0)),
                    ("bell_1_gain_db", To(2.0)),
                    ("bell_4_frequency_hz", To(5_500.0)),
                    ("bell_4_gain_db", To(3.0)),
                ],
            ),
            ("convolution", &[("response", Choice("Plate")), ("low_cut_hz", To(250.0)), ("mix", To(0.14))]),
        ],
    },
    FactoryChain {
        id: "bass-foundation",
        name: "Bass foundation",
        category: "Bass",
        description: "Evens out the level, makes the lows mono, and leaves space for the kick drum.",
        effects: &[
            (
                "equalizer",
                &[
                    ("low_cut_on", On),
                    ("low_cut_frequency_hz", To(32.0)),
                    ("bell_1_frequency_hz", To(240.0)),
                    ("bell_1_gain_db", To(-2.5)),
                    ("bell_3_frequency_hz", To(900.0)),
                    ("bell_3_gain_db", To(1.5)),
                ],
            ),
            (
                "compressor",
                &[
                    ("threshold_db", To(-22.0)),
                    ("ratio", To(4.0)),
                    ("knee_db", To(6.0)),
                    ("attack_ms", To(12.0)),
                    ("release_ms", To(140.0)),
                    ("makeup_db", To(4.0)),
                ],
            ),
            ("width", &[("mono_below_on", On), ("mono_below_hz", To(150.0))]),
        ],
    },
    FactoryChain {
        id: "fuzz-bass",
        name: "Fuzz bass",
        category: "Bass",
        description: "A distorted valve mixed with the clean sound, with the harsh highs filtered out.",
        effects: &[
            (
                "saturator",
                &[
                    ("type", Choice("Tube")),
                    ("drive_db", To(24.0)),
                    ("bias", To(0.2)),
                    ("output_db", To(-10.0)),
                    ("mix", To(0.6)),
                ],
            ),
            (
                "filter",
                &[("type", Choice("Low-pass")), ("cutoff_hz", To(4_500.0)), ("resonance_db", To(0.0))],
            ),
        ],
    },
    FactoryChain {
        id: "acoustic-sparkle",
        name: "Acoustic sparkle",
        category: "Guitar",
        description: "Fewer booming lows, brighter strings, light compression and a little reverb.",
        effects: &[
            (
                "equalizer",
                &[
                    ("low_cut_on", On),
                    ("low_cut_frequency_hz", To(85.0)),
                    ("bell_1_frequency_hz", To(180.0)),
                    ("bell_1_gain_db", To(-3.0)),
                    ("high_shelf_frequency_hz", To(8_000.0)),
                    ("high_shelf_gain_db", To(3.0)),
                ],
            ),
            (
                "compressor",
                &[
                    ("threshold_db", To(-22.0)),
                    ("ratio", To(2.5)),
                    ("attack_ms", To(20.0)),
                    ("release_ms", To(160.0)),
                    ("makeup_db", To(2.0)),
                ],
            ),
            ("reverb", &[("size", To(0.5)), ("decay_secs", To(1.4)), ("mix", To(0.15))]),
        ],
    },
    FactoryChain {
        id: "crunch-guitar",
        name: "Crunch guitar",
        category: "Guitar",
        description: "An overdriven amplifier with the limited highs of a guitar speaker.",
        effects: &[
            (
                "equalizer",
                &[
                    ("low_cut_on", On),
                    ("low_cut_frequency_hz", To(90.0)),
                    ("bell_3_gain_db", To(3.0)),
                    ("bell_3_frequency_hz", To(900.0)),
                ],
            ),
            (
                "saturator",
                &[
                    ("type", Choice("Tube")),
                    ("drive_db", To(26.0)),
                    ("bias", To(0.15)),
                    ("output_db", To(-12.0)),
                ],
            ),
            (
                "equalizer",
                &[
                    ("high_cut_on", On),
                    ("high_cut_frequency_hz", To(5_500.0)),
                    ("high_cut_slope", Choice("24 dB/octave")),
                    ("bell_2_frequency_hz", To(400.0)),
                    ("bell_2_gain_db", To(-2.0)),
                    ("bell_4_frequency_hz", To(2_800.0)),
                    ("bell_4_gain_db", To(2.5)),
                ],
            ),
        ],
    },
    FactoryChain {
        id: "slapback",
        name: "Slapback",
        category: "Guitar",
        description: "One short echo, as in recordings of the 1950s.",
        effects: &[(
            "delay",
            &[
                ("sync", To(0.0)),
                ("time_ms", To(110.0)),
                ("feedback", To(0.1)),
                ("low_cut_hz", To(180.0)),
                ("high_cut_hz", To(4_500.0)),
                ("mix", To(0.28)),
            ],
        )],
    },
    FactoryChain {
        id: "auto-wah",
        name: "Auto-wah",
        category: "Guitar",
        description: "A band-pass filter that follows the level; for guitars, clavinets and basses.",
        effects: &[
            (
                "filter",
                &[
                    ("type", Choice("Band-pass")),
                    ("slope", Choice("12 dB/octave")),
                    ("cutoff_hz", To(420.0)),
                    ("resonance_db", To(9.0)),
                    ("envelope_octaves", To(3.5)),
                    ("envelope_attack_ms", To(8.0)),
                    ("envelope_release_ms", To(180.0)),
                    ("mix", To(0.8)),
                ],
            ),
            ("utility", &[("gain_db", To(4.0))]),
        ],
    },
    FactoryChain {
        id: "surf-tremolo",
        name: "Surf tremolo",
        category: "Guitar",
        description: "The tremolo of a valve amplifier, followed by a reverb like that of a spring.",
        effects: &[
            ("tremolo", &[("rate_hz", To(5.6)), ("depth", To(0.6))]),
            (
                "reverb",
                &[
                    ("size", To(0.3)),
                    ("decay_secs", To(2.2)),
                    ("diffusion", To(0.5)),
                    ("low_cut_hz", To(250.0)),
                    ("high_cut_hz", To(6_000.0)),
                    ("mix", To(0.32)),
                ],
            ),
        ],
    },
    FactoryChain {
        id: "warm-piano",
        name: "Warm piano",
        category: "Keys",
        description: "Fuller lows, softer highs, tape saturation and the reverb of a chamber.",
        effects: &[
            (
                "equalizer",
                &[
                    ("low_shelf_frequency_hz", To(160.0)),
                    ("low_shelf_gain_db", To(1.5)),
                    ("bell_3_frequency_hz", To(2_400.0)),
                    ("bell_3_gain_db", To(-2.0)),
                    ("high_shelf_frequency_hz", To(7_000.0)),
                    ("high_shelf_gain_db", To(-2.0)),
                ],
            ),
            (
                "saturator",
                &[("type", Choice("Tape")), ("drive_db", To(4.0)), ("output_db", To(-2.0)), ("mix", To(0.4))],
            ),
            ("reverb", &[("size", To(0.6)), ("decay_secs", To(1.7)), ("mix", To(0.18))]),
        ],
    },
    FactoryChain {
        id: "stage-piano",
        name: "Stage piano",
        category: "Keys",
        description: "The slow phaser and the stereo tremolo of a stage electric piano.",
        effects: &[
            (
                "phaser",
                &[
                    ("stages", Choice("4")),
                    ("rate_hz", To(0.35)),
                    ("depth_octaves", To(1.8)),
                    ("feedback", To(0.25)),
                    ("mix", To(0.4)),
                ],
            ),
            ("tremolo", &[("rate_hz", To(4.2)), ("depth", To(0.35)), ("stereo_degrees", To(180.0))]),
        ],
    },
    FactoryChain {
        id: "wide-pad",
        name: "Wide pad",
        category: "Synths",
        description: "A chorus of four voices and a long reverb; wide stereo with mono lows.",
        effects: &[
            (
                "chorus",
                &[
                    ("voices", Choice("4")),
                    ("rate_hz", To(0.4)),
                    ("depth_ms", To(2.5)),
                    ("spread", To(1.0)),
                    ("mix", To(0.5)),
                ],
            ),
            (
                "reverb",
                &[("size", To(0.9)), ("decay_secs", To(4.5)), ("low_cut_hz", To(200.0)), ("mix", To(0.3))],
            ),
            ("width", &[("width", To(1.35)), ("mono_below_on", On), ("mono_below_hz", To(140.0))]),
        ],
    },
    FactoryChain {
        id: "trance-gate",
        name: "Trance gate",
        category: "Synths",
        description: "Cuts a sustained chord into sixteenth notes.",
        effects: &[(
            "tremolo",
            &[("sync", On), ("note", Choice("1/16")), ("shape", Choice("Square")), ("depth", To(0.95))],
        )],
    },
    FactoryChain {
        id: "ambient-wash",
        name: "Ambient wash",
        category: "Space",
        description: "Echoes in dotted quarter notes, followed by a very long reverb.",
        effects: &[
            (
                "delay",
                &[
                    ("note", Choice("1/4D")),
                    ("mode", Choice("Ping-pong")),
                    ("feedback", To(0.55)),
                    ("high_cut_hz", To(5_000.0)),
                    ("mix", To(0.35)),
                ],
            ),
            (
                "reverb",
                &[
                    ("size", To(1.0)),
                    ("decay_secs", To(9.0)),
                    ("modulation", To(0.7)),
                    ("low_cut_hz", To(180.0)),
                    ("mix", To(0.45)),
                ],
            ),
        ],
    },
    FactoryChain {
        id: "dub-echo",
        name: "Dub echo",
        category: "Space",
        description: "Dark echoes in dotted eighth notes that fade slowly; for snares and short chords.",
        effects: &[
            (
                "delay",
                &[
                    ("note", Choice("1/8D")),
                    ("mode", Choice("Ping-pong")),
                    ("feedback", To(0.62)),
                    ("low_cut_hz", To(260.0)),
                    ("high_cut_hz", To(2_800.0)),
                    ("mix", To(0.4)),
                ],
            ),
            ("saturator", &[("type", Choice("Tape")), ("drive_db", To(8.0)), ("output_db", To(-4.0))]),
        ],
    },
    FactoryChain {
        id: "concert-hall",
        name: "Concert hall",
        category: "Space",
        description: "The reverb of a large hall, as heard from the middle rows.",
        effects: &[(
            "reverb",
            &[
                ("pre_delay_ms", To(28.0)),
                ("size", To(0.95)),
                ("decay_secs", To(2.6)),
                ("low_decay", To(1.15)),
                ("high_decay", To(0.45)),
                ("mix", To(0.28)),
            ],
        )],
    },
    FactoryChain {
        id: "bright-plate",
        name: "Bright plate",
        category: "Space",
        description: "A dense, bright plate reverb for voices and snares.",
        effects: &[(
            "convolution",
            &[
                ("response", Choice("Plate")),
                ("pre_delay_ms", To(20.0)),
                ("low_cut_hz", To(200.0)),
                ("high_cut_hz", To(14_000.0)),
                ("mix", To(0.25)),
            ],
        )],
    },
    FactoryChain {
        id: "jet-flanger",
        name: "Jet flanger",
        category: "Modulation",
        description: "A deep, slow sweep with strong resonance.",
        effects: &[(
            "flanger",
            &[
                ("rate_hz", To(0.08)),
                ("delay_ms", To(0.3)),
                ("depth_ms", To(5.0)),
                ("feedback", To(0.7)),
                ("stereo_degrees", To(30.0)),
            ],
        )],
    },
    FactoryChain {
        id: "lo-fi-cassette",
        name: "Lo-fi cassette",
        category: "Colour",
        description: "The sound of worn tape: dull, coarse and slightly out of tune.",
        effects: &[
            (
                "chorus",
                &[
                    ("voices", Choice("2")),
                    ("rate_hz", To(0.7)),
                    ("depth_ms", To(0.8)),
                    ("delay_ms", To(6.0)),
                    ("spread", To(0.2)),
                    ("mix", To(0.5)),
                ],
            ),
            ("saturator", &[("type", Choice("Tape")), ("drive_db", To(12.0)), ("output_db", To(-7.0))]),
            (
                "bit_crusher",
                &[("bits", To(12.0)), ("rate_hz", To(22_050.0)), ("anti_alias", On), ("dither", On)],
            ),
            (
                "equalizer",
                &[
                    ("low_cut_on", On),
                    ("low_cut_frequency_hz", To(70.0)),
                    ("high_cut_on", On),
                    ("high_cut_frequency_hz", To(8_000.0)),
                    ("high_cut_slope", Choice("12 dB/octave")),
                ],
            ),
        ],
    },
    FactoryChain {
        id: "eight-bit",
        name: "Eight bits",
        category: "Colour",
        description: "The coarse sound of samples on an early home computer.",
        effects: &[("bit_crusher", &[("bits", To(8.0)), ("rate_hz", To(11_025.0))])],
    },
    FactoryChain {
        id: "gentle-master",
        name: "Gentle master",
        category: "Mastering",
        description: "A final touch for a mix: no rumble, light compression, and peaks below -1 dBTP.",
        effects: &[
            (
                "equalizer",
                &[
                    ("low_cut_on", On),
                    ("low_cut_frequency_hz", To(25.0)),
                    ("high_shelf_frequency_hz", To(12_000.0)),
                    ("high_shelf_gain_db", To(1.0)),
                ],
            ),
            (
                "compressor",
                &[
                    ("threshold_db", To(-20.0)),
                    ("ratio", To(1.6)),
                    ("knee_db", To(10.0)),
                    ("attack_ms", To(30.0)),
                    ("release_ms", To(250.0)),
                    ("detector", Choice("RMS")),
                    ("side_high_pass_hz", To(80.0)),
                    ("makeup_db", To(1.0)),
                ],
            ),
            ("limiter", &[("ceiling_dbtp", To(-1.0))]),
        ],
    },
    FactoryChain {
        id: "loud-master",
        name: "Loud master",
        category: "Mastering",
        description: "For loud music: some tape saturation, stronger compression, and a limiter that is often active.",
        effects: &[
            (
                "equalizer",
                &[
                    ("low_cut_on", On),
                    ("low_cut_frequency_hz", To(28.0)),
                    ("bell_1_frequency_hz", To(280.0)),
                    ("bell_1_gain_db", To(-1.5)),
                    ("high_shelf_gain_db", To(1.5)),
                ],
            ),
            (
                "saturator",
                &[
                    ("type", Choice("Tape")),
                    ("drive_db", To(5.0)),
                    ("output_db", To(-2.0)),
                    ("mix", To(0.35)),
                ],
            ),
            (
                "compressor",
                &[
                    ("threshold_db", To(-20.0)),
                    ("ratio", To(2.5)),
                    ("knee_db", To(8.0)),
                    ("attack_ms", To(20.0)),
                    ("release_ms", To(150.0)),
                    ("makeup_db", To(3.0)),
                ],
            ),
            ("limiter", &[("input_gain_db", To(5.0)), ("ceiling_dbtp", To(-1.0)), ("release_ms", To(60.0))]),
        ],
    },
    FactoryChain {
        id: "mono-check",
        name: "Mono check",
        category: "Mastering",
        description: "Plays both channels as mono, to check how a mix sounds on a single loudspeaker.",
        effects: &[("utility", &[("channels", Choice("Mono"))])],
    },
];
