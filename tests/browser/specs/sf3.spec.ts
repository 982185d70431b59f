/** SF3 banks: the service decodes their samples, and the page plays them. */
import { peak } from '../support/audio';
import { recorded, recordSound, startRecording } from '../support/capture';
import { openDemo } from '../support/demo';
import { downloads } from '../support/downloads';
import { expect, test } from '../support/service';

test.use({ settings: { SF_INSTRUMENT_SOUND: 'client', SF_DEFAULT_SOUNDFONT: 'musescoregenerallite' } });

test('keys play a bank of compressed samples', async ({ page, service }) => {
  const banks = downloads(page);
  await openDemo(page, service);
  await expect.poll(() => banks.length).toBe(1);
  await expect(page.getByText(/^Loading/)).toHaveCount(0);
  await startRecording(page);
  await page.keyboard.down('a');
  await recordSound(page, 0.01);
  await page.keyboard.up('a');
  expect(peak((await recorded(page)).left)).toBeGreaterThan(0.01);
});
