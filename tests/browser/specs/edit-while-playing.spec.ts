/** With instruments rendered by the service, an edit during playback is audible within a bar. */
import { peak } from '../support/audio';
import { recorded, recordedFrames, recordMore, recordSound, startRecording } from '../support/capture';
import { DEMO_TRACKS, countTrackRenders, openDemo, play } from '../support/demo';
import { expect, test } from '../support/service';

test.use({ settings: { SF_INSTRUMENT_SOUND: 'server' } });

const RATE_HZ = 48_000;
/** Length of a bar of the demo song: four quarter notes at 100 BPM. */
const BAR_SECS = 2.4;

test('deleting a playing clip silences it within a bar, and undo restores it', async ({ page, service }) => {
  const trackRenders = countTrackRenders(page);
  await openDemo(page, service);
  await expect.poll(trackRenders).toBe(DEMO_TRACKS);
  await page.getByRole('button', { name: 'Solo Flute' }).click();
  // The verse begins at bar 5. Its clip is selected when the page opens.
  const position = page.getByRole('button', { name: /^Position in bars/ });
  await position.click();
  await page.keyboard.type('5');
  await page.keyboard.press('Enter');
  await startRecording(page);
  await play(page);
  await recordSound(page, 0.01);
  await recordMore(page, BAR_SECS * RATE_HZ);
  const framesBefore = await recordedFrames(page);
  await page.getByRole('button', { name: 'Edit menu' }).click();
  await page.getByRole('menuitem', { name: /^Delete/ }).first().click();
  await recordMore(page, (BAR_SECS + 2) * RATE_HZ);
  const soundWithout = (await recorded(page)).left;
  await page.getByRole('button', { name: 'Undo' }).click();
  await recordMore(page, (BAR_SECS + 2) * RATE_HZ);
  const { left } = await recorded(page);

  expect(peak(left.subarray(0, framesBefore))).toBeGreaterThan(0.01);
  // A bar after the edit, the peak of the reverb tail is below 1/1000.
  expect(peak(soundWithout.subarray(soundWithout.length - RATE_HZ))).toBeLessThan(1e-3);
  expect(peak(left.subarray(left.length - RATE_HZ))).toBeGreaterThan(0.01);
});
