//! Pseudo-random choices.

/// Numbers that follow from a seed (Numerical Recipes' generator).
pub struct Choices(u32);

impl Choices {
    pub(crate) fn new(seed: u32) -> Self {
        Self(seed)
    }

    /// A number below `limit`, which is above 0.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.0 >> 8) as usize % limit
    }

    /// One of these, of which there is at least one.
    pub(crate) fn among<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}
