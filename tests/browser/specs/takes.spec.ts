/** Passes of a loop become takes, of which the user chooses what plays where. */
import type { Page } from '@playwright/test';
import { violationsOf } from '../support/accessibility';
import { openStudio, RATE_HZ } from '../support/microphone';
import { expectPlaybackAsRendered } from '../support/rendered';
import { expect, test, type Service } from '../support/service';
import { saveSong } from '../support/stored';

test.use({ settings: { SF_INSTRUMENT_SOUND: 'client' } });

const BAR = 3840;

type Clip = { id: string; start_tick: number; length_ticks?: number; length_frames?: number; offset_frames?: number; take_id?: string; notes?: { pitch: number }[] };
type StoredTrack = { name: string; items: Clip[]; takes?: Clip[] };

/** Stores a song at 120 BPM with an empty track and a loop over the first bar, as the demo song. */
async function storeSong(page: Page, service: Service, track: object): Promise<void> {
  const address = `${service.url}/api/v1/projects/demo`;
  const answer = await page.request.get(address);
  const song = {
    schema_version: 1,
    project_id: 'demo',
    name: 'Takes',
    sample_rate_hz: RATE_HZ,
    client: { loop: { start_tick: 0, end_tick: BAR, active: true } },
    tracks: [{ id: 'take-track', items: [], ...track }],
  };
  const saved = await page.request.put(address, { data: song, headers: { 'If-Match': answer.headers()['etag'] ?? '' } });
  expect(saved.ok(), await saved.text()).toBe(true);
  await page.goto(service.url);
  await expect(page.getByRole('button', { name: 'Play', exact: true })).toBeEnabled();
}

async function storedTrack(page: Page, service: Service): Promise<StoredTrack> {
  await saveSong(page);
  const song = (await (await page.request.get(`${service.url}/api/v1/projects/demo`)).json()) as { tracks: StoredTrack[] };
  const [track] = song.tracks;
  if (!track) throw new Error('the stored song has no track');
  return track;
}

/** Returns the number and the start of the take of each clip, by ascending start. */
function comp({ items, takes = [] }: StoredTrack): [number, number][] {
  return items
    .toSorted((a, b) => a.start_tick - b.start_tick)
    .map((item) => [takes.findIndex(({ id }) => id === item.take_id) + 1, item.start_tick]);
}

const lanes = (page: Page, name: string) => page.getByLabel(`Takes of ${name}:`, { exact: false });
const undo = (page: Page) => page.getByRole('button', { name: 'Undo' });

/** Returns the distance of a tick from the left edge of the lanes, in a view from the start. */
async function xOf(page: Page, name: string, tick: number): Promise<number> {
  await page.getByRole('button', { name: 'Show the whole song' }).click();
  const width = (await lanes(page, name).boundingBox())?.width ?? 0;
  return (tick / (BAR * 1.03)) * width;
}

