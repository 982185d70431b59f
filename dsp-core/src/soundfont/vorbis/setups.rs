//! Setup headers that were read: the streams of a bank have one of few, and building its codebooks
//! takes longer than decoding a short stream.

use std::collections::VecDeque;
use std::rc::Rc;

use lewton::header::{SetupHeader, read_header_setup};

use super::super::BankError;
use super::super::skipped::Reason;
use super::{Failure, setup};

/// Headers that are kept. A bank of 1,254 streams has 3.
const KEPT: usize = 8;

/// Largest header that is kept, in bytes; libvorbis writes some 4,000.
const KEPT_MAX_BYTES: usize = 1 << 16;

/// Cost of a header beside its codebooks, in entries: the tables of up to 64 floors.
const HEADER_COST: u64 = 1 << 13;

/// Most that all headers may cost which one preparation reads: a fraction of a second.
const MOST_COST: u64 = 1 << 22;

/// Reads setup headers, each once as long as few others come in between.
#[derive(Default)]
pub(super) struct Setups {
    /// The one used last first.
    kept: VecDeque<Kept>,
    cost: u64,
}

struct Kept {
    packet: Vec<u8>,
    block_sizes: (u8, u8),
    header: Rc<SetupHeader>,
}

impl Setups {
    /// The setup header of a mono stream.
    pub(super) fn read(
        &mut self,
        packet: Vec<u8>,
        block_sizes: (u8, u8),
    ) -> Result<Rc<SetupHeader>, Failure> {
        let is_it = |one: &Kept| one.block_sizes == block_sizes && one.packet == packet;
        if let Some(kept) = self.kept.iter().position(is_it).and_then(|place| self.kept.remove(place)) {
            let header = Rc::clone(&kept.header);
            self.kept.push_front(kept);
            return Ok(header);
        }
        self.cost += HEADER_COST + setup::check(&packet)?;
        if self.cost > MOST_COST {
            return Err(Failure::Bank(BankError::TooCostly { cost: self.cost, limit: MOST_COST }));
        }
        let header = read_header_setup(&packet, 1, block_sizes)
            .map_err(|_| Reason::Vorbis("its headers are damaged"))?;
        let header = Rc::new(header);
        if packet.len() <= KEPT_MAX_BYTES {
            self.kept.push_front(Kept { packet, block_sizes, header: Rc::clone(&header) });
            self.kept.truncate(KEPT);
        }
        Ok(header)
    }
}
