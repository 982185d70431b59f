//! Presets, instruments and their zones with wrong lists, indices, ranges and generators.

use crate::corpus::Outcome::{Audible, Silent};
use crate::corpus::{Case, SAMPLE_MODES, changed, zone_with};

/// Generators (section 8.1.2).
const KEY_RANGE: u16 = 43;
const VEL_RANGE: u16 = 44;
const INITIAL_ATTENUATION: u16 = 48;
const OVERRIDING_ROOT_KEY: u16 = 58;
const PAN: u16 = 17;

/// A bank in which the first instrument zone has all generators with these numbers.
fn all_at(numbers: core::ops::RangeInclusive<u16>, amount: i16) -> Vec<u8> {
    let structure = [41, 43, 44, 53];
    let generators: Vec<_> =
        numbers.filter(|number| !structure.contains(number)).map(|number| (number, amount)).collect();
    zone_with(&generators)
}

pub(crate) const CASES: &[Case] = &[
    Case {
        reason: "a preset whose zones run backwards",
        file: || changed(|tables| tables.presets[0].first_zone = 2),
        outcome: Silent(&["preset 0 (Preset): its zones from 2 to 1 are not a valid range: the file has 2"]),
    },
    Case {
        reason: "a preset whose zones end outside the table",
        file: || {
            changed(|tables| {
                tables.presets.insert(1, tables.presets[0].clone());
                tables.presets[1].first_zone = 500;
                tables.presets[1].program = 9;
            })
        },
        outcome: Silent(&[
            "preset 0 (Preset): its zones from 0 to 500 are not a valid range: the file has 2",
            "preset 1 (Preset): its zones from 500 to 1 are not a valid range: the file has 2",
        ]),
    },
    Case {
        reason: "a preset without zones",
        file: || changed(|tables| tables.presets[0].first_zone = 1),
        outcome: Silent(&[]),
    },
    Case {
        reason: "a preset zone whose generators run backwards",
        file: || changed(|tables| tables.preset_bags[0].0 = 2),
        outcome: Silent(&[
            "preset 0 (Preset), zone 0: its generators from 2 to 1 are not a valid range: the file has 2",
        ]),
    },
    Case {
        reason: "a preset zone whose modulators end outside the table",
        file: || changed(|tables| tables.preset_bags[0].1 = 77),
        outcome: Audible(&[
            "preset 0 (Preset), zone 0: its modulators from 77 to 0 are not a valid range: the file has 0",
        ]),
    },
    Case {
        reason: "a preset of a missing instrument",
        file: || changed(|tables| tables.preset_generators[0].1 = 2),
        outcome: Silent(&["preset 0 (Preset), zone 0: it plays instrument 2, but the bank has only 2"]),
    },
    Case {
        reason: "a preset zone without an instrument that is not the first",
        file: || {
            changed(|tables| {
                tables.preset_generators.insert(1, (INITIAL_ATTENUATION, 0));
                tables.preset_bags.insert(1, (1, 0));
                tables.preset_bags[2].0 = 2;
                tables.presets[1].first_zone = 2;
            })
        },
        outcome: Audible(&["preset 0 (Preset), zone 1: it plays no instrument"]),
    },
    Case {
        reason: "a preset with a global zone alone",
        file: || changed(|tables| tables.preset_generators[0] = (INITIAL_ATTENUATION, 0)),
        outcome: Silent(&[]),
    },
    Case {
        reason: "two presets with the same numbers",
        file: || {
            changed(|tables| {
                let mut again = tables.presets[0].clone();
                again.first_zone = 2;
                tables.presets.push(again);
                tables.preset_bags.push((2, 0));
                tables.preset_generators.push((41, 1));
            })
        },
        outcome: Audible(&["preset 2 (Preset): another preset already has bank 0 and program 0"]),
    },
    Case {
        reason: "a preset with bank and program numbers that MIDI cannot say",
        file: || {
            changed(|tables| {
                tables.presets[0].bank = u16::MAX;
                tables.presets[0].program = u16::MAX;
            })
        },
        // No other preset is numbered 0:0.
        outcome: Silent(&[]),
    },
    Case {
        reason: "an instrument whose zones run backwards",
        file: || changed(|tables| tables.instruments[0] = 2),
        outcome: Silent(&[
            "instrument 0 (Instrument): its zones from 2 to 1 are not a valid range: the file has 2",
        ]),
    },
    Case {
        reason: "an instrument zone whose generators run backwards",
        file: || changed(|tables| tables.instrument_bags[0].0 = 9),
        outcome: Silent(&[
            "instrument 0 (Instrument), zone 0: its generators from 9 to 2 are not a valid range: the file has 4",
        ]),
    },
    Case {
        reason: "an instrument zone of a missing sample",
        file: || changed(|tables| tables.instrument_generators[1].1 = 0xffff),
        outcome: Silent(&[
            "instrument 0 (Instrument), zone 0: it plays sample 65535, but the bank has only 2",
        ]),
    },
    Case {
        reason: "an instrument with a global zone alone",
        file: || changed(|tables| tables.instrument_generators[1] = (INITIAL_ATTENUATION, 0)),
        outcome: Silent(&[]),
    },
    Case {
        reason: "an instrument zone without a sample that is not the first",
        file: || {
            changed(|tables| {
                tables.instrument_bags.insert(1, (2, 0));
                tables.instruments[1] = 2;
            })
        },
        outcome: Audible(&["instrument 0 (Instrument), zone 1: it plays no sample"]),
    },
    Case {
        reason: "a key range from high to low",
        file: || zone_with(&[(KEY_RANGE, i16::from_le_bytes([80, 20]))]),
        outcome: Silent(&["instrument 0 (Instrument), zone 0: its key range from 80 to 20 is empty"]),
    },
    Case {
        reason: "a velocity range from high to low",
        file: || zone_with(&[(VEL_RANGE, i16::from_le_bytes([127, 0]))]),
        outcome: Silent(&["its velocity range from 127 to 0 is empty"]),
    },
    Case {
        reason: "a key range beyond the keyboard",
        file: || zone_with(&[(KEY_RANGE, i16::from_le_bytes([0, 255]))]),
        outcome: Audible(&[]),
    },
    Case {
        reason: "ranges after other generators",
        file: || {
            zone_with(&[
                (PAN, 0),
                (KEY_RANGE, i16::from_le_bytes([1, 1])),
                (VEL_RANGE, i16::from_le_bytes([1, 1])),
            ])
        },
        outcome: Audible(&[
            "its key range does not precede the other generators",
            "its velocity range does not precede the other generators",
        ]),
    },
    Case {
        reason: "unknown generators",
        file: || zone_with(&[(14, 1), (60, 1), (999, 1), (-1_i16 as u16, 1)]),
        outcome: Audible(&["generator 14 is", "generator 60 is", "generator 999 is", "generator 65535 is"]),
    },
    Case {
        reason: "generators after the sample",
        file: || {
            changed(|tables| {
                tables.instrument_generators.insert(2, (INITIAL_ATTENUATION, 1_440));
                tables.instrument_bags[1].0 += 1;
            })
        },
        outcome: Audible(&[]),
    },
    Case {
        reason: "modulation, filter and sends at their highest",
        file: || all_at(5..=17, i16::MAX),
        outcome: Audible(&["generator 14 is"]),
    },
    Case {
        reason: "modulation, filter and sends at their lowest",
        file: || all_at(5..=11, i16::MIN),
        outcome: Audible(&[]),
    },
    Case {
        reason: "LFOs at their fastest and latest",
        file: || all_at(21..=24, i16::MAX),
        outcome: Audible(&[]),
    },
    Case { reason: "envelopes with extreme times", file: || all_at(25..=40, i16::MAX), outcome: Silent(&[]) },
    Case { reason: "envelopes with times of 0", file: || all_at(25..=40, i16::MIN), outcome: Audible(&[]) },
    Case { reason: "a pitch beyond hearing", file: || all_at(51..=52, i16::MAX), outcome: Audible(&[]) },
    Case { reason: "a pitch ten octaves down", file: || all_at(51..=52, i16::MIN), outcome: Audible(&[]) },
    Case {
        reason: "a key, a velocity and a root key that MIDI does not have",
        file: || zone_with(&[(46, 200), (47, -3), (OVERRIDING_ROOT_KEY, i16::MAX)]),
        outcome: Audible(&[]),
    },
    Case {
        reason: "an unknown sample mode",
        file: || zone_with(&[(SAMPLE_MODES, 0x7ffe)]),
        outcome: Audible(&[]),
    },
    Case {
        reason: "an exclusive class and a tuning at the ends of their ranges",
        file: || zone_with(&[(56, i16::MIN), (57, i16::MIN), (56, i16::MAX), (57, i16::MAX)]),
        outcome: Audible(&[]),
    },
];
