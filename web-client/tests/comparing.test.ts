import { describe, expect, it } from 'vitest';
import type { Measurements } from '../src/api/types';
import { comparableSpectra } from '../src/rooms/dialogs/export/compare/spectra';
import { equalVolumes } from '../src/state/songs/comparing.svelte';

const measurementsOf = (lufs: number | null, levels: (number | null)[]): Measurements => ({
  name: 'file',
  duration_secs: 1,
  sample_rate_hz: 48_000,
  lufs,
  true_peak_db: -1,
  loudness_range_lu: 0,
  spectral_centroid_hz: 1_000,
  third_octaves: levels.map((level_db, band) => ({ center_hz: 25 * 10 ** (band / 10), level_db })),
  warnings: [],
});

describe('the comparison with a reference', () => {
  it('turns the louder file down to the other one', () => {
    expect(equalVolumes({ export: -14, reference: -8 })).toEqual({ export: 1, reference: 10 ** (-6 / 20) });
    expect(equalVolumes({ export: -14, reference: null })).toEqual({ export: 1, reference: 1 });
  });

  it('shows spectra at equal loudness, the highest band of both near the top', () => {
    const [exportSpectrum, otherSpectrum] = comparableSpectra(measurementsOf(-14, [-20, -30]), measurementsOf(-20, [-20, null, -40]));
    expect(exportSpectrum).toEqual([-9, -19, null]);
    expect(otherSpectrum).toEqual([-3, null, -23]);
  });
});
