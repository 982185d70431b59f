/**
 * Editing in the arrangement: the clipboard, copies, splits, menus, the order of tracks and the
 * history.
 */
import type { Page } from '@playwright/test';
import { newSong, openDemo } from '../support/demo';
import { expect, test } from '../support/service';

type Item = { start_tick: number; length_ticks: number; notes: unknown[] };
type Track = { name: string; color: string; items: Item[] };

/** Saves the open song and returns its tracks as the service stores them. */
async function savedTracks(page: Page): Promise<Track[]> {
  const saving = page.waitForResponse((answer) => /\/projects(\/song-\w+)?$/.test(answer.url()) && ['POST', 'PUT'].includes(answer.request().method()));
  await page.keyboard.press('Control+s');
  expect((await saving).ok()).toBe(true);
  return ((await saving).request().postDataJSON() as { tracks: Track[] }).tracks;
}
const starts = (track: Track | undefined): number[] => (track?.items ?? []).map(({ start_tick }) => start_tick).sort((a, b) => a - b);
const trackNames = (page: Page) => page.getByRole('list', { name: 'Tracks', exact: true }).getByRole('listitem').evaluateAll((items) => items.map((item) => item.getAttribute('aria-label')));
const menuItem = (page: Page, name: string | RegExp) => page.getByRole('menuitem', { name });

test('clips and tracks are copied, split, joined, moved and pasted into another song', async ({ page, service }) => {
  await openDemo(page, service);
  await newSong(page);
  const lanes = page.getByLabel('Clips of the tracks');
  await page.getByRole('button', { name: 'Track', exact: true }).click();
  await page.getByRole('button', { name: 'Track', exact: true }).click();
  const box = await lanes.boundingBox();
  if (!box) throw new Error('the lanes are not visible');
  // A double click makes a clip of a bar. The view of an empty song is eight bars long.
  await lanes.dblclick({ position: { x: 4, y: 33 } });
  const [first] = await savedTracks(page);
  expect([starts(first), first?.items[0]?.length_ticks]).toEqual([[0], 3840]);

  // A duplicate starts at the next bar. The clip is split at the playhead, and its parts are joined
  // again.
  await lanes.click({ position: { x: 30, y: 33 } });
  await page.keyboard.press('Control+d');
  await page.keyboard.press('Control+d');
  expect(starts((await savedTracks(page))[0])).toEqual([0, 3840, 7680]);
  await page.keyboard.press('Control+a');
  await page.keyboard.press('Control+j');
  expect((await savedTracks(page))[0]?.items.map(({ length_ticks }) => length_ticks)).toEqual([11_520]);
  await page.keyboard.press('Control+z');

  // Ctrl and a drag copy the clip to the track below.
  const barPx = box.width / 8;
  await page.keyboard.down('Control');
  await page.mouse.move(box.x + 30, box.y + 33);
  await page.mouse.down();
  await page.mouse.move(box.x + 50, box.y + 60, { steps: 2 });
  await page.mouse.move(box.x + 30 + barPx, box.y + 99, { steps: 3 });
  await page.mouse.up();
  await page.keyboard.up('Control');
  expect((await savedTracks(page)).map(starts)).toEqual([[0, 3840, 7680], [3840]]);

  // Opens the menus of a clip and of a track, by the pointer and by keys.
  await lanes.click({ button: 'right', position: { x: 30, y: 33 } });
  await menuItem(page, /^Cut/).click();
  expect((await savedTracks(page)).map(starts)).toEqual([[3840, 7680], [3840]]);
  await lanes.focus();
  await page.keyboard.press('Shift+F10');
  await expect(menuItem(page, /^Cut/)).toBeDisabled();
  await menuItem(page, /^Paste/).click();
  expect(starts((await savedTracks(page))[0])).toEqual([0, 3840, 7680]);
  const headers = page.getByRole('list', { name: 'Tracks', exact: true }).getByRole('listitem');
  await headers.first().click({ button: 'right', position: { x: 60, y: 60 } });
  await menuItem(page, 'Colour').click();
  await page.getByRole('menuitemradio', { name: 'Violet' }).click();
  await headers.first().getByRole('button', { name: /^Name of track/ }).dblclick();
  await page.getByRole('textbox', { name: 'Name of track' }).fill('Lead');
  await page.keyboard.press('Enter');
  const second = (await trackNames(page))[1];

  // Tracks are moved by their headers and by keys.
  await headers.first().getByRole('button', { name: /^Name of track/ }).hover();
  await page.mouse.down();
  await page.mouse.move(box.x - 100, box.y + 60, { steps: 2 });
  await page.mouse.move(box.x - 100, box.y + 90, { steps: 2 });
  await page.mouse.up();
  expect(await trackNames(page)).toEqual([second, 'Track Lead']);
  await page.keyboard.press('Alt+ArrowUp');
  expect(await trackNames(page)).toEqual(['Track Lead', second]);
  expect((await savedTracks(page))[0]).toMatchObject({ name: 'Lead', color: '#a99aea' });

  // The history undoes several edits at once, and redoes them.
  await page.getByRole('button', { name: 'Edit menu' }).click();
  await menuItem(page, 'History').click();
  await page.getByRole('menuitemradio', { name: 'Opened' }).click();
  await expect(headers).toHaveCount(0);
  await page.getByRole('button', { name: 'Edit menu' }).click();
  await menuItem(page, 'History').click();
  await page.getByRole('menuitemradio').first().click();
  expect(await trackNames(page)).toEqual(['Track Lead', second]);

  // The clipboard keeps its content when another song is opened.
  await headers.first().getByRole('button', { name: /^Name of track/ }).click();
  await page.keyboard.press('Control+c');
  await savedTracks(page);
  await newSong(page);
  await page.keyboard.press('Control+v');
  expect((await savedTracks(page)).map((track) => [track.name, starts(track)])).toEqual([['Lead', [0, 3840, 7680]]]);
});
