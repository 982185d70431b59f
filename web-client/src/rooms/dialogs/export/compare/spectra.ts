/** The spectra of two files, so that their shapes can be compared. */
import type { Measurements } from '../../../../api/types';

/** Level of the highest band of both spectra in the picture, in dB. */
const TOP_DB = -3;

type Levels = (number | null)[];

/**
 * Returns the levels of the third-octave bands of both files at equal loudness, in decibels. The
 * highest band of both has the level {@link TOP_DB}. Bands that only one file has are null in the
 * other file.
 */
export function comparableSpectra(exported: Measurements, reference: Measurements): [Levels, Levels] {
  const bandCount = Math.max(exported.third_octaves.length, reference.third_octaves.length);
  const levelsOf = ({ lufs, third_octaves }: Measurements): Levels =>
    Array.from({ length: bandCount }, (_, band) => {
      const db = third_octaves[band]?.level_db ?? null;
      return db === null ? null : db - (lufs ?? 0);
    });
  const spectra = [levelsOf(exported), levelsOf(reference)];
  const highest = Math.max(...spectra.flat().map((db) => db ?? -Infinity));
  const [first, second] = spectra.map((levels) => levels.map((db) => (db === null ? null : db - highest + TOP_DB)));
  return [first ?? [], second ?? []];
}
