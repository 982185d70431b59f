//! Caches parsed setup headers. The streams of a bank share few of them, and building the codebooks
//! takes longer than decoding a short stream.

use std::collections::VecDeque;
use std::rc::Rc;

use lewton::header::{SetupHeader, read_header_setup};

use super::super::error::BankError;
use super::super::skipped::Reason;
use super::failure::Failure;
use super::setup_check;

/// Maximum number of cached headers. A bank of 1,254 streams has 3.
const CACHED_MAX: usize = 8;

/// Maximum size of a cached header in bytes. libvorbis writes about 4,000.
const CACHED_MAX_BYTES: usize = 1 << 16;

/// Cost of a header besides its codebooks, in codebook entries: the tables of up to 64 floors.
const HEADER_COST: u64 = 1 << 13;

/// Maximum cost of all headers of one preparation: a fraction of a second.
const COST_MAX: u64 = 1 << 22;

/// Reads setup headers and caches the most recent ones.
#[derive(Default)]
pub(super) struct SetupCache {
    /// Headers by last use, the latest first.
    cached: VecDeque<CachedSetup>,
    cost: u64,
}

struct CachedSetup {
    packet: Vec<u8>,
    block_sizes: (u8, u8),
    header: Rc<SetupHeader>,
}

impl SetupCache {
    /// The setup header of a mono stream.
    pub(super) fn read(
        &mut self,
        packet: Vec<u8>,
        block_sizes: (u8, u8),
    ) -> Result<Rc<SetupHeader>, Failure> {
        let is_same = |setup: &CachedSetup| setup.block_sizes == block_sizes && setup.packet == packet;
        if let Some(setup) = self.cached.iter().position(is_same).and_then(|index| self.cached.remove(index))
        {
            let header = Rc::clone(&setup.header);
            self.cached.push_front(setup);
            return Ok(header);
        }
        self.cost += HEADER_COST + setup_check::check(&packet)?;
        if self.cost > COST_MAX {
            return Err(Failure::Bank(BankError::TooCostly { cost: self.cost, limit: COST_MAX }));
        }
        let header = read_header_setup(&packet, 1, block_sizes)
            .map_err(|_| Reason::Vorbis("its headers are damaged"))?;
        let header = Rc::new(header);
        if packet.len() <= CACHED_MAX_BYTES {
            self.cached.push_front(CachedSetup { packet, block_sizes, header: Rc::clone(&header) });
            self.cached.truncate(CACHED_MAX);
        }
        Ok(header)
    }
}
