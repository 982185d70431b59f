//! Samples with wrong addresses, loops, rates and types.

use crate::corpus::Outcome::{Audible, Silent};
use crate::corpus::{Case, changed, zone_with};

/// Generators that move the addresses of a sample (section 8.1.2).
const START: u16 = 0;
const END: u16 = 1;
const LOOP_START: u16 = 2;
const LOOP_END: u16 = 3;
const START_COARSE: u16 = 4;
const END_COARSE: u16 = 12;
const LOOP_START_COARSE: u16 = 45;
const LOOP_END_COARSE: u16 = 50;

/// Returns the file of the valid bank with this loop in sample 0.
fn with_loop(start: u32, end: u32) -> Vec<u8> {
    changed(|tables| (tables.samples[0].loop_start, tables.samples[0].loop_end) = (start, end))
}

/// Expected texts for an unplayable sample and for the zone that plays it.
macro_rules! unplayable {
    ($words:literal) => {
        Silent(&[concat!("sample 0 (Sample): ", $words), "zone 0: it plays sample 0, which cannot be played"])
    };
}

pub(crate) const CASES: &[Case] = &[
    Case {
        name: "a sample that ends far after the sample data",
        file: || changed(|tables| tables.samples[0].end = 90_000_000),
        outcome: Audible(&["sample 0 (Sample): it ends at frame 90000000, but the file has only 2092"]),
    },
    Case {
        name: "a sample that begins after the sample data",
        file: || changed(|tables| (tables.samples[0].start, tables.samples[0].end) = (3_000, 4_000)),
        outcome: unplayable!("it has no frames: it is from frame 3000 to 4000, and the file has 2092"),
    },
    Case {
        name: "a sample that ends before it begins",
        file: || changed(|tables| (tables.samples[0].start, tables.samples[0].end) = (900, 100)),
        outcome: unplayable!("it has no frames: it is from frame 900 to 100, and the file has 2092"),
    },
    Case {
        name: "a sample without frames",
        file: || changed(|tables| tables.samples[0].end = 0),
        outcome: unplayable!("it has no frames: it is from frame 0 to 0, and the file has 2092"),
    },
    Case {
        name: "a sample of one frame",
        file: || {
            changed(|tables| {
                (tables.samples[0].start, tables.samples[0].end) = (25, 26);
                (tables.samples[0].loop_start, tables.samples[0].loop_end) = (25, 26);
            })
        },
        outcome: Audible(&[]),
    },
    Case {
        name: "a sample whose addresses are the largest 32-bit numbers",
        file: || {
            changed(|tables| {
                let sample = &mut tables.samples[0];
                (sample.start, sample.end) = (u32::MAX, u32::MAX);
                (sample.loop_start, sample.loop_end) = (u32::MAX, u32::MAX);
            })
        },
        outcome: unplayable!("it has no frames: it is from frame 4294967295 to 4294967295"),
    },
    Case {
        name: "a sample whose start and end are the same frame after the sample data",
        file: || {
            changed(|tables| {
                tables.samples.swap(0, 1);
                tables.samples[1].start = 5_000;
                tables.samples[1].end = 5_000;
                tables.instrument_generators[1].1 = 1;
                tables.instrument_generators[3].1 = 0;
            })
        },
        outcome: Silent(&[
            "sample 1 (Sample): it has no frames: it is from frame 5000 to 5000",
            "it plays sample 1, which",
        ]),
    },
    Case {
        name: "a sample in ROM",
        file: || changed(|tables| tables.samples[0].kind = 0x8001),
        outcome: unplayable!("its sample data are in the ROM of a sound card, not in the file (type 0x8001)"),
    },
    Case {
        name: "a sample with a rate of zero",
        file: || changed(|tables| tables.samples[0].rate_hz = 0),
        outcome: unplayable!("it has a sample rate of 0 Hz; 100 to 768000 Hz are supported"),
    },
    Case {
        name: "a sample with a rate of four gigahertz",
        file: || changed(|tables| tables.samples[0].rate_hz = u32::MAX),
        outcome: unplayable!("it has a sample rate of 4294967295 Hz"),
    },
    Case {
        name: "a sample linked to a missing one",
        file: || changed(|tables| (tables.samples[0].link, tables.samples[0].kind) = (60_000, 4)),
        outcome: Audible(&[]),
    },
    Case {
        name: "samples linked to themselves",
        file: || {
            changed(|tables| {
                for sample in &mut tables.samples {
                    (sample.link, sample.kind) = (0, 0x0e);
                }
            })
        },
        outcome: Audible(&[]),
    },
    Case {
        name: "a root key that MIDI does not have",
        file: || {
            changed(|tables| (tables.samples[0].root_key, tables.samples[0].correction_cents) = (200, -128))
        },
        outcome: Audible(&[]),
    },
    Case {
        name: "a loop that ends before it begins",
        file: || with_loop(900, 100),
        outcome: Audible(&["sample 0 (Sample): its loop from frame 900 to 100 is invalid"]),
    },
    Case {
        name: "a loop without frames",
        file: || with_loop(500, 500),
        outcome: Audible(&["from frame 500 to 500 is"]),
    },
    Case { name: "a loop of one frame", file: || with_loop(510, 511), outcome: Audible(&[]) },
    Case {
        name: "a loop that ends after its sample",
        file: || with_loop(100, 1_500),
        outcome: Audible(&["its loop from frame 100 to 1500 is invalid"]),
    },
    Case {
        name: "a loop that begins before its sample",
        file: || changed(|tables| (tables.samples[0].start, tables.samples[0].loop_start) = (200, 100)),
        outcome: Audible(&["its loop from frame 100 to 900 is invalid"]),
    },
    Case {
        name: "a loop whose addresses are the largest 32-bit numbers",
        file: || with_loop(u32::MAX - 1, u32::MAX),
        outcome: Audible(&["its loop from frame 4294967294 to 4294967295 is invalid"]),
    },
    Case {
        name: "a start moved far after its sample",
        file: || zone_with(&[(START, i16::MAX), (START_COARSE, i16::MAX)]),
        outcome: Silent(&[]),
    },
    Case {
        name: "a start moved far before the sample data",
        file: || zone_with(&[(START, i16::MIN), (START_COARSE, i16::MIN)]),
        outcome: Audible(&[]),
    },
    Case {
        name: "an end moved far after the sample data",
        file: || zone_with(&[(END, i16::MAX), (END_COARSE, i16::MAX)]),
        outcome: Audible(&[]),
    },
    Case {
        name: "an end moved far before its sample",
        file: || zone_with(&[(END, i16::MIN), (END_COARSE, i16::MIN)]),
        outcome: Silent(&[]),
    },
    Case {
        name: "a loop moved so that it has no frames",
        file: || zone_with(&[(LOOP_START, 800)]),
        outcome: Audible(&[]),
    },
    Case {
        name: "a loop moved so that it begins after its end",
        file: || zone_with(&[(LOOP_START_COARSE, i16::MAX), (LOOP_END_COARSE, i16::MIN)]),
        outcome: Audible(&[]),
    },
    Case {
        name: "a loop moved so that it covers all sample data",
        file: || {
            zone_with(&[
                (LOOP_START, i16::MIN),
                (LOOP_START_COARSE, i16::MIN),
                (LOOP_END, i16::MAX),
                (LOOP_END_COARSE, i16::MAX),
            ])
        },
        outcome: Audible(&[]),
    },
    Case {
        name: "a loop moved after the end of its sample",
        file: || zone_with(&[(LOOP_START, 900), (LOOP_END, 1_000)]),
        outcome: Audible(&[]),
    },
    #[cfg(not(feature = "vorbis"))]
    Case {
        name: "a compressed sample in a build without a decoder",
        file: || changed(|tables| tables.samples[0].kind = 0x11),
        outcome: unplayable!("it is compressed with Ogg Vorbis, which this build cannot decode"),
    },
    Case {
        name: "a loop moved before the start of its sample",
        file: || {
            changed(|tables| {
                tables.samples[0].start = 300;
                tables.samples[0].loop_start = 400;
                tables
                    .instrument_generators
                    .splice(0..0, [(LOOP_START, -300_i16 as u16), (LOOP_END, -750_i16 as u16)]);
                tables.instrument_bags[1].0 += 2;
            })
        },
        outcome: Audible(&[]),
    },
];