test('passes of a microphone become takes; drags, clicks and keys choose what plays', async ({ service }) => {
  const { browser } = await openStudio();
  const page = browser.pages()[0] ?? (await browser.newPage());
  await storeSong(page, service, { name: 'Voice', kind: 'audio' });
  await page.getByRole('button', { name: 'Arm Voice for recording' }).click();
  await page.getByRole('button', { name: 'Record', exact: true }).click();
  // Two bars of two seconds and a part of the third are recorded.
  await expect
    .poll(async () => {
      const uploads = (await (await page.request.get(`${service.url}/api/v1/audio/uploads`)).json()) as { items: { offset_bytes: number }[] };
      return Math.max(0, ...uploads.items.map((upload) => upload.offset_bytes / 4));
    })
    .toBeGreaterThan(4.4 * RATE_HZ);
  await page.getByRole('button', { name: 'Stop' }).click();
  await expect(undo(page)).toHaveAttribute('title', /Record \d takes/);
  const recorded = await storedTrack(page, service);
  const count = recorded.takes?.length ?? 0;
  expect(count).toBeGreaterThanOrEqual(3);
  expect(recorded.takes?.map(({ start_tick: tick }) => tick)).toEqual(Array.from({ length: count }, () => 0));
  // Stop has cut the last pass off, unless it was so late that no part of the next one remained.
  const [[whole = 0] = []] = comp(recorded);
  expect([count - 1, count]).toContain(whole);
  expect(recorded.takes?.[whole - 1]?.length_frames).toBeGreaterThan(1.85 * RATE_HZ);

  // Undo takes the whole recording back, in one step.
  await undo(page).click();
  expect((await storedTrack(page, service)).takes ?? []).toEqual([]);
  await page.getByRole('button', { name: 'Redo' }).click();

  // A drag over the first take lets it play in the second half of the bar.
  const voice = lanes(page, 'Voice');
  await page.screenshot({ path: 'output/takes-1440.png' });
  const [half, end] = [await xOf(page, 'Voice', BAR / 2), await xOf(page, 'Voice', BAR)];
  const box = await voice.boundingBox();
  if (!box) throw new Error('the takes are not shown');
  await page.mouse.move(box.x + half, box.y + 15);
  await page.mouse.down();
  await page.mouse.move(box.x + end, box.y + 15, { steps: 5 });
  await page.mouse.up();
  await expect(undo(page)).toHaveAttribute('title', /Choose Take 1/);
  const dragged = await storedTrack(page, service);
  expect(comp(dragged).map(([take]) => take)).toEqual([whole, 1]);
  expect(dragged.takes, 'takes stay as they are').toEqual(recorded.takes);

  // A click on another take lets it play in the piece under the pointer.
  await voice.click({ position: { x: half / 2, y: 15 } });
  expect(comp(await storedTrack(page, service)).map(([take]) => take)).toEqual([1]);
  await undo(page).click();

  // Keys: the first beat of the first take, and silence in the last beat.
  await voice.focus();
  for (let lane = 1; lane < count; lane++) await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Home');
  await page.keyboard.press('Shift+ArrowRight');
  await page.keyboard.press('Enter');
  await page.keyboard.press('End');
  await page.keyboard.press('Shift+ArrowLeft');
  await page.keyboard.press('Delete');
  await expect(undo(page)).toHaveAttribute('title', /Silence takes/);
  const chosen = await storedTrack(page, service);
  expect(comp(chosen).map(([take]) => take)).toEqual([1, whole, 1]);
  await page.screenshot({ path: 'output/takes-comp-1440.png' });

  // The comp plays as it is exported, also after the song was opened again.
  await page.keyboard.press('Shift+L');
  await saveSong(page);
  await expectPlaybackAsRendered(page, service, 'demo');
  await expect(page.getByRole('button', { name: `Show the ${count} takes of Voice` })).toBeVisible();
  await page.keyboard.press('Shift+T');
  await expect(lanes(page, 'Voice')).toBeVisible();
  expect(comp(await storedTrack(page, service))).toEqual(comp(chosen));

  await page.setViewportSize({ width: 1024, height: 768 });
  await page.screenshot({ path: 'output/takes-comp-1024.png' });
  await browser.close();
});

test('passes of keys become takes, and a comp of them plays as it is exported', async ({ page, service }) => {
  await storeSong(page, service, { name: 'Keys', kind: 'instrument', synth_engine: { type: 'soundfont', soundfont_id: 'timgm6mb', bank: 0, program: 0 } });
  await page.getByRole('button', { name: 'Arm Keys for recording' }).click();
  const position = page.getByRole('button', { name: /^Position in bars/ });
  await page.getByRole('button', { name: 'Record', exact: true }).click();
  await expect(page.getByRole('button', { name: 'Play', pressed: true })).toBeVisible();
  // Notes of the first pass are played in its first half, and those of the second one too.
  const beat = async (): Promise<number> => Number((await position.textContent())?.split('.')[1] ?? 0);
  await expect.poll(beat).toBe(2);
  await page.keyboard.press('a', { delay: 50 });
  await expect.poll(beat).toBe(4);
  await expect.poll(beat).toBe(2);
  await page.keyboard.press('d', { delay: 50 });
  await expect(page.getByRole('button', { name: 'Show the 2 takes of Keys' })).toBeVisible();
  await expect.poll(beat).toBe(4);
  await expect.poll(beat).toBe(1);
  await page.getByRole('button', { name: 'Stop' }).click();
  const recorded = await storedTrack(page, service);
  expect(recorded.takes?.map(({ notes = [] }) => notes.length)).toEqual([1, 1]);
  expect(comp(recorded)).toEqual([[2, 0]]);
  expect(await violationsOf(page), 'axe').toEqual([]);
  await page.getByRole('button', { name: 'Choose the whole of Take 1 of Keys' }).click();
  const chosen = await storedTrack(page, service);
  expect(comp(chosen)).toEqual([[1, 0]]);
  expect(chosen.items[0]?.notes).toEqual(recorded.takes?.[0]?.notes);
  await page.getByRole('button', { name: 'More for Take 2 of Keys' }).click();
  await page.getByRole('menuitem', { name: 'Keep only the comp, delete all takes' }).click();
  const flat = await storedTrack(page, service);
  expect([flat.takes, flat.items.length, flat.items[0]?.take_id]).toEqual([undefined, 1, undefined]);
  await page.keyboard.press('Shift+L');
  await saveSong(page);
  await expectPlaybackAsRendered(page, service, 'demo');
});
