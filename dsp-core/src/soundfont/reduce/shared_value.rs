//! Chooses the value of a global zone.

use alloc::collections::BTreeMap;

/// Finds the value for the global zone with which the other zones need the fewest records. `values`
/// are those of the zones, and a zone with the value of the global zone needs no record. Returns
/// the value and the number of records that it saves compared with `default`.
pub(super) fn shared_value<T: Copy + Ord>(values: impl Iterator<Item = T>, default: T) -> (T, usize) {
    let mut counts = BTreeMap::new();
    for value in values {
        *counts.entry(value).or_insert(0_usize) += 1;
    }
    let default_count = counts.get(&default).copied().unwrap_or(0);
    let (most_common, count) = counts.into_iter().max_by_key(|&(_, count)| count).unwrap_or((default, 0));
    if count > default_count + 1 { (most_common, count - default_count - 1) } else { (default, 0) }
}

#[cfg(test)]
mod tests {
    use super::shared_value;

    #[test]
    fn the_most_common_value_is_shared_if_that_saves_records() {
        assert_eq!(shared_value([5, 5, 5, 0].into_iter(), 0), (5, 1));
        assert_eq!(shared_value([5, 5, 0, 0].into_iter(), 0), (0, 0));
        assert_eq!(shared_value([5].into_iter(), 0), (0, 0));
    }
}
