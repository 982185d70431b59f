/** Unsaved work of several windows, and after a crash of the service. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { newSong, openDemo } from '../support/demo';
import { expect, startService, test } from '../support/service';

const mute = (page: Page) => page.getByRole('button', { name: 'Mute Bass' });
const solo = (page: Page) => page.getByRole('button', { name: 'Solo Flute' });
const trackHeaders = (page: Page) => page.getByRole('listitem', { name: /^Track / });

/** Resolves when the service has stored the next autosave of a page. */
const autosaveResponse = (page: Page) =>
  page.waitForResponse((answer) => answer.request().method() === 'PUT' && answer.url().endsWith('/projects/temp') && answer.ok());
/** Resolves when the page has requested the autosave of its song again. */
const pollResponse = (page: Page) => page.waitForResponse((answer) => answer.url().includes('/projects/temp/revision'));

test('two windows with two songs keep both autosaves', async ({ page, service, context }) => {
  await openDemo(page, service);
  const writtenAutosave = autosaveResponse(page);
  await mute(page).click();
  await writtenAutosave;
  const second = await context.newPage();
  await openDemo(second, service);
  // The first window is open, so its work is not restored in the second one.
  await expect(mute(second)).toHaveAttribute('aria-pressed', 'false');
  await newSong(second);
  await second.getByRole('button', { name: 'Track', exact: true }).click();
  await expect(trackHeaders(second)).toHaveCount(1);
  // A page that is closed sends its work.
  await second.close({ runBeforeUnload: true });
  const autosaves = async (): Promise<number> =>
    ((await (await page.request.get(`${service.url}/api/v1/projects/temp/songs`)).json()) as { items: unknown[] }).items.length;
  await expect.poll(autosaves).toBe(2);
  await pollResponse(page);
  await expect(page.getByText('in another window')).toHaveCount(0);

  await page.reload();
  await expect(mute(page)).toHaveAttribute('aria-pressed', 'true');
  await expect(page.getByText(/unsaved changes to .* were restored/)).toBeVisible();
  await page.getByRole('tab', { name: 'Songs' }).click();
  const unsaved = page.getByRole('list', { name: 'Songs' }).getByRole('listitem').filter({ hasText: 'Not saved' });
  await expect(unsaved).toHaveCount(1);
  await unsaved.getByRole('button', { name: /^Open/ }).click();
  // Other specs use the demo song, so this test does not save it.
  await page.getByRole('button', { name: 'Leave without saving' }).click();
  await expect(trackHeaders(page)).toHaveCount(1);
});

test('a window shows and opens the version of another window with the same song', async ({ page, service, context }) => {
  await openDemo(page, service);
  const second = await context.newPage();
  await openDemo(second, service);
  await solo(second).click();
  const writtenAutosave = autosaveResponse(page);
  await mute(page).click();
  await writtenAutosave;
  await second.bringToFront();
  await second.getByRole('button', { name: 'Open the other window’s version' }).click();
  const dialog = second.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Keep my version' }).click();
  await expect(solo(second)).toHaveAttribute('aria-pressed', 'true');
  // The next autosave of the first window is shown again.
  await page.bringToFront();
  const secondAutosave = autosaveResponse(page);
  await page.getByRole('button', { name: 'Mute Flute' }).click();
  await secondAutosave;
  await second.bringToFront();
  await second.getByRole('button', { name: 'Open the other window’s version' }).click();
  await dialog.getByRole('button', { name: 'Open the other version' }).click();
  await expect(mute(second)).toHaveAttribute('aria-pressed', 'true');
  await expect(solo(second)).toHaveAttribute('aria-pressed', 'false');
  await second.keyboard.press('Control+z');
  await expect(solo(second)).toHaveAttribute('aria-pressed', 'true');
  // The list of songs of one window shows what the other one saves.
  await second.getByRole('tab', { name: 'Songs' }).click();
  await page.bringToFront();
  await newSong(page);
  await page.getByRole('button', { name: /^Name of the song/ }).click();
  await page.getByRole('textbox', { name: 'Name of the song' }).fill('From the first window');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Control+s');
  await expect(second.getByRole('button', { name: 'Open From the first window' })).toBeVisible();
});

test('work that a killed service did not store is restored from the browser', async ({ context }) => {
  const storage = mkdtempSync(join(tmpdir(), 'songfoundry-browser-'));
  const first = await startService({ SF_STORAGE_DIR: storage });
  let page = await context.newPage();
  await openDemo(page, first);
  await first.kill();
  await mute(page).click();
  const keptMutes = () =>
    page.evaluate(
      () =>
        new Promise<boolean[]>((resolve, reject) => {
          const opening = indexedDB.open('songfoundry');
          opening.onerror = () => reject(opening.error);
          opening.onsuccess = () => {
            const database = opening.result;
            const copiesRequest = database.transaction('unsaved-work').objectStore('unsaved-work').getAll();
            copiesRequest.onsuccess = () => {
              database.close();
              // One record has the song without its tracks, and each track has a record.
              const records = copiesRequest.result as { project?: object; track?: { mute: boolean } }[];
              const isMuted = records.some(({ track }) => track?.mute === true);
              resolve(records.filter(({ project }) => project !== undefined).map(() => isMuted));
            };
          };
        }),
    );
  await expect.poll(keptMutes).toEqual([true]);
  await page.close();
  const second = await startService({ SF_STORAGE_DIR: storage, SF_PORT: String(first.port) });
  try {
    page = await context.newPage();
    await openDemo(page, second);
    await expect(mute(page)).toHaveAttribute('aria-pressed', 'true');
    await expect(page.getByText(/unsaved changes to .* were restored/)).toBeVisible();
    await page.keyboard.press('Control+s');
    await expect(page.getByRole('status', { name: 'Save state' })).toHaveText(/^Saved/);
    // The service has the work now, so the browser keeps no copy.
    await expect.poll(keptMutes).toEqual([]);
  } finally {
    await second.stop();
    rmSync(storage, { recursive: true, force: true });
  }
});
