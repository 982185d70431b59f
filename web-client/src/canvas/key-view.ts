/** The rows of the piano roll: converts between MIDI keys and distances from its top. */

/**
 * The visible keys: the key whose row begins at the top, and the height of a row in pixels. The
 * fraction of `topKey` is the part of that key's row that is hidden.
 */
export type KeyView = { topKey: number; rowPx: number };

/** Returns the distance of a key's row from the top of the piano roll, in pixels. */
export function yOfKey(keyView: KeyView, key: number): number {
  return (keyView.topKey - key) * keyView.rowPx;
}

/** Returns the key whose row is `y` pixels below the top of the piano roll. */
export function keyAtY(keyView: KeyView, y: number): number {
  return Math.min(127, Math.max(0, Math.ceil(keyView.topKey - y / keyView.rowPx)));
}

/** Returns the visible keys from the highest to the lowest, in a view of `heightPx` pixels. */
export function visibleKeys(keyView: KeyView, heightPx: number): number[] {
  const highest = keyAtY(keyView, 0);
  const lowest = keyAtY(keyView, heightPx);
  return Array.from({ length: highest - lowest + 1 }, (_, index) => highest - index);
}
