/**
 * The computer keyboard as a piano keyboard. The keys from A to ' are white keys, and the row above
 * has the black keys. Z and X shift the octave down and up. The page identifies a computer key by
 * its position, so the notes are the same for all keyboard layouts.
 */
const SEMITONES: Readonly<Record<string, number>> = {
  KeyA: 0,
  KeyW: 1,
  KeyS: 2,
  KeyE: 3,
  KeyD: 4,
  KeyF: 5,
  KeyT: 6,
  KeyG: 7,
  KeyY: 8,
  KeyH: 9,
  KeyU: 10,
  KeyJ: 11,
  KeyK: 12,
  KeyO: 13,
  KeyL: 14,
  KeyP: 15,
  Semicolon: 16,
  Quote: 17,
};

/** Letters on the computer keys, by the semitones that each key is above the octave's C. */
export const KEY_LETTERS: Readonly<Record<number, string>> = {
  ...Object.fromEntries(Object.entries(SEMITONES).map(([code, semitone]) => [semitone, code.replace('Key', '')])),
  16: ';',
  17: "'",
};

/** Returns how many semitones a computer key is above the octave's C; null if it plays no note. */
export function semitoneOf(code: string): number | null {
  return SEMITONES[code] ?? null;
}

/** Returns the number of octaves, -1 or 1, by which a key shifts the octave; 0 for other keys. */
export function octaveShiftOf(code: string): number {
  return code === 'KeyZ' ? -1 : code === 'KeyX' ? 1 : 0;
}
