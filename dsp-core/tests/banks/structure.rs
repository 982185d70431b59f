//! Files with an invalid chunk structure.

use dsp_core::soundfont::{Bank, BankIssueReason};

use crate::corpus::Outcome::{Audible, Refused};
use crate::corpus::{Case, changed, valid_tables};
use crate::maker::file::{Chunk, File, List};

/// Returns the bytes of the valid bank after a change of its chunks.
fn file(change: impl FnOnce(&mut File)) -> Vec<u8> {
    let mut file = valid_tables().file();
    change(&mut file);
    file.bytes()
}

/// Returns the LIST chunk of a kind.
fn list<'a>(file: &'a mut File, kind: &[u8; 4]) -> &'a mut List {
    file.lists.iter_mut().find(|list| list.kind == *kind).expect("the file has this list")
}

/// Returns the first chunk with an identifier.
fn chunk<'a>(file: &'a mut File, id: &[u8; 4]) -> &'a mut Chunk {
    let mut chunks = file.lists.iter_mut().flat_map(|list| &mut list.chunks);
    chunks.find(|chunk| chunk.id == *id).expect("the file has this chunk")
}

fn without_chunk(id: &[u8; 4]) -> Vec<u8> {
    file(|file| file.lists.iter_mut().for_each(|list| list.chunks.retain(|chunk| chunk.id != *id)))
}

fn with_chunk_body(id: &[u8; 4], body: Vec<u8>) -> Vec<u8> {
    file(|file| chunk(file, id).body = body)
}

/// Returns the first bytes of the valid bank; `new_len` computes their number from that of all.
fn truncated(new_len: impl FnOnce(usize) -> usize) -> Vec<u8> {
    let mut bytes = valid_tables().bytes();
    bytes.truncate(new_len(bytes.len()));
    bytes
}

