/**
 * The computer keyboard as a piano: A to ' are white keys, the row above black
 * ones, Z and X go an octave down and up. Keys go by their place, so other
 * layouts than QWERTY play alike.
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

/** Letters to print on the keys, by semitone from the octave's C. */
export const KEY_LETTERS: Readonly<Record<number, string>> = {
  ...Object.fromEntries(Object.entries(OFFSETS).map(([code, offset]) => [offset, code.replace('Key', '')])),
  16: ';',
  17: "'",
};

/** Semitones from the keyboard's C that a key stands for, or null. */
export function semitoneOf(code: string): number | null {
  return OFFSETS[code] ?? null;
}

/** -1 or 1 for the keys that shift the octave, else 0. */
export function octaveShiftOf(code: string): number {
  return code === 'KeyZ' ? -1 : code === 'KeyX' ? 1 : 0;
}
