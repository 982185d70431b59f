//! Reads and writes `.vstpreset` files.
//!
//! Source: VST 3 Developer Portal, "Preset Format". Numbers are in little-endian order. The file
//! has a header, the chunks, and a list of the chunks.

use crate::module::FailureReason;

/// First bytes of a file.
const HEADER: [u8; 4] = *b"VST3";

/// First bytes of the list of chunks.
const LIST: [u8; 4] = *b"List";

/// Id of the chunk with the component's state.
const COMPONENT: [u8; 4] = *b"Comp";

/// Id of the chunk with the controller's state.
const CONTROLLER: [u8; 4] = *b"Cont";

/// Length of a class id as text.
const CLASS_ID_BYTES: usize = 32;

/// Length of the header: its first bytes, a version, the class id and the offset of the list.
const HEADER_BYTES: usize = 4 + 4 + CLASS_ID_BYTES + 8;

/// Maximum number of chunks of a file.
const CHUNKS_MAX: u32 = 128;

/// The parts of a `.vstpreset` file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Preset {
    /// Id of the component's class as text.
    pub(super) class_id: String,
    /// State of the component.
    pub(super) component: Vec<u8>,
    /// State of the controller, if the file has it.
    pub(super) controller: Option<Vec<u8>>,
}

impl Preset {
    /// Reads a `.vstpreset` file. Returns the reason if the file is damaged.
    pub(super) fn from_bytes(bytes: &[u8]) -> Result<Self, FailureReason> {
        Self::read(bytes).ok_or_else(|| "the preset is not a .vstpreset file, or it is damaged".to_owned())
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        if bytes.get(..4)? != HEADER {
            return None;
        }
        let class_id = String::from_utf8(bytes.get(8..8 + CLASS_ID_BYTES)?.to_vec()).ok()?;
        let list = bytes.get(number(bytes, 8 + CLASS_ID_BYTES)?..)?;
        if list.get(..4)? != LIST {
            return None;
        }
        let count = u32::from_le_bytes(list.get(4..8)?.try_into().ok()?);
        let chunk = |id: [u8; 4]| -> Option<Option<Vec<u8>>> {
            for index in 0..count.min(CHUNKS_MAX) as usize {
                let entry = list.get(8 + index * 20..28 + index * 20)?;
                if entry[..4] == id {
                    let start = number(entry, 4)?;
                    let end = start.checked_add(number(entry, 12)?)?;
                    return Some(Some(bytes.get(start..end)?.to_vec()));
                }
            }
            Some(None)
        };
        Some(Self { class_id, component: chunk(COMPONENT)??, controller: chunk(CONTROLLER)? })
    }

    /// Returns the bytes of the `.vstpreset` file.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut class_id = [b'0'; CLASS_ID_BYTES];
        for (byte, digit) in class_id.iter_mut().zip(self.class_id.bytes()) {
            *byte = digit;
        }
        let chunks: Vec<([u8; 4], &[u8])> = [(COMPONENT, self.component.as_slice())]
            .into_iter()
            .chain(self.controller.as_deref().map(|controller| (CONTROLLER, controller)))
            .collect();
        let content_bytes = chunks.iter().map(|(_, chunk)| chunk.len()).sum::<usize>();
        let mut bytes = HEADER.to_vec();
        bytes.extend(1_u32.to_le_bytes());
        bytes.extend(class_id);
        bytes.extend(((HEADER_BYTES + content_bytes) as u64).to_le_bytes());
        chunks.iter().for_each(|(_, chunk)| bytes.extend(*chunk));
        bytes.extend(LIST);
        bytes.extend((chunks.len() as u32).to_le_bytes());
        let mut offset = HEADER_BYTES as u64;
        for (id, chunk) in chunks {
            bytes.extend(id);
            bytes.extend(offset.to_le_bytes());
            bytes.extend((chunk.len() as u64).to_le_bytes());
            offset += chunk.len() as u64;
        }
        bytes
    }
}

fn number(bytes: &[u8], position: usize) -> Option<usize> {
    let bytes = bytes.get(position..position + 8)?.try_into().ok()?;
    usize::try_from(u64::from_le_bytes(bytes)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_are_read_as_they_were_written() {
        for controller in [None, Some(Vec::new()), Some(vec![7; 9])] {
            let class_id = "0123456789ABCDEF".repeat(2);
            let preset = Preset { class_id, component: vec![1, 2, 3], controller };
            let bytes = preset.to_bytes();
            assert_eq!(Preset::from_bytes(&bytes), Ok(preset));
            for length in 0..bytes.len() {
                assert!(Preset::from_bytes(&bytes[..length]).is_err(), "{length} bytes");
            }
        }
    }

    #[test]
    fn offsets_beyond_the_file_are_refused() {
        let preset = Preset { class_id: "0".repeat(32), component: vec![1], controller: None };
        let mut list_far_away = preset.to_bytes();
        list_far_away[40..48].copy_from_slice(&[0xFF; 8]);
        assert!(Preset::from_bytes(&list_far_away).is_err());
        let mut chunk_far_away = preset.to_bytes();
        let end = chunk_far_away.len();
        chunk_far_away[end - 16..end - 8].copy_from_slice(&[0xFF; 8]);
        assert!(Preset::from_bytes(&chunk_far_away).is_err());
    }
}
