/** Playing live keys. */
import { peak } from '../support/audio';
import { recorded, startRecording } from '../support/capture';
import { openDemo } from '../support/demo';
import { expect, test } from '../support/service';

test('a key of the computer keyboard sounds immediately', async ({ page, service }) => {
  await openDemo(page, service);
  await startRecording(page);
  await page.keyboard.down('a');
  await expect.poll(async () => peak((await recorded(page)).left)).toBeGreaterThan(0.01);
  await page.keyboard.up('a');
});
