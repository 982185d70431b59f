/** Uploading, playing, replacing and deleting a SoundFont. */
import { newSong, openDemo } from '../support/demo';
import { downloads } from '../support/downloads';
import { expect, test } from '../support/service';

test.use({ settings: { SF_INSTRUMENT_SOUND: 'client' } });

test('a SoundFont is uploaded, played, replaced and deleted', async ({ page, service }) => {
  const banks = downloads(page);
  await openDemo(page, service);
  await newSong(page);
  const reducedBank = await page.request.get(`${service.url}/api/v1/plugins/soundfonts/download/timgm6mb?presets=0:9`);
  const bankBytes = await reducedBank.body();

  const upload = page.getByRole('button', { name: 'Upload a SoundFont' });
  const chooseFile = async (name: string, content: Buffer): Promise<void> => {
    const chooser = page.waitForEvent('filechooser');
    await upload.click();
    await (await chooser).setFiles({ name, mimeType: 'application/octet-stream', buffer: content });
  };
  await chooseFile('broken.sf2', bankBytes.subarray(0, 1000));
  await expect(page.getByText(/No SoundFont was added: .broken\.sf2. cannot be used: .*cut short/)).toBeVisible();
  await chooseFile('My Bells.sf2', bankBytes);
  await expect(page.getByText(/was added: 1 sound\./)).toBeVisible();

  const deleteButton = page.getByRole('button', { name: /^Delete / });
  await expect(deleteButton).toHaveCount(1);
  const group = page.getByRole('group').filter({ has: deleteButton });
  await group.getByRole('option').dblclick();
  await expect.poll(() => banks.some((bank) => bank.presets.includes('0:9'))).toBe(true);
  // A replaced SoundFont is loaded again.
  const downloadsBefore = banks.length;
  await chooseFile('My Bells.sf2', Buffer.concat([bankBytes, Buffer.from('junk\0\0\0\0')]));
  await expect(page.getByText(/replaces your earlier file of the same name/)).toBeVisible();
  await expect.poll(() => banks.length).toBeGreaterThan(downloadsBefore);

  await deleteButton.click();
  const dialog = page.getByRole('dialog', { name: /^Delete / });
  await expect(dialog).toContainText('will play the default SoundFont');
  await dialog.getByRole('button', { name: 'Delete permanently' }).click();
  await expect(deleteButton).toHaveCount(0);
  const catalog = await (await page.request.get(`${service.url}/api/v1/plugins/soundfonts/catalog`)).text();
  expect(catalog).not.toContain('mybells');
});
