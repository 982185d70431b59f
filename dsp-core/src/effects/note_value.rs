//! Note values for what keeps time with the music.

/// Names of the note values, from short to long; T: triplet, D: dotted.
pub(crate) const NOTE_NAMES: &[&str] = &[
    "1/32T", "1/32", "1/16T", "1/32D", "1/16", "1/8T", "1/16D", "1/8", "1/4T", "1/8D", "1/4", "1/2T", "1/4D",
    "1/2", "1/1T", "1/2D", "1/1", "1/1D", "2/1", "4/1",
];

/// Their lengths in quarter notes: a dot adds a half, three notes of a triplet take the time of
/// two.
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

/// Quarter notes of a note value, by its place among [`NOTE_NAMES`].
pub(crate) fn note_beats(place: usize) -> f64 {
    NOTE_BEATS[place.min(NOTE_BEATS.len() - 1)]
}

/// The place of a note value by its name, for defaults.
pub(crate) const fn note_place(name: &str) -> usize {
    let mut place = 0;
    while place < NOTE_NAMES.len() {
        let (a, b) = (NOTE_NAMES[place].as_bytes(), name.as_bytes());
        let mut letter = 0;
        while letter < a.len() && letter < b.len() && a[letter] == b[letter] {
            letter += 1;
        }
        if letter == a.len() && letter == b.len() {
            return place;
        }
        place += 1;
    }
    panic!("no such note value")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_the_lengths() {
        for (place, name) in NOTE_NAMES.iter().enumerate() {
            let plain = name.trim_end_matches(['T', 'D']);
            let (over, under) = plain.split_once('/').unwrap();
            let whole: f64 = over.parse::<f64>().unwrap() / under.parse::<f64>().unwrap();
            let factor = match name.chars().last() {
                Some('T') => 2.0 / 3.0,
                Some('D') => 1.5,
                _ => 1.0,
            };
            assert!((note_beats(place) - 4.0 * whole * factor).abs() < 1e-15, "{name}");
            assert!(place == 0 || note_beats(place) > note_beats(place - 1), "{name}");
            assert_eq!(note_place(name), place);
        }
    }
}
