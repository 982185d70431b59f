//! Caches parsed setup headers. Most streams of a bank have the same few headers, and building the
//! codebooks of a header takes longer than decoding a short stream.

use std::collections::VecDeque;
use std::rc::Rc;

use lewton::header::{SetupHeader, read_header_setup};

use super::super::error::BankError;
use super::super::skipped::BankIssueReason;
use super::failure::Failure;
use super::setup_check;

/// Maximum number of cached headers. A bank with 1,254 streams has 3 different headers.
const CACHED_MAX: usize = 8;

/// Maximum size of a cached header in bytes. libvorbis writes headers of about 4,000 bytes.
const CACHED_MAX_BYTES: usize = 1 << 16;

/// Fixed cost of a header in addition to its codebooks, in codebook entries. It stands for the
/// tables of up to 64 floors (Vorbis I specification, section 4.2.4).
const HEADER_COST: u64 = 1 << 13;

/// Maximum cost of all headers that one call of `Bank::prepare` reads, in codebook entries. Reading
/// them takes a fraction of a second.
const COST_MAX: u64 = 1 << 22;

/// Reads setup headers and caches the most recent ones.
#[derive(Default)]
pub(super) struct SetupCache {
    /// The cached headers. The most recently used header is first.
    setups: VecDeque<CachedSetup>,
    /// Cost of all headers that were parsed so far, in codebook entries.
    cost: u64,
}

/// A parsed setup header and the data it depends on.
struct CachedSetup {
    packet: Vec<u8>,
    block_sizes: (u8, u8),
    header: Rc<SetupHeader>,
}

impl SetupCache {
    /// Returns the setup header of a mono stream, from the cache or parsed from its packet.
    pub(super) fn read(
        &mut self,
        packet: Vec<u8>,
        block_sizes: (u8, u8),
    ) -> Result<Rc<SetupHeader>, Failure> {
        let is_same = |setup: &CachedSetup| setup.block_sizes == block_sizes && setup.packet == packet;
        if let Some(setup) = self.setups.iter().position(is_same).and_then(|index| self.setups.remove(index))
        {
            let header = Rc::clone(&setup.header);
            self.setups.push_front(setup);
            return Ok(header);
        }
        self.cost += HEADER_COST + setup_check::check(&packet)?;
        if self.cost > COST_MAX {
            return Err(Failure::Bank(BankError::TooCostly { cost: self.cost, limit: COST_MAX }));
        }
        let header = read_header_setup(&packet, 1, block_sizes)
            .map_err(|_| BankIssueReason::Vorbis("its setup header is invalid"))?;
        let header = Rc::new(header);
        if packet.len() <= CACHED_MAX_BYTES {
            self.setups.push_front(CachedSetup { packet, block_sizes, header: Rc::clone(&header) });
            self.setups.truncate(CACHED_MAX);
        }
        Ok(header)
    }
}
