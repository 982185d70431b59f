/**
 * The export dialog names the parts of the song that an export lacks, and the limiter's gain
 * reduction.
 */
import { openDemo } from '../support/demo';
import { expect, test } from '../support/service';

test('the export dialog names missing parts of the song and where they are', async ({ page, service }) => {
  const address = `${service.url}/api/v1/projects/demo`;
  const storedSong = await page.request.get(address);
  const song = (await storedSong.json()) as { master: Record<string, unknown>; tracks: Record<string, unknown>[] };
  song.master['volume_db'] = 12;
  const flute = song.tracks.find((track) => track['name'] === 'Flute');
  if (!flute) throw new Error('the demo song has a flute');
  flute['synth_engine'] = { ...(flute['synth_engine'] as object), soundfont_id: 'grand-of-ada' };
  flute['effects'] = [
    { id: 'f', type: 'builtin', name: 'fuzz' },
    { id: 'c', type: 'builtin', name: 'compressor', params: { threshold_db: -300 } },
  ];
  const saveResponse = await page.request.put(address, { data: song, headers: { 'If-Match': storedSong.headers()['etag'] ?? '' } });
  expect(saveResponse.status(), await saveResponse.text()).toBe(200);

  await openDemo(page, service);
  await page.getByRole('button', { name: 'Export', exact: true }).click();
  await page.getByRole('button', { name: 'Start export' }).click();
  await expect(page.getByLabel('Receipt')).toBeVisible();
  await expect(page.getByLabel('Receipt')).toContainText(/Limiter\s*\u2212[1-9]\d*\.\d dB at most, for [1-9]\d*\.\d s/);
  const missingParts = page.getByRole('status').filter({ hasText: 'Missing from this export' }).getByRole('listitem');
  await expect(missingParts).toHaveText([
    'Flute, fuzz: there is no built-in effect "fuzz"',
    'Flute, Compressor, threshold_db: -300.0 is outside the range -60 to 0; -60 is used instead',
  ]);
  const warnings = page.getByRole('status', { name: 'Warnings' }).getByRole('listitem');
  await expect(warnings.filter({ hasText: 'The SoundFont `grand-of-ada` is missing' })).toContainText('played instead');
  await page.screenshot({ path: 'output/left-out.png' });
});
