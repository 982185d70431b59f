//! Test cases of presets, instruments and zones with wrong lists, indices, ranges and generators.

use crate::corpus::Outcome::{Audible, Silent};
use crate::corpus::{Case, SAMPLE_MODES, changed, zone_with};

/// Generators (section 8.1.2).
const KEY_RANGE: u16 = 43;
const VEL_RANGE: u16 = 44;
const INITIAL_ATTENUATION: u16 = 48;
const OVERRIDING_ROOT_KEY: u16 = 58;
const PAN: u16 = 17;

/// Returns the file of the valid bank with this amount of each generator in a range of numbers, in
/// the zone of instrument 0. Generators that link or restrict zones are left out.
fn generators_at(numbers: core::ops::RangeInclusive<u16>, amount: i16) -> Vec<u8> {
    let structure = [41, 43, 44, 53];
    let generators: Vec<_> =
        numbers.filter(|number| !structure.contains(number)).map(|number| (number, amount)).collect();
    zone_with(&generators)
}

pub(crate) const CASES: &[Case] = &[
    Case {
        name: "a preset whose list of zones ends before it begins",
        file: || changed(|tables| tables.presets[0].first_zone = 2),
        outcome: Silent(&["preset 0 (Preset): its zones from 2 to 1 are not a valid range: the file has 2"]),
    },
    Case {
        name: "a preset whose zones end outside the table",
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
        name: "a preset without zones",
        file: || changed(|tables| tables.presets[0].first_zone = 1),
        outcome: Silent(&[]),
    },
    Case {
        name: "a preset zone whose list of generators ends before it begins",
        file: || changed(|tables| tables.preset_bags[0].0 = 2),
        outcome: Silent(&[
            "preset 0 (Preset), zone 0: its generators from 2 to 1 are not a valid range: the file has 2",
        ]),
    },
    Case {
        name: "a preset zone whose modulators end outside the table",
        file: || changed(|tables| tables.preset_bags[0].1 = 77),
        outcome: Audible(&[
            "preset 0 (Preset), zone 0: its modulators from 77 to 0 are not a valid range: the file has 0",
        ]),
    },
    Case {
        name: "a preset that plays a missing instrument",
        file: || changed(|tables| tables.preset_generators[0].1 = 2),
        outcome: Silent(&["preset 0 (Preset), zone 0: it plays instrument 2, but the bank has only 2"]),
    },
    Case {
        name: "a preset whose second zone has no instrument",
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
        name: "a preset with only a global zone",
        file: || changed(|tables| tables.preset_generators[0] = (INITIAL_ATTENUATION, 0)),
        outcome: Silent(&[]),
    },
    Case {
        name: "two presets with the same numbers",
        file: || {
            changed(|tables| {
                let mut duplicate = tables.presets[0].clone();
                duplicate.first_zone = 2;
                tables.presets.push(duplicate);
                tables.preset_bags.push((2, 0));
                tables.preset_generators.push((41, 1));
            })
        },
        outcome: Audible(&["preset 2 (Preset): another preset already has bank 0 and program 0"]),
    },
    Case {
        name: "a preset with bank and program numbers that MIDI does not have",
        file: || {
            changed(|tables| {
                tables.presets[0].bank = u16::MAX;
                tables.presets[0].program = u16::MAX;
            })
        },
        // The bank has no other preset with the numbers 0:0.
        outcome: Silent(&[]),
    },
    Case {
        name: "an instrument whose list of zones ends before it begins",
        file: || changed(|tables| tables.instruments[0] = 2),
        outcome: Silent(&[
            "instrument 0 (Instrument): its zones from 2 to 1 are not a valid range: the file has 2",
        ]),
    },
    Case {
        name: "an instrument zone whose list of generators ends before it begins",
        file: || changed(|tables| tables.instrument_bags[0].0 = 9),
        outcome: Silent(&[
            "instrument 0 (Instrument), zone 0: its generators from 9 to 2 are not a valid range: the file has 4",
        ]),
    },
    Case {
        name: "an instrument zone that plays a missing sample",
        file: || changed(|tables| tables.instrument_generators[1].1 = 0xffff),
        outcome: Silent(&[
            "instrument 0 (Instrument), zone 0: it plays sample 65535, but the bank has only 2",
        ]),
    },
    Case {
        name: "an instrument with only a global zone",
        file: || changed(|tables| tables.instrument_generators[1] = (INITIAL_ATTENUATION, 0)),
        outcome: Silent(&[]),
    },
    Case {
        name: "an instrument whose second zone has no sample",
        file: || {
            changed(|tables| {
                tables.instrument_bags.insert(1, (2, 0));
                tables.instruments[1] = 2;
            })
        },
        outcome: Audible(&["instrument 0 (Instrument), zone 1: it plays no sample"]),
    },
    Case {
        name: "a key range from high to low",
        file: || zone_with(&[(KEY_RANGE, i16::from_le_bytes([80, 20]))]),
        outcome: Silent(&["instrument 0 (Instrument), zone 0: its key range from 80 to 20 is empty"]),
    },
    Case {
        name: "a velocity range from high to low",
        file: || zone_with(&[(VEL_RANGE, i16::from_le_bytes([127, 0]))]),
        outcome: Silent(&["its velocity range from 127 to 0 is empty"]),
    },
    Case {
        name: "a key range beyond the keyboard",
        file: || zone_with(&[(KEY_RANGE, i16::from_le_bytes([0, 255]))]),
        outcome: Audible(&[]),
    },
    Case {
        name: "ranges after other generators",
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
        name: "unknown generators",
        file: || zone_with(&[(14, 1), (60, 1), (999, 1), (-1_i16 as u16, 1)]),
        outcome: Audible(&["generator 14 is", "generator 60 is", "generator 999 is", "generator 65535 is"]),
    },
    Case {
        name: "generators after the sample",
        file: || {
            changed(|tables| {
                tables.instrument_generators.insert(2, (INITIAL_ATTENUATION, 1_440));
                tables.instrument_bags[1].0 += 1;
            })
        },
        outcome: Audible(&[]),
    },
    Case {
        name: "generators of modulation, filter and sends with the largest amount",
        file: || generators_at(5..=17, i16::MAX),
        outcome: Audible(&["generator 14 is"]),
    },
    Case {
        name: "generators of modulation and filter with the smallest amount",
        file: || generators_at(5..=11, i16::MIN),
        outcome: Audible(&[]),
    },
    Case {
        name: "LFOs with the highest frequency and the longest delay",
        file: || generators_at(21..=24, i16::MAX),
        outcome: Audible(&[]),
    },
    Case {
        name: "envelopes with the longest times",
        file: || generators_at(25..=40, i16::MAX),
        outcome: Silent(&[]),
    },
    Case {
        name: "envelopes with times of 0",
        file: || generators_at(25..=40, i16::MIN),
        outcome: Audible(&[]),
    },
    Case {
        name: "a pitch above the audible range",
        file: || generators_at(51..=52, i16::MAX),
        outcome: Audible(&[]),
    },
    Case {
        name: "a pitch ten octaves down",
        file: || generators_at(51..=52, i16::MIN),
        outcome: Audible(&[]),
    },
    Case {
        name: "a key, a velocity and a root key that MIDI does not have",
        file: || zone_with(&[(46, 200), (47, -3), (OVERRIDING_ROOT_KEY, i16::MAX)]),
        outcome: Audible(&[]),
    },
    Case {
        name: "an unknown sample mode",
        file: || zone_with(&[(SAMPLE_MODES, 0x7ffe)]),
        outcome: Audible(&[]),
    },
    Case {
        name: "an exclusive class and a scale tuning with the smallest and largest amounts",
        file: || zone_with(&[(56, i16::MIN), (57, i16::MIN), (56, i16::MAX), (57, i16::MAX)]),
        outcome: Audible(&[]),
    },
];
