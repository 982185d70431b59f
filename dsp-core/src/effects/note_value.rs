//! Note values for effects that synchronize to the tempo.

/// Names of the note values, from short to long. `T` marks triplets, `D` dotted notes.
pub(crate) const NOTE_NAMES: &[&str] = &[
    "1/32T", "1/32", "1/16T", "1/32D", "1/16", "1/8T", "1/16D", "1/8", "1/4T", "1/8D", "1/4", "1/2T", "1/4D",
    "1/2", "1/1T", "1/2D", "1/1", "1/1D", "2/1", "4/1",
];

/// Lengths of the note values in quarter notes. A dotted note has one and a half times the length
/// of the plain note, a triplet note two thirds.
const NOTE_BEATS: [f64; NOTE_NAMES.len()] = [
    0.25 / 3.0,
    0.125,
    0.5 / 3.0,
    0.1875,
    0.25,
    1.0 / 3.0,
    0.375,
    0.5,
    2.0 / 3.0,
    0.75,
    1.0,
    4.0 / 3.0,
    1.5,
    2.0,
    8.0 / 3.0,
    3.0,
    4.0,
    6.0,
    8.0,
    16.0,
];

/// Converts a parameter's value, an index of [`NOTE_NAMES`], to a length in quarter notes.
pub(crate) fn note_beats(value: f64) -> f64 {
    NOTE_BEATS[(value as usize).min(NOTE_BEATS.len() - 1)]
}

/// Returns the index of a note value in [`NOTE_NAMES`], for the defaults of parameters.
pub(crate) const fn note_index(name: &str) -> usize {
    let mut index = 0;
    while index < NOTE_NAMES.len() {
        let (a, b) = (NOTE_NAMES[index].as_bytes(), name.as_bytes());
        let mut letter = 0;
        while letter < a.len() && letter < b.len() && a[letter] == b[letter] {
            letter += 1;
        }
        if letter == a.len() && letter == b.len() {
            return index;
        }
        index += 1;
    }
    panic!("the note value is not in NOTE_NAMES")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_match_the_names_and_rise() {
        for (index, name) in NOTE_NAMES.iter().enumerate() {
            let plain_name = name.trim_end_matches(['T', 'D']);
            let (numerator, denominator) = plain_name.split_once('/').unwrap();
            let whole_notes: f64 = numerator.parse::<f64>().unwrap() / denominator.parse::<f64>().unwrap();
            let factor = match name.chars().last() {
                Some('T') => 2.0 / 3.0,
                Some('D') => 1.5,
                _ => 1.0,
            };
            assert!(
                (note_beats(index as f64) - 4.0 * whole_notes * factor).abs() < 1e-15,
                "length of {name}"
            );
            assert!(
                index == 0 || note_beats(index as f64) > note_beats(index as f64 - 1.0),
                "{name} is not longer than its predecessor"
            );
            assert_eq!(note_index(name), index, "index of {name}");
        }
    }
}
