//! Reads and writes `.fxp` and `.fxb` files.
//!
//! Source: the structures `fxProgram` and `fxBank` of VST 2.4. Numbers are 32 bits in big-endian
//! order.

use crate::module::FailureReason;

/// Magic number of every file.
const CHUNK: [u8; 4] = *b"CcnK";

/// Length of the name of a program.
const NAME_BYTES: usize = 28;

/// Number of reserved bytes in a bank after the number of programs.
const BANK_RESERVED_BYTES: usize = 128;

/// The content of a preset file.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Content {
    /// The values of a program's parameters.
    Values(Vec<f32>),
    /// The chunk of a program.
    ProgramChunk(Vec<u8>),
    /// The values of the parameters of each program of a bank.
    BankValues {
        /// Index of the selected program.
        program: u32,
        /// Values of each program.
        programs: Vec<Vec<f32>>,
    },
    /// The chunk of a bank.
    BankChunk(Vec<u8>),
}

/// A program (`.fxp`) or a bank of programs (`.fxb`).
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Preset {
    /// Unique id of the plugin.
    pub(super) unique_id: i32,
    /// Version of the plugin.
    pub(super) version: i32,
    /// Number of parameters for a program, or of programs for a bank.
    pub(super) count: u32,
    /// Name of the program; banks have none.
    pub(super) name: String,
    /// The parameter values or the chunk.
    pub(super) content: Content,
}

impl Preset {
    /// Reads a `.fxp` or `.fxb` file. Returns the reason if the file is damaged.
    pub(super) fn from_bytes(bytes: &[u8]) -> Result<Self, FailureReason> {
        let mut reader = Reader(bytes);
        Self::read(&mut reader)
            .ok_or_else(|| "the preset is not a .fxp or .fxb file, or it is damaged".to_owned())
    }

    fn read(reader: &mut Reader) -> Option<Self> {
        if reader.bytes(4)? != CHUNK {
            return None;
        }
        let _byte_size = reader.number()?;
        let magic = reader.bytes(4)?;
        let format_version = reader.number()?;
        let unique_id = reader.number()?.cast_signed();
        let version = reader.number()?.cast_signed();
        let count = reader.number()?;
        let mut name = String::new();
        let content = match magic {
            b"FxCk" => {
                name = reader.name()?;
                Content::Values(reader.values(count)?)
            }
            b"FPCh" => {
                name = reader.name()?;
                let bytes = reader.number()?;
                Content::ProgramChunk(reader.bytes(bytes as usize)?.to_vec())
            }
            b"FxBk" => {
                let program = reader.number()?;
                reader.bytes(BANK_RESERVED_BYTES - 4)?;
                let program = if format_version >= 2 { program } else { 0 };
                let mut programs = Vec::new();
                for _ in 0..count {
                    match Self::read_program(reader)? {
                        Content::Values(values) => programs.push(values),
                        _ => return None,
                    }
                }
                Content::BankValues { program, programs }
            }
            b"FBCh" => {
                reader.bytes(BANK_RESERVED_BYTES)?;
                let bytes = reader.number()?;
                Content::BankChunk(reader.bytes(bytes as usize)?.to_vec())
            }
            _ => return None,
        };
        Some(Self { unique_id, version, count, name, content })
    }

    /// Reads a program within a bank. Banks within banks are not permitted.
    fn read_program(reader: &mut Reader) -> Option<Content> {
        match reader.0.get(8..12)? {
            b"FxCk" => Some(Self::read(reader)?.content),
            _ => None,
        }
    }

