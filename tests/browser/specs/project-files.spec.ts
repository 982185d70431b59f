/** Files that contain a song with its audio: bundles and DAWproject files. */
import { readFileSync } from 'node:fs';
import { DEMO_TRACKS, newSong, openDemo } from '../support/demo';
import { dropFile } from '../support/files';
import { expect, test } from '../support/service';

for (const [command, extension] of [
  ['Save as DAWproject file', '.dawproject'],
  ['Save as bundle with audio', '.songfoundry.zip'],
] as const) {
  test(`a song is saved as a ${extension} file and opened from it`, async ({ page, service }) => {
    await openDemo(page, service);
    const downloading = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Project menu' }).click();
    await page.getByRole('menuitem', { name: command }).click();
    const download = await downloading;
    expect(download.suggestedFilename()).toContain(extension);

    await newSong(page);
    await dropFile(page, `My song${extension}`, readFileSync(await download.path()));
    await expect(page.getByRole('listitem', { name: /^Track / })).toHaveCount(DEMO_TRACKS);
    await expect(page.getByText(`Stored My song${extension} as a song`)).toBeVisible();
  });
}

test('a file that contains no song is refused with the reason', async ({ page, service }) => {
  await openDemo(page, service);
  await dropFile(page, 'holiday.zip', Buffer.from('no archive'));
  await expect(page.getByText(/holiday\.zip cannot be opened: .*not a/)).toBeVisible();
});
