/** Playing live. */
import { peak } from '../support/audio';
import { recorded, startRecording } from '../support/capture';
import { openDemo } from '../support/demo';
import { expect, test } from '../support/service';

test('a key of the computer keyboard sounds at once', async ({ page, service }) => {
  await openDemo(page, service);
  await startRecording(page);
  await page.keyboard.down('a');
  await page.waitForTimeout(500);
  await page.keyboard.up('a');
  await page.waitForTimeout(500);
  const { left } = await recorded(page);
  expect(peak(left)).toBeGreaterThan(0.01);
});
