//! Banks with record counts that make a parser without limits use much time and memory.

use crate::corpus::Outcome::{Audible, Silent};
use crate::corpus::{Case, changed, valid_tables};
use crate::maker::file::Chunk;

const KEY_RANGE: u16 = 43;
const VEL_RANGE: u16 = 44;

/// Number of records that a case adds to the valid bank: almost half the range of a 16-bit index.
const MANY_RECORDS: usize = 30_000;

pub(crate) const CASES: &[Case] = &[
    Case {
        name: "many zones that share a global zone of many modulators",
        file: || {
            changed(|tables| {
                let modulators: Vec<_> = (0..53).map(|n| [0x82 + n % 4, 21 + n / 4, 1, 0, 0]).collect();
                tables.add_instrument();
                tables.add_instrument_zone((&[], &modulators), None);
                for n in 0..MANY_RECORDS {
                    // The modulators of any two zones differ, so no two zones can share a list.
                    tables.add_instrument_zone((&[], &[[2, 17, n as u16, 0, 0]]), Some(0));
                }
                tables.preset_generators[0].1 = 2;
            })
        },
        outcome: Audible(&[]),
    },
    Case {
        name: "a preset with many zones, whose instrument has many zones that no note plays",
        file: || {
            changed(|tables| {
                tables.add_instrument();
                for _ in 0..MANY_RECORDS / 2 {
                    tables.add_instrument_zone((&[(VEL_RANGE, i16::from_le_bytes([1, 1]))], &[]), Some(0));
                }
                tables.add_preset(0, 0);
                for _ in 0..MANY_RECORDS {
                    tables.add_preset_zone((&[], &[]), Some(2));
                }
                tables.presets[0].program = 7;
            })
        },
        outcome: Silent(&["its instruments have more than 65536 zones in total; only its first"]),
    },
    Case {
        name: "a note with more zones than the engine has voices",
        file: || {
            changed(|tables| {
                tables.add_instrument();
                for _ in 0..5_000 {
                    tables.add_instrument_zone((&[], &[]), Some(1));
                }
                tables.preset_generators[0].1 = 2;
            })
        },
        outcome: Audible(&[]),
    },
    Case {
        name: "many presets with the same two bank and program numbers",
        file: || changed(|tables| (0..MANY_RECORDS).for_each(|n| tables.add_preset((n % 2) as u16, 0))),
        outcome: Audible(&["another preset already has bank"]),
    },
    Case {
        name: "a huge number of skipped parts",
        file: || {
            changed(|tables| {
                tables.add_instrument();
                for _ in 0..MANY_RECORDS {
                    tables.add_instrument_zone((&[(KEY_RANGE, i16::from_le_bytes([9, 3]))], &[]), Some(0));
                }
            })
        },
        outcome: Audible(&["its key range from 9 to 3 is empty"]),
    },
    Case {
        name: "a huge number of samples",
        file: || changed(|tables| tables.samples.extend(vec![tables.samples[0].clone(); 65_000])),
        outcome: Audible(&[]),
    },
    Case {
        name: "a huge number of empty chunks",
        file: || {
            let mut file = valid_tables().file();
            let empty = Chunk::new(b"none", Vec::new());
            let tables = file.lists.iter_mut().find(|list| list.kind == *b"pdta").expect("tables");
            tables.chunks.splice(0..0, vec![empty; 100_000]);
            file.bytes()
        },
        outcome: Audible(&[]),
    },
    Case {
        name: "zones that all have the longest list of generators",
        file: || {
            changed(|tables| {
                tables.add_instrument();
                for n in 0..500 {
                    let generators: Vec<_> = (0..120).map(|index| (17, (index * n % 500) as i16)).collect();
                    tables.add_instrument_zone((&generators, &[]), Some(0));
                }
                tables.preset_generators[0].1 = 2;
            })
        },
        outcome: Audible(&[]),
    },
    Case {
        name: "instruments that share their zones",
        file: || {
            changed(|tables| {
                tables.add_instrument();
                for _ in 0..MANY_RECORDS {
                    tables.add_instrument_zone((&[], &[]), Some(0));
                }
                tables
                    .instruments
                    .extend((0..1_000).map(|n| if n % 2 == 0 { MANY_RECORDS as u16 } else { 0 }));
            })
        },
        outcome: Audible(&[
            "its zones from 30000 to 0 are not a valid range: the file has 30002",
            "zones are skipped: overlapping lists would exceed 60004",
        ]),
    },
    Case {
        name: "instruments that share their zones, in tables with more records than an index can number",
        file: || {
            changed(|tables| {
                tables.add_instrument();
                for _ in 0..MANY_RECORDS {
                    tables.add_instrument_zone((&[], &[]), Some(0));
                }
                tables
                    .instruments
                    .extend((0..1_000).map(|n| if n % 2 == 0 { MANY_RECORDS as u16 } else { 0 }));
                tables.instrument_bags.resize(2 + MANY_RECORDS + 100_000, (0, 0));
                tables.instrument_generators.resize(4 + MANY_RECORDS + 100_000, (0, 0));
            })
        },
        outcome: Audible(&[
            "its zones from 30000 to 0 are not a valid range: the file has 130002",
            "zones are skipped: overlapping lists would exceed 131072",
        ]),
    },
    Case {
        name: "presets that share their zones",
        file: || {
            changed(|tables| {
                for n in 0..1_000 {
                    tables.add_preset(n, 2);
                    tables.presets[usize::from(n) + 2].first_zone =
                        if n % 2 == 0 { 2 } else { MANY_RECORDS as u16 };
                }
                for _ in 0..MANY_RECORDS {
                    tables.add_preset_zone((&[], &[]), Some(0));
                }
            })
        },
        outcome: Audible(&[
            "its zones from 30000 to 2 are not a valid range: the file has 30002",
            "its 29998 zones are skipped: overlapping lists would exceed 60004",
        ]),
    },
    Case {
        name: "zones that share their generators",
        file: || {
            changed(|tables| {
                tables.add_instrument();
                for n in 0..MANY_RECORDS {
                    tables.add_instrument_zone((&[(17, 1)], &[]), None);
                    tables.instrument_bags[n + 2].0 = if n % 2 == 0 { 4 } else { MANY_RECORDS as u16 };
                }
            })
        },
        outcome: Audible(&[
            "its generators from 30000 to 4 are not a valid range: the file has 30004",
            "its 29996 generators are skipped: overlapping lists would exceed 60008",
            "it plays no sample",
        ]),
    },
    Case {
        name: "zones that share their modulators",
        file: || {
            changed(|tables| {
                tables.add_instrument();
                for n in 0..MANY_RECORDS {
                    tables.add_instrument_zone((&[], &[[0x82, 17, 1, 0, 0]]), Some(0));
                    tables.instrument_bags[n + 2].1 = if n % 2 == 0 { 0 } else { MANY_RECORDS as u16 };
                }
            })
        },
        outcome: Audible(&[
            "its modulators from 30000 to 0 are not a valid range: the file has 30000",
            "its 30000 modulators are skipped: overlapping lists would exceed 60000",
        ]),
    },
];
