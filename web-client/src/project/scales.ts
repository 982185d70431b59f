/** Scales, which the piano roll highlights, and the names of chords. */
import { pitchClassName } from './format';

/** Semitones of a scale above its root. */
type Scale = { id: string; name: string; semitones: readonly number[] };

export const SCALES: readonly Scale[] = [
  { id: 'major', name: 'Major', semitones: [0, 2, 4, 5, 7, 9, 11] },
  { id: 'minor', name: 'Minor', semitones: [0, 2, 3, 5, 7, 8, 10] },
  { id: 'harmonic-minor', name: 'Harmonic minor', semitones: [0, 2, 3, 5, 7, 8, 11] },
  { id: 'melodic-minor', name: 'Melodic minor', semitones: [0, 2, 3, 5, 7, 9, 11] },
  { id: 'dorian', name: 'Dorian', semitones: [0, 2, 3, 5, 7, 9, 10] },
  { id: 'phrygian', name: 'Phrygian', semitones: [0, 1, 3, 5, 7, 8, 10] },
  { id: 'lydian', name: 'Lydian', semitones: [0, 2, 4, 6, 7, 9, 11] },
  { id: 'mixolydian', name: 'Mixolydian', semitones: [0, 2, 4, 5, 7, 9, 10] },
  { id: 'major-pentatonic', name: 'Major pentatonic', semitones: [0, 2, 4, 7, 9] },
  { id: 'minor-pentatonic', name: 'Minor pentatonic', semitones: [0, 3, 5, 7, 10] },
  { id: 'blues', name: 'Blues', semitones: [0, 3, 5, 6, 7, 10] },
];

/** A chosen scale: its root, 0 (C) to 11 (B), and the id of one of `SCALES`; null for none. */
export type ScaleChoice = { root: number; scaleId: string | null };

/** Whether the scale contains a MIDI key; null without a scale. */
export function isInScale({ root, scaleId }: ScaleChoice, key: number): boolean | null {
  const scale = SCALES.find(({ id }) => id === scaleId);
  return scale ? scale.semitones.includes((key - root + 120) % 12) : null;
}

/** Chords by the semitones above their root: the suffixes of their names. */
const CHORDS: readonly [semitones: readonly number[], suffix: string][] = [
  [[0, 4, 7], ''],
  [[0, 3, 7], 'm'],
  [[0, 3, 6], 'dim'],
  [[0, 4, 8], 'aug'],
  [[0, 2, 7], 'sus2'],
  [[0, 5, 7], 'sus4'],
  [[0, 4, 7, 11], 'maj7'],
  [[0, 4, 7, 10], '7'],
  [[0, 3, 7, 10], 'm7'],
  [[0, 3, 7, 11], 'm(maj7)'],
  [[0, 3, 6, 10], 'm7♭5'],
  [[0, 3, 6, 9], 'dim7'],
  [[0, 4, 8, 10], 'aug7'],
  [[0, 5, 7, 10], '7sus4'],
  [[0, 4, 7, 9], '6'],
  [[0, 3, 7, 9], 'm6'],
  [[0, 2, 4, 7], 'add9'],
  [[0, 2, 3, 7], 'm(add9)'],
  [[0, 2, 4, 7, 11], 'maj9'],
  [[0, 2, 4, 7, 10], '9'],
  [[0, 2, 3, 7, 10], 'm9'],
  [[0, 1, 4, 7, 10], '7♭9'],
  [[0, 2, 4, 7, 9], '6/9'],
  [[0, 2, 3, 5, 7, 10], 'm11'],
  [[0, 7], '5'],
];

/**
 * Names the chord of MIDI keys: `Am7`, or `C/E` with another lowest note than the root. If several
 * names fit, prefers the one whose root is lowest. Returns null for keys that form no known chord.
 */
export function chordName(keys: readonly number[]): string | null {
  if (keys.length < 2) return null;
  const lowestKey = keys.reduce((lowest, key) => Math.min(lowest, key), 127);
  const pitchClasses = [...new Set(keys.map((key) => key % 12))];
  const bass = lowestKey % 12;
  const roots = [bass, ...pitchClasses.filter((pitchClass) => pitchClass !== bass)];
  for (const root of roots) {
    const semitones = pitchClasses.map((pitchClass) => (pitchClass - root + 12) % 12).sort((a, b) => a - b);
    const chord = CHORDS.find(([pattern]) => pattern.length === semitones.length && pattern.every((semitone, index) => semitone === semitones[index]));
    if (chord) return `${pitchClassName(root)}${chord[1]}${root === bass ? '' : `/${pitchClassName(bass)}`}`;
  }
  return null;
}
