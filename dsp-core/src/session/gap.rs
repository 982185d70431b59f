//! How long a mix may be silent and still sound again by itself.

use alloc::vec;

use super::Mixer;
use super::edge::Destination;

impl Mixer {
    /// Most frames of silence after which what is in the effects may still be heard: their gaps
    /// ([`crate::effects::Effect::gap_frames`]), added up along the longest way through the mix.
    /// Side-chains are ways, too: what they hear may open a gate.
    ///
    /// Delay compensation adds nothing, for what it holds back comes late by as much as the
    /// session. Nor do the shared reverb and chorus, of which nothing comes later than after 70 ms:
    /// less than a render waits in any case.
    pub(super) fn gap_frames(&self) -> usize {
        let strips = &self.desk.strips;
        let mut gaps = vec![0; strips.len()];
        let mut master_gap = 0;
        for &place in &self.desk.order {
            let strip = &strips[place];
            let heard = strip.keys.iter().map(|key| gaps[key.from]).max().unwrap_or(0);
            let inserts = self.sources[place].insert.iter().chain(&strip.insert);
            gaps[place] = heard.max(gaps[place]) + inserts.map(|insert| insert.gap_frames()).sum::<usize>();
            for edge in &strip.edges {
                let gap = gaps[place];
                let fed = match edge.to {
                    Destination::Master => &mut master_gap,
                    Destination::Strip(to) => &mut gaps[to],
                };
                *fed = gap.max(*fed);
            }
        }
        let master = &self.desk.master;
        let heard = master.keys.iter().map(|key| gaps[key.from]).max().unwrap_or(0);
        heard.max(master_gap) + master.insert.gap_frames()
    }
}
