/** The fader law. 0 dB is at four fifths of the travel; low levels are closer together. */
import { FADER_FLOOR_DB, FADER_TOP_DB } from '../project/model';

/** Points of the fader law: position, 0..1, and level. Levels between are interpolated linearly. */
const LAW: readonly (readonly [position: number, db: number])[] = [
  [0, FADER_FLOOR_DB],
  [0.15, -40],
  [0.4, -18],
  [0.6, -8],
  [0.8, 0],
  [1, FADER_TOP_DB],
];

/** Returns the fader's position, 0..1, for a level in decibels. */
export function positionOfDb(db: number): number {
  for (let i = 1; i < LAW.length; i++) {
    const [lowPosition, lowDb] = LAW[i - 1] as readonly [number, number];
    const [highPosition, highDb] = LAW[i] as readonly [number, number];
    if (db <= highDb) return Math.max(0, lowPosition + ((db - lowDb) / (highDb - lowDb)) * (highPosition - lowPosition));
  }
  return 1;
}

/** Returns the level in decibels for a position of the fader, 0..1. */
export function dbAtPosition(position: number): number {
  for (let i = 1; i < LAW.length; i++) {
    const [lowPosition, lowDb] = LAW[i - 1] as readonly [number, number];
    const [highPosition, highDb] = LAW[i] as readonly [number, number];
    if (position <= highPosition) return lowDb + ((position - lowPosition) / (highPosition - lowPosition)) * (highDb - lowDb);
  }
  return FADER_TOP_DB;
}
