/** How decibels lie along a fader: 0 dB at four fifths, the lower half of the range pressed together. */
import { FADER_FLOOR_DB, FADER_TOP_DB } from '../project/model';

/** Fader law as corners of (place 0..1, decibels), straight between them. */
const LAW: readonly (readonly [position: number, db: number])[] = [
  [0, FADER_FLOOR_DB],
  [0.15, -40],
  [0.4, -18],
  [0.6, -8],
  [0.8, 0],
  [1, FADER_TOP_DB],
];

/** The place on the fader, 0..1, of a level in decibels. */
export function positionOfDb(db: number): number {
  for (let i = 1; i < LAW.length; i++) {
    const [lowPosition, lowDb] = LAW[i - 1] as readonly [number, number];
    const [highPosition, highDb] = LAW[i] as readonly [number, number];
    if (db <= highDb) return Math.max(0, lowPosition + ((db - lowDb) / (highDb - lowDb)) * (highPosition - lowPosition));
  }
  return 1;
}

/** The level in decibels at a place on the fader, 0..1. */
export function dbAtPosition(position: number): number {
  for (let i = 1; i < LAW.length; i++) {
    const [lowPosition, lowDb] = LAW[i - 1] as readonly [number, number];
    const [highPosition, highDb] = LAW[i] as readonly [number, number];
    if (position <= highPosition) return lowDb + ((position - lowPosition) / (highPosition - lowPosition)) * (highDb - lowDb);
  }
  return FADER_TOP_DB;
}
