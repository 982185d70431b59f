//! Modulators with invalid sources, destinations and links.

use crate::corpus::Case;
use crate::corpus::Outcome::{self, Audible, Silent};
use crate::corpus::changed;
use crate::maker::ModulatorRecord;

/// A bank in which the zone of instrument 0 has these modulators.
fn with(modulators: &[ModulatorRecord]) -> Vec<u8> {
    changed(|tables| {
        tables.instrument_modulators.extend(modulators);
        tables.instrument_bags[1].1 = modulators.len() as u16;
    })
}

/// Velocity; the pitch wheel; the output of the modulators that are linked to this one.
const VELOCITY: u16 = 2;
const WHEEL: u16 = 0x020e;
const LINK: u16 = 127;

/// Destinations: generators and, with this bit, modulators.
const CUTOFF: u16 = 8;
const PAN: u16 = 17;
const PITCH: u16 = 52;
const TO_MODULATOR: u16 = 0x8000;

/// The bank is audible without its modulators with broken links.
const fn broken_link(words: &'static [&'static str]) -> Outcome {
    Audible(words)
}

pub(crate) const CASES: &[Case] = &[
    Case {
        reason: "an unknown source",
        file: || with(&[[1, PAN, 100, 0, 0]]),
        outcome: Audible(&["instrument 0 (Instrument), zone 0: a modulator has the source 0x0001"]),
    },
    Case {
        reason: "controllers that may not be sources",
        file: || {
            with(
                &[0, 6, 32, 38, 98, 99, 100, 101, 120, 121, 127]
                    .map(|number| [0x80 | number, PAN, 100, 0, 0]),
            )
        },
        outcome: Audible(&["a modulator has the source 0x00"]),
    },
    Case {
        reason: "an unknown curve",
        file: || with(&[[VELOCITY | 4 << 10, PAN, 100, 0, 0], [VELOCITY | 0xfc00, PAN, 100, 0, 0]]),
        outcome: Audible(&["has the source 0x1002", "has the source 0xfc02"]),
    },
    Case {
        reason: "an unknown amount source",
        file: || with(&[[VELOCITY, PAN, 100, 99, 0]]),
        outcome: Audible(&["a modulator has the source 0x0063"]),
    },
    Case {
        reason: "an amount that comes from a link",
        file: || with(&[[VELOCITY, PAN, 100, LINK, 0]]),
        outcome: Audible(&["a modulator has the source 0x007f"]),
    },
    Case {
        reason: "destinations that cannot be modulated",
        file: || {
            with(
                &[41, 43, 44, 46, 47, 53, 54, 57, 58, 59, 60, 4_000]
                    .map(|number| [VELOCITY, number, 100, 0, 0]),
            )
        },
        outcome: Audible(&["a modulator has the destination"]),
    },
    Case {
        reason: "unknown transforms",
        file: || with(&[[VELOCITY, PAN, 100, 0, 1], [VELOCITY, PAN, 100, 0, 0xffff]]),
        outcome: Audible(&["has the transform 1,", "has the transform 65535,"]),
    },
    Case {
        reason: "a link to a missing modulator",
        file: || with(&[[VELOCITY, TO_MODULATOR | 5, 100, 0, 0]]),
        outcome: broken_link(&["zone 0: modulator 0 has a broken link"]),
    },
    Case {
        reason: "a link to a modulator whose source is not a link",
        file: || with(&[[VELOCITY, TO_MODULATOR | 1, 100, 0, 0], [WHEEL, PAN, 100, 0, 0]]),
        outcome: broken_link(&["modulator 0 has a broken link"]),
    },
    Case {
        reason: "a modulator whose source is a missing link",
        file: || with(&[[LINK, PAN, 100, 0, 0]]),
        outcome: broken_link(&["modulator 0 has a broken link"]),
    },
    Case {
        reason: "a modulator linked to itself",
        file: || with(&[[LINK, TO_MODULATOR, 100, 0, 0]]),
        outcome: broken_link(&["modulator 0 has a broken link"]),
    },
    Case {
        reason: "links in a circle, and one that leads into it",
        file: || {
            with(&[
                [LINK, TO_MODULATOR | 1, 100, 0, 0],
                [LINK, TO_MODULATOR | 2, 100, 0, 0],
                [LINK, TO_MODULATOR, 100, 0, 0],
                [VELOCITY, TO_MODULATOR | 1, 100, 0, 0],
            ])
        },
        outcome: broken_link(&["modulator 0 has", "modulator 1 has", "modulator 2 has", "modulator 3 has"]),
    },
    Case {
        reason: "a long chain of links, which is valid",
        file: || {
            let mut chain: Vec<_> = (1..40).map(|next| [LINK, TO_MODULATOR | next, 0x7fff, 0, 0]).collect();
            chain[0][0] = VELOCITY;
            chain.push([LINK, PAN, 1, 0, 0]);
            with(&chain)
        },
        outcome: Audible(&[]),
    },
    Case {
        reason: "more modulators than a zone can have",
        file: || {
            with(&(0..80).map(|amount| [0x82 + amount % 4, 5 + amount / 4, 1, WHEEL, 0]).collect::<Vec<_>>())
        },
        outcome: Audible(&["it has more than 64 modulators", "a modulator has the destination"]),
    },
    Case {
        reason: "modulators of all generators at their extreme amounts",
        file: || {
            let amounts = [i16::MAX, i16::MIN].map(i16::cast_unsigned);
            let all = (5..=17).chain(21..=40).filter(|number| *number != 14);
            let records: Vec<_> = all
                .map(|number| [WHEEL, number, amounts[usize::from(number % 2)], 0, 2 * (number % 2)])
                .collect();
            with(&records)
        },
        outcome: Audible(&[]),
    },
    Case {
        reason: "modulators of sample addresses",
        file: || with(&[0, 1, 2, 3, 4, 12, 45, 50].map(|number| [VELOCITY, number, 0x7fff, 0, 0])),
        outcome: Silent(&[]),
    },
    Case {
        reason: "the pitch and the cutoff modulated beyond all bounds",
        file: || {
            with(&[
                [WHEEL, PITCH, 0x7fff, 0, 0],
                [VELOCITY, PITCH, 0x7fff, WHEEL, 2],
                [VELOCITY, CUTOFF, 0x8000, 0, 0],
                [WHEEL, 9, 0x7fff, 0, 0],
            ])
        },
        outcome: Audible(&[]),
    },
    Case {
        reason: "modulators in every zone that begin after the table",
        file: || changed(|tables| tables.instrument_bags.iter_mut().for_each(|bag| bag.1 = 60_000)),
        outcome: Audible(&["zone 0: its modulators from 60000 to 0 are not a valid range: the file has 0"]),
    },
];
