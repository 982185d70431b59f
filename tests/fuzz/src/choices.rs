//! Pseudo-random choices.

/// Pseudo-random numbers from a seed (the linear congruential generator of "Numerical Recipes").
pub struct Choices(u32);

impl Choices {
    pub(crate) fn new(seed: u32) -> Self {
        Self(seed)
    }

    /// Returns a number below `limit`, which must be above 0.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.0 >> 8) as usize % limit
    }

    /// Returns an element of `choices`, which must not be empty.
    pub(crate) fn among<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len())]
    }
}
