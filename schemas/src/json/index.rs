//! An index of the objects and lists in checked JSON, so that a reader can skip a long object or
//! list without reading it.

/// Minimum length of an object or list in the index, in bytes. Shorter objects and lists are read
/// to their end. With this minimum, the index always needs less memory than the text.
const LONG_BYTES: u32 = 2_048;

/// Positions and lengths of the long objects and lists of a text.
#[derive(Debug, Clone)]
pub(super) struct ContainerIndex {
    /// Address of the text. Parts of the text are found by their addresses.
    text_address: usize,
    /// Offset of the first byte and length of each object or list, in the order of the text.
    containers: Vec<(u32, u32)>,
}

impl ContainerIndex {
    /// Reads a text, which must be one value of checked JSON without whitespace.
    pub(super) fn from_text(text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut containers: Vec<(u32, u32)> = Vec::new();
        // Position in `containers` of each object and list that has not ended.
        let mut open_containers: Vec<usize> = Vec::new();
        let mut offset = 0;
        while offset < bytes.len() {
            // No document is longer than 4 GiB. The index of a longer text would be empty, because
            // its outermost object or list does not end within 4 GiB.
            let Ok(offset_32) = u32::try_from(offset) else { break };
            match bytes[offset] {
                b'"' => {
                    offset += string_bytes(&bytes[offset..]);
                    continue;
                }
                b'{' | b'[' => {
                    open_containers.push(containers.len());
                    containers.push((offset_32, 0));
                }
                b'}' | b']' => {
                    let Some(position) = open_containers.pop() else { break };
                    let (start, length) = &mut containers[position];
                    *length = offset_32 - *start + 1;
                    if *length < LONG_BYTES {
                        // All objects and lists inside it are shorter, and have been removed.
                        containers.truncate(position);
                    }
                }
                _ => {}
            }
            offset += 1;
        }
        // Objects and lists that have not ended have no length.
        open_containers.first().inspect(|position| containers.truncate(**position));
        Self { text_address: bytes.as_ptr().addr(), containers }
    }

    /// Returns the length in bytes of the value at the start of `text`, a part of the indexed text.
    pub(super) fn value_bytes(&self, text: &str) -> usize {
        let bytes = text.as_bytes();
        match bytes[0] {
            b'"' => string_bytes(bytes),
            b'{' | b'[' => self.indexed_bytes(bytes).unwrap_or_else(|| container_bytes(bytes)),
            _ => bytes.iter().position(|byte| matches!(byte, b',' | b']' | b'}')).unwrap_or(bytes.len()),
        }
    }

    /// Returns the length of the object or list at the start of `bytes`, if it is in the index.
    fn indexed_bytes(&self, bytes: &[u8]) -> Option<usize> {
        let offset = bytes.as_ptr().addr().checked_sub(self.text_address)?;
        let position = self.containers.binary_search_by_key(&offset, |(start, _)| *start as usize).ok()?;
        self.containers.get(position).map(|(_, length)| *length as usize)
    }
}

/// Returns the length of the object or list at the start of `bytes`.
fn container_bytes(bytes: &[u8]) -> usize {
    let (mut depth, mut offset) = (0_usize, 0);
    while offset < bytes.len() {
        match bytes[offset] {
            b'"' => {
                offset += string_bytes(&bytes[offset..]);
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        offset += 1;
        if depth == 0 {
            break;
        }
    }
    offset
}

/// Returns the length of the string at the start of `bytes`, with its quotes.
fn string_bytes(bytes: &[u8]) -> usize {
    let mut offset = 1;
    while offset < bytes.len() {
        match bytes[offset] {
            b'"' => return offset + 1,
            b'\\' => offset += 2,
            _ => offset += 1,
        }
    }
    bytes.len()
}
