/** The page loads the presets that a song plays, and other presets only when they are chosen. */
import { peak } from '../support/audio';
import { recorded, recordMore, startRecording } from '../support/capture';
import { openDemo, playToBar } from '../support/demo';
import { downloads } from '../support/downloads';
import { expect, test } from '../support/service';

test.use({ settings: { SF_INSTRUMENT_SOUND: 'client' } });

const RATE_HZ = 48_000;
/** Size of the whole file of the demo song's bank, TimGM6mb. */
const WHOLE_BYTES = 5_969_788;

/** Returns the longest silence of a recording, in seconds. */
function longestSilence(samples: Float32Array): number {
  let longest = 0;
  let length = 0;
  for (const sample of samples) {
    length = Math.abs(sample) < 1e-4 ? length + 1 : 0;
    longest = Math.max(longest, length);
  }
  return longest / RATE_HZ;
}

test('a song loads only its presets, and a new preset is added while the song plays', async ({ page, service }) => {
  const banks = downloads(page);
  await openDemo(page, service);
  await page.getByRole('button', { name: 'Play' }).click();
  await expect.poll(() => page.evaluate(() => window.songfoundry.engine !== null)).toBe(true);
  await expect(page.getByRole('button', { name: 'Play' })).toHaveAttribute('aria-pressed', 'true');
  expect(banks).toHaveLength(1);
  expect(banks[0]?.presets).toHaveLength(6);
  expect(banks[0]?.bytes).toBeLessThan(WHOLE_BYTES / 2);

  await playToBar(page, 2);
  await startRecording(page);
  // The flute's track is selected.
  await page.getByRole('option', { name: /^Glockenspiel/ }).first().dblclick();
  await expect.poll(() => banks.length).toBeGreaterThan(1);
  await recordMore(page, 3 * RATE_HZ);
  const { left } = await recorded(page);
  expect(peak(left)).toBeGreaterThan(0.01);
  expect(longestSilence(left), 'the other tracks continue').toBeLessThan(0.3);
  for (const laterBank of banks.slice(1)) expect(laterBank.presets).toEqual(['0:9']);

  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(page.getByRole('button', { name: 'Redo', exact: true })).toBeEnabled();
  await recordMore(page, RATE_HZ);
  expect(banks.length, 'banks that were loaded before are not loaded again').toBeLessThanOrEqual(3);
});