pub(crate) const CASES: &[Case] = &[
    Case { name: "an empty file", file: Vec::new, outcome: Refused("not a SoundFont") },
    Case {
        name: "a text",
        file: || b"This is no SoundFont, whatever its name may say.".to_vec(),
        outcome: Refused("not a SoundFont"),
    },
    Case {
        name: "another kind of RIFF file",
        file: || file(|file| file.form = *b"WAVE"),
        outcome: Refused("not a SoundFont"),
    },
    Case {
        name: "a RIFF chunk of size zero",
        file: || {
            let mut bytes = valid_tables().bytes();
            bytes[4..8].fill(0);
            bytes
        },
        outcome: Refused("not a SoundFont"),
    },
    Case {
        name: "a file that ends in its first header",
        file: || truncated(|_| 11),
        outcome: Refused("not a SoundFont"),
    },
    Case {
        name: "a file that ends in the sample data",
        file: || truncated(|_| 600),
        outcome: Refused("smpl should have"),
    },
    Case {
        name: "a file that ends in its last table",
        file: || truncated(|bytes| bytes - 1),
        outcome: Refused("shdr should have 138 bytes but has 137"),
    },
    Case {
        name: "a table that states a size of four gigabytes",
        file: || file(|file| chunk(file, b"pgen").size = Some(u32::MAX)),
        outcome: Refused("pgen should have 4294967295 bytes"),
    },
    Case {
        name: "no preset headers",
        file: || without_chunk(b"phdr"),
        outcome: Refused("the phdr chunk is missing"),
    },
    Case {
        name: "no preset zones",
        file: || without_chunk(b"pbag"),
        outcome: Refused("the pbag chunk is missing"),
    },
    Case {
        name: "no preset generators",
        file: || without_chunk(b"pgen"),
        outcome: Refused("the pgen chunk is missing"),
    },
    Case {
        name: "no instruments",
        file: || without_chunk(b"inst"),
        outcome: Refused("the inst chunk is missing"),
    },
    Case {
        name: "no instrument zones",
        file: || without_chunk(b"ibag"),
        outcome: Refused("the ibag chunk is missing"),
    },
    Case {
        name: "no instrument generators",
        file: || without_chunk(b"igen"),
        outcome: Refused("the igen chunk is missing"),
    },
    Case {
        name: "no sample headers",
        file: || without_chunk(b"shdr"),
        outcome: Refused("the shdr chunk is missing"),
    },
    Case {
        name: "no sample data",
        file: || without_chunk(b"smpl"),
        outcome: Refused("the smpl chunk is missing"),
    },
    Case {
        name: "all tables in a LIST chunk inside the LIST chunk pdta",
        file: || {
            file(|file| {
                let inner_chunks =
                    list(file, b"pdta").chunks.drain(..).flat_map(|chunk| chunk.body).collect();
                list(file, b"pdta").chunks.push(Chunk::new(b"LIST", inner_chunks));
            })
        },
        outcome: Refused("the phdr chunk is missing"),
    },
    Case {
        name: "a table without even a terminal record",
        file: || with_chunk_body(b"phdr", Vec::new()),
        outcome: Refused("the phdr chunk has 0 bytes, which is not a table of 38-byte records"),
    },
    Case {
        name: "a table with half a record",
        file: || with_chunk_body(b"shdr", vec![0; 69]),
        outcome: Refused("the shdr chunk has 69 bytes, which is not a table of 46-byte records"),
    },
    Case {
        name: "the form type of packed banks in a bank that is not packed",
        file: || file(|file| file.form = *b"sfpk"),
        outcome: Audible(&[]),
    },
    Case {
        name: "a RIFF chunk that states more bytes than the file has",
        file: || {
            let mut bytes = valid_tables().bytes();
            bytes[4..8].fill(0xff);
            bytes
        },
        outcome: Audible(&[]),
    },
    Case {
        name: "tables before the sample data, in a file that ends in the sample data",
        file: || {
            let mut bytes = file(|file| file.lists.swap(1, 2));
            bytes.truncate(bytes.len() - 500);
            bytes
        },
        outcome: Audible(&["sample 1 (Sample): it ends at frame 2046, but the file has only 1842"]),
    },
    Case {
        name: "unknown chunks and lists",
        file: || {
            file(|file| {
                let chunk_list = list(file, b"pdta").clone();
                let mut unknown_list = List { kind: *b"what", ..chunk_list };
                unknown_list.chunks.iter_mut().for_each(|chunk| chunk.id = *b"????");
                list(file, b"pdta").chunks.insert(0, Chunk::new(b"phdx", vec![1; 37]));
                file.lists.insert(0, unknown_list);
            })
        },
        outcome: Audible(&[]),
    },
    Case { name: "no ifil chunk", file: || without_chunk(b"ifil"), outcome: Audible(&[]) },
    Case {
        name: "an ifil chunk of one byte",
        file: || with_chunk_body(b"ifil", vec![2]),
        outcome: Audible(&[]),
    },
    Case {
        name: "no preset modulators",
        file: || without_chunk(b"pmod"),
        outcome: Audible(&["chunk pmod: its 0 bytes are not a table of 10-byte records"]),
    },
    Case {
        name: "instrument modulators with a partial record",
        file: || with_chunk_body(b"imod", vec![0xff; 13]),
        outcome: Audible(&["chunk imod: its 13 bytes are not a table of 10-byte records"]),
    },
    Case {
        name: "low bytes for half of the frames",
        file: || changed(|tables| tables.low = Some(vec![7; tables.wave.len() / 4])),
        outcome: Audible(&["chunk sm24: its 1046 bytes do not match 2092 frames"]),
    },
    Case {
        name: "low bytes in a file of version 2.01",
        file: || {
            changed(|tables| {
                tables.low = Some(vec![7; tables.wave.len() / 2]);
                tables.version = (2, 1);
            })
        },
        outcome: Audible(&["do not match 2092 frames in a file of version 2.01"]),
    },
    Case {
        name: "sample data with half a frame at its end",
        file: || changed(|tables| tables.wave.push(0x55)),
        outcome: Audible(&[]),
    },
    Case {
        name: "names without a terminal zero, and names that are not text",
        file: || {
            changed(|tables| {
                tables.presets[0].name = [0xff; 20];
                tables.presets[1].name = [7; 20];
            })
        },
        outcome: Audible(&[]),
    },
];

#[test]
fn a_bank_with_packed_sample_data_names_the_skipped_samples() {
    let bytes = file(|file| {
        file.form = *b"sfpk";
        chunk(file, b"smpl").body[..4].copy_from_slice(b"OggS");
    });
    let bank = Bank::from_vec(bytes).expect("a bank");
    assert_eq!(bank.summary().presets.len(), 2);
    let packed = bank.issues().into_iter().filter(|skipped| skipped.reason == BankIssueReason::Packed);
    let reason = |number: usize| {
        format!(
            "sample {number} (Sample): the sample data of the bank are packed; convert the bank to an SF2 file"
        )
    };
    assert_eq!(packed.map(|skipped| skipped.to_string()).collect::<Vec<_>>(), [0, 1].map(reason));
}
