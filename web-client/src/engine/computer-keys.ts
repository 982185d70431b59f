/**
 * The computer keyboard as a piano. A to ' are white keys, the keys above them black ones; Z and X
 * shift by an octave. Keys are identified by position, so all layouts play alike.
 */
const OFFSETS: Readonly<Record<string, number>> = {
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

/** Labels of the keys, by semitone from the octave's C. */
export const KEY_LETTERS: Readonly<Record<number, string>> = {
  ...Object.fromEntries(Object.entries(OFFSETS).map(([code, offset]) => [offset, code.replace('Key', '')])),
  16: ';',
  17: "'",
};

/** Semitones from the octave's C of a computer key; null if it plays no note. */
export function semitoneOf(code: string): number | null {
  return OFFSETS[code] ?? null;
}

/** -1 or 1 for the keys that shift the octave, else 0. */
export function octaveShiftOf(code: string): number {
  return code === 'KeyZ' ? -1 : code === 'KeyX' ? 1 : 0;
}
