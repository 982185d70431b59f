//! The value that a global zone states for most of its zones.

use alloc::collections::BTreeMap;

/// Finds the value that, as a record of the global zone, saves the most records of other zones.
/// Returns it with the number of saved records.
pub(super) fn shared_value<T: Copy + Ord>(values: impl Iterator<Item = T>, default: T) -> (T, usize) {
    let mut counts = BTreeMap::new();
    for value in values {
        *counts.entry(value).or_insert(0_usize) += 1;
    }
    let default_count = counts.get(&default).copied().unwrap_or(0);
    let (common, count) = counts.into_iter().max_by_key(|&(_, count)| count).unwrap_or((default, 0));
    if count > default_count + 1 { (common, count - default_count - 1) } else { (default, 0) }
}

#[cfg(test)]
mod tests {
    use super::shared_value;

    #[test]
    fn the_shared_value_saves_the_most_records() {
        assert_eq!(shared_value([5, 5, 5, 0].into_iter(), 0), (5, 1));
        assert_eq!(shared_value([5, 5, 0, 0].into_iter(), 0), (0, 0));
        assert_eq!(shared_value([5].into_iter(), 0), (0, 0));
    }
}