    /// Returns the bytes of the `.fxp` or `.fxb` file.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let (magic, format_version, body) = match &self.content {
            Content::Values(values) => {
                let values = values.iter().flat_map(|value| value.to_be_bytes());
                (b"FxCk", 1_u32, self.name_bytes().into_iter().chain(values).collect::<Vec<u8>>())
            }
            Content::ProgramChunk(chunk) => {
                (b"FPCh", 1, [self.name_bytes().as_slice(), &length(chunk), chunk].concat())
            }
            Content::BankValues { program, programs } => {
                let mut body = program.to_be_bytes().to_vec();
                body.resize(BANK_RESERVED_BYTES, 0);
                for values in programs {
                    let count = values.len() as u32;
                    let content = Content::Values(values.clone());
                    body.extend(Self { count, content, ..self.clone() }.to_bytes());
                }
                (b"FxBk", 2, body)
            }
            Content::BankChunk(chunk) => {
                (b"FBCh", 1, [[0; BANK_RESERVED_BYTES].as_slice(), &length(chunk), chunk].concat())
            }
        };
        let mut bytes = CHUNK.to_vec();
        // The size excludes the magic number and the size field.
        bytes.extend((body.len() as u32 + 20).to_be_bytes());
        bytes.extend(magic);
        for number in
            [format_version, self.unique_id.cast_unsigned(), self.version.cast_unsigned(), self.count]
        {
            bytes.extend(number.to_be_bytes());
        }
        bytes.extend(body);
        bytes
    }

    fn name_bytes(&self) -> [u8; NAME_BYTES] {
        let mut bytes = [0; NAME_BYTES];
        let length = self.name.floor_char_boundary(NAME_BYTES - 1);
        bytes[..length].copy_from_slice(&self.name.as_bytes()[..length]);
        bytes
    }
}

fn length(chunk: &[u8]) -> [u8; 4] {
    (chunk.len() as u32).to_be_bytes()
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (bytes, remaining) = self.0.split_at_checked(count)?;
        self.0 = remaining;
        Some(bytes)
    }

    fn number(&mut self) -> Option<u32> {
        Some(u32::from_be_bytes(self.bytes(4)?.try_into().ok()?))
    }

    fn name(&mut self) -> Option<String> {
        let bytes = self.bytes(NAME_BYTES)?;
        let length = bytes.iter().position(|byte| *byte == 0).unwrap_or(NAME_BYTES);
        Some(String::from_utf8_lossy(&bytes[..length]).into_owned())
    }

    fn values(&mut self, count: u32) -> Option<Vec<f32>> {
        let bytes = self.bytes((count as usize).checked_mul(4)?)?;
        Some(bytes.as_chunks().0.iter().map(|value| f32::from_be_bytes(*value)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(content: Content, count: u32, magic: &[u8]) {
        let is_program = matches!(content, Content::Values(_) | Content::ProgramChunk(_));
        let name = if is_program { "Warm Pad" } else { "" }.to_owned();
        let preset = Preset { unique_id: 0x5A61_4D43, version: 3, count, name, content };
        let bytes = preset.to_bytes();
        assert_eq!(&bytes[8..12], magic);
        assert_eq!(u32::from_be_bytes(bytes[4..8].try_into().expect("four")), bytes.len() as u32 - 8);
        assert_eq!(Preset::from_bytes(&bytes), Ok(preset));
        for length in 0..bytes.len() {
            assert!(Preset::from_bytes(&bytes[..length]).is_err(), "{length} bytes");
        }
    }

    #[test]
    fn presets_are_read_as_they_were_written() {
        check(Content::Values(vec![0.0, 0.25, 1.0]), 3, b"FxCk");
        check(Content::ProgramChunk(vec![1, 2, 3, 4, 5]), 7, b"FPCh");
        let programs = vec![vec![0.5, 0.75], vec![0.0, 1.0]];
        check(Content::BankValues { program: 1, programs }, 2, b"FxBk");
        check(Content::BankChunk(vec![9; 300]), 16, b"FBCh");
    }

    #[test]
    fn a_bank_within_a_bank_is_refused() {
        let inner_preset = Preset {
            unique_id: 1,
            version: 1,
            count: 0,
            name: String::new(),
            content: Content::BankValues { program: 0, programs: Vec::new() },
        };
        let mut bytes = inner_preset.to_bytes();
        // The count of the outer bank says that one program follows.
        bytes[27] = 1;
        bytes.extend(inner_preset.to_bytes());
        assert!(Preset::from_bytes(&bytes).is_err());
    }

    #[test]
    fn sizes_beyond_the_file_are_refused() {
        let content = Content::ProgramChunk(vec![1]);
        let preset = Preset { unique_id: 1, version: 1, count: 1, name: String::new(), content };
        let mut bytes = preset.to_bytes();
        let position = bytes.len() - 5;
        bytes[position..position + 4].copy_from_slice(&[0xFF; 4]);
        assert!(Preset::from_bytes(&bytes).is_err());
    }
}
