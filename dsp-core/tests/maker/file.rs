//! A RIFF file of chunks, whose headers may state a wrong size.

/// A chunk. If `size` is set, the chunk's header states this size in bytes instead of the correct
/// one.
#[derive(Clone)]
pub(crate) struct Chunk {
    pub(crate) id: [u8; 4],
    pub(crate) size: Option<u32>,
    pub(crate) body: Vec<u8>,
}

impl Chunk {
    pub(crate) fn new(id: &[u8; 4], body: Vec<u8>) -> Self {
        Self { id: *id, size: None, body }
    }

    fn write(&self, output: &mut Vec<u8>) {
        output.extend(self.id);
        output.extend(self.size.unwrap_or(self.body.len() as u32).to_le_bytes());
        output.extend(&self.body);
        output.resize(output.len() + self.body.len() % 2, 0);
    }
}

/// A LIST chunk, which contains chunks.
#[derive(Clone)]
pub(crate) struct List {
    pub(crate) kind: [u8; 4],
    pub(crate) chunks: Vec<Chunk>,
}

/// A RIFF file of lists, with its form type.
#[derive(Clone)]
pub(crate) struct File {
    pub(crate) form: [u8; 4],
    pub(crate) lists: Vec<List>,
}

impl File {
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut body = self.form.to_vec();
        for list in &self.lists {
            let mut inner_bytes = list.kind.to_vec();
            list.chunks.iter().for_each(|chunk| chunk.write(&mut inner_bytes));
            Chunk::new(b"LIST", inner_bytes).write(&mut body);
        }
        let mut file = Vec::new();
        Chunk::new(b"RIFF", body).write(&mut file);
        file
    }
}
