/** How decibels lie along a fader: 0 dB at four fifths, the lower half of the range pressed together. */
import { FADER_FLOOR_DB, FADER_TOP_DB } from '../project/model';

/** Fader law as corners of (place 0..1, decibels), straight between them. */
const LAW: readonly (readonly [place: number, db: number])[] = [
  [0, FADER_FLOOR_DB],
  [0.15, -40],
  [0.4, -18],
  [0.6, -8],
  [0.8, 0],
  [1, FADER_TOP_DB],
];

/** The place on the fader, 0..1, of a level in decibels. */
export function placeOfDb(db: number): number {
  for (let i = 1; i < LAW.length; i++) {
    const [lowPlace, lowDb] = LAW[i - 1] as readonly [number, number];
    const [highPlace, highDb] = LAW[i] as readonly [number, number];
    if (db <= highDb) return Math.max(0, lowPlace + ((db - lowDb) / (highDb - lowDb)) * (highPlace - lowPlace));
  }
  return 1;
}

/** The level in decibels at a place on the fader, 0..1. */
export function dbOfPlace(place: number): number {
  for (let i = 1; i < LAW.length; i++) {
    const [lowPlace, lowDb] = LAW[i - 1] as readonly [number, number];
    const [highPlace, highDb] = LAW[i] as readonly [number, number];
    if (place <= highPlace) return lowDb + ((place - lowPlace) / (highPlace - lowPlace)) * (highDb - lowDb);
  }
  return FADER_TOP_DB;
}
