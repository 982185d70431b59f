//! Modulators with invalid sources, destinations and links.

use crate::corpus::Case;
use crate::corpus::Outcome::{Audible, Silent};
use crate::corpus::changed;
use crate::maker::ModulatorRecord;

/// Returns the file of the valid bank with these modulators in the zone of instrument 0.
fn with_modulators(modulators: &[ModulatorRecord]) -> Vec<u8> {
    changed(|tables| {
        tables.instrument_modulators.extend(modulators);
        tables.instrument_bags[1].1 = modulators.len() as u16;
    })
}

/// Modulator sources (section 8.2): velocity, the pitch wheel, and the output of other modulators.
const VELOCITY: u16 = 2;
const WHEEL: u16 = 0x020e;
const LINK: u16 = 127;

/// Modulator destinations: generator numbers, and the bit that marks the index of a modulator.
const CUTOFF: u16 = 8;
const PAN: u16 = 17;
const PITCH: u16 = 52;
const TO_MODULATOR: u16 = 0x8000;

pub(crate) const CASES: &[Case] = &[
    Case {
        name: "an unknown source",
        file: || with_modulators(&[[1, PAN, 100, 0, 0]]),
        outcome: Audible(&["instrument 0 (Instrument), zone 0: a modulator has the source 0x0001"]),
    },
    Case {
        name: "controllers that section 8.2.1 excludes as sources",
        file: || {
            with_modulators(
                &[0, 6, 32, 38, 98, 99, 100, 101, 120, 121, 127]
                    .map(|number| [0x80 | number, PAN, 100, 0, 0]),
            )
        },
        outcome: Audible(&["a modulator has the source 0x00"]),
    },
    Case {
        name: "an unknown curve",
        file: || {
            with_modulators(&[[VELOCITY | 4 << 10, PAN, 100, 0, 0], [VELOCITY | 0xfc00, PAN, 100, 0, 0]])
        },
        outcome: Audible(&["has the source 0x1002", "has the source 0xfc02"]),
    },
    Case {
        name: "an unknown amount source",
        file: || with_modulators(&[[VELOCITY, PAN, 100, 99, 0]]),
        outcome: Audible(&["a modulator has the source 0x0063"]),
    },
    Case {
        name: "an amount that comes from a link",
        file: || with_modulators(&[[VELOCITY, PAN, 100, LINK, 0]]),
        outcome: Audible(&["a modulator has the source 0x007f"]),
    },
    Case {
        name: "destinations that cannot be modulated",
        file: || {
            with_modulators(
                &[41, 43, 44, 46, 47, 53, 54, 57, 58, 59, 60, 4_000]
                    .map(|number| [VELOCITY, number, 100, 0, 0]),
            )
        },
        outcome: Audible(&["a modulator has the destination"]),
    },
    Case {
        name: "unknown transforms",
        file: || with_modulators(&[[VELOCITY, PAN, 100, 0, 1], [VELOCITY, PAN, 100, 0, 0xffff]]),
        outcome: Audible(&["has the transform 1,", "has the transform 65535,"]),
    },
    Case {
        name: "a link to a missing modulator",
        file: || with_modulators(&[[VELOCITY, TO_MODULATOR | 5, 100, 0, 0]]),
        outcome: Audible(&["zone 0: modulator 0 has a broken link"]),
    },
    Case {
        name: "a link to a modulator whose source is not a link",
        file: || with_modulators(&[[VELOCITY, TO_MODULATOR | 1, 100, 0, 0], [WHEEL, PAN, 100, 0, 0]]),
        outcome: Audible(&["modulator 0 has a broken link"]),
    },
    Case {
        name: "a modulator whose source is a missing link",
        file: || with_modulators(&[[LINK, PAN, 100, 0, 0]]),
        outcome: Audible(&["modulator 0 has a broken link"]),
    },
    Case {
        name: "a modulator linked to itself",
        file: || with_modulators(&[[LINK, TO_MODULATOR, 100, 0, 0]]),
        outcome: Audible(&["modulator 0 has a broken link"]),
    },
    Case {
        name: "modulators linked in a circle, and a modulator linked to one of them",
        file: || {
            with_modulators(&[
                [LINK, TO_MODULATOR | 1, 100, 0, 0],
                [LINK, TO_MODULATOR | 2, 100, 0, 0],
                [LINK, TO_MODULATOR, 100, 0, 0],
                [VELOCITY, TO_MODULATOR | 1, 100, 0, 0],
            ])
        },
        outcome: Audible(&["modulator 0 has", "modulator 1 has", "modulator 2 has", "modulator 3 has"]),
    },
    Case {
        name: "a long but valid chain of linked modulators",
        file: || {
            let mut chain: Vec<_> = (1..40).map(|next| [LINK, TO_MODULATOR | next, 0x7fff, 0, 0]).collect();
            chain[0][0] = VELOCITY;
            chain.push([LINK, PAN, 1, 0, 0]);
            with_modulators(&chain)
        },
        outcome: Audible(&[]),
    },
    Case {
        name: "more modulators than a zone can have",
        file: || {
            with_modulators(
                &(0..80).map(|amount| [0x82 + amount % 4, 5 + amount / 4, 1, WHEEL, 0]).collect::<Vec<_>>(),
            )
        },
        outcome: Audible(&["it has more than 64 modulators", "a modulator has the destination"]),
    },
    Case {
        name: "modulators of all generators at their extreme amounts",
        file: || {
            let amounts = [i16::MAX, i16::MIN].map(i16::cast_unsigned);
            let all_numbers = (5..=17).chain(21..=40).filter(|number| *number != 14);
            let records: Vec<_> = all_numbers
                .map(|number| [WHEEL, number, amounts[usize::from(number % 2)], 0, 2 * (number % 2)])
                .collect();
            with_modulators(&records)
        },
        outcome: Audible(&[]),
    },
    Case {
        name: "modulators of sample addresses",
        file: || with_modulators(&[0, 1, 2, 3, 4, 12, 45, 50].map(|number| [VELOCITY, number, 0x7fff, 0, 0])),
        outcome: Silent(&[]),
    },
    Case {
        name: "modulators that move the pitch and the cutoff far beyond their ranges",
        file: || {
            with_modulators(&[
                [WHEEL, PITCH, 0x7fff, 0, 0],
                [VELOCITY, PITCH, 0x7fff, WHEEL, 2],
                [VELOCITY, CUTOFF, 0x8000, 0, 0],
                [WHEEL, 9, 0x7fff, 0, 0],
            ])
        },
        outcome: Audible(&[]),
    },
    Case {
        name: "zones whose modulators begin after the end of the table",
        file: || changed(|tables| tables.instrument_bags.iter_mut().for_each(|bag| bag.1 = 60_000)),
        outcome: Audible(&["zone 0: its modulators from 60000 to 0 are not a valid range: the file has 0"]),
    },
];
