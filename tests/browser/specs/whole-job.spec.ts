/** Whole jobs, as a musician does them: from an empty song to an exported file and back. */
import { readFileSync } from 'node:fs';
import type { Locator, Page } from '@playwright/test';
import { largestDifference, readFloatWav } from '../support/audio';
import { newSong, openDemo } from '../support/demo';
import { dropFile } from '../support/files';
import { openStudio, RATE_HZ } from '../support/microphone';
import { saveAndReadSong } from '../support/plugin-song';
import { expectPlaybackAsRendered } from '../support/rendered';
import { expect, test, type Service } from '../support/service';
import { saveSong } from '../support/stored';

test.use({ settings: { SF_INSTRUMENT_SOUND: 'client' } });

type Point = { tick: number; value: number };
type Clip = { start_tick: number; length_ticks?: number; notes?: { tick: number; pitch: number }[]; take_id?: string };
type Track = { name: string; items: Clip[]; takes?: Clip[]; pan: number; automation?: { target: string; points: Point[] }[] };

/** Ticks of a second in a new song: 960 of a quarter note, at 120 quarter notes a minute. */
const TICKS_PER_SEC = 1_920;

const undo = (page: Page): Locator => page.getByRole('button', { name: 'Undo' });
const trackHeaders = (page: Page): Locator => page.getByRole('listitem', { name: /^Track / });
const storedTracks = async (page: Page, service: Service): Promise<Track[]> => (await saveAndReadSong(page, service)).tracks as unknown as Track[];

/** A MIDI keyboard, as Web MIDI shows it to the page. */
function fakeMidiKeyboard(): void {
  const input: { name: string; onmidimessage?: (event: { data: Uint8Array; timeStamp: number }) => void } = { name: 'Keyboard' };
  const access = { inputs: new Map([['1', input]]), outputs: new Map(), onstatechange: null };
  Object.defineProperty(navigator, 'requestMIDIAccess', { value: () => Promise.resolve(access) });
  Object.assign(globalThis, { sendMidi: (data: number[]) => input.onmidimessage?.({ data: new Uint8Array(data), timeStamp: performance.now() }) });
}

const sendMidi = (page: Page, ...message: number[]): Promise<void> =>
  page.evaluate((data) => (globalThis as unknown as { sendMidi: (data: number[]) => void }).sendMidi(data), message);

/** Waits until playback is in a beat of the bar, counted from 1. */
async function waitForBeat(page: Page, beat: number): Promise<void> {
  const position = page.getByRole('button', { name: /^Position in bars/ });
  await expect.poll(async () => Number((await position.textContent())?.split('.')[1] ?? 0)).toBe(beat);
}

/** Records two notes of the keyboard on a new instrument track, and returns the track's name. */
async function recordKeyboard(page: Page, service: Service): Promise<string> {
  await page.getByRole('button', { name: 'Track', exact: true }).click();
  await page.getByRole('button', { name: 'View menu' }).click();
  await page.getByRole('menuitem', { name: 'Connect MIDI keyboards' }).click();
  const header = (await trackHeaders(page).first().getAttribute('aria-label')) ?? '';
  const name = header.replace(/^Track /, '');
  await page.getByRole('button', { name: `Arm ${name} for recording` }).click();
  await page.getByRole('button', { name: 'Record', exact: true }).click();
  await waitForBeat(page, 2);
  await sendMidi(page, 0x90, 60, 100);
  await waitForBeat(page, 3);
  await sendMidi(page, 0x80, 60, 0);
  await sendMidi(page, 0x90, 67, 80);
  await waitForBeat(page, 4);
  await sendMidi(page, 0x90, 67, 0);
  await page.getByRole('button', { name: 'Stop' }).click();
  const [track] = await storedTracks(page, service);
  expect(track?.items[0]?.notes?.map(({ pitch }) => pitch)).toEqual([60, 67]);
  return name;
}

/** Records passes of the loop from the microphone, and chooses the first take for a beat. */
async function recordTakes(page: Page, service: Service): Promise<void> {
  // On a busy machine, the keyboard was recorded for more than one bar.
  const [instrument] = await storedTracks(page, service);
  const loopSecs = (instrument?.items[0]?.length_ticks ?? 0) / TICKS_PER_SEC;
  expect(loopSecs).toBeGreaterThan(0);
  await page.getByRole('button', { name: 'Transport options' }).click();
  await page.getByRole('menuitem', { name: 'Loop selection' }).click();
  await page.getByRole('button', { name: 'To start' }).click();
  await page.getByRole('button', { name: 'Add another kind of track' }).click();
  await page.getByRole('menuitem', { name: 'Audio track', exact: true }).click();
  await page.getByRole('button', { name: /^Arm Audio .* for recording$/ }).click();
  await expect(page.getByRole('meter', { name: /^Input level/ })).toBeVisible();
  await page.getByRole('button', { name: 'Record', exact: true }).click();
  await expect
    .poll(async () => {
      const uploads = (await (await page.request.get(`${service.url}/api/v1/audio/uploads`)).json()) as { items: { offset_bytes: number }[] };
      return Math.max(0, ...uploads.items.map((upload) => upload.offset_bytes / 4));
    })
    .toBeGreaterThan(2.2 * loopSecs * RATE_HZ);
  await page.getByRole('button', { name: 'Stop' }).click();
  await expect(undo(page)).toHaveAttribute('title', /Record \d takes/);
  const takes = page.getByLabel(/^Takes of Audio .*:/);
  await takes.focus();
  await page.keyboard.press('Home');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Shift+ArrowRight');
  await page.keyboard.press('Enter');
  await expect(undo(page)).toHaveAttribute('title', /Choose Take 1/);
}

/** Draws a note in the first clip, copies the clip, and inserts a change of the tempo. */
async function arrange(page: Page): Promise<void> {
  const lanes = page.getByLabel('Clips of the tracks');
  await page.keyboard.press('Shift+L');
  await page.getByRole('button', { name: 'Show the whole song' }).click();
  await lanes.click({ position: { x: 60, y: 40 } });
  const roll = page.getByLabel(/^Notes of /);
  await page.getByRole('group', { name: 'Piano roll tools' }).getByRole('button', { name: 'Draw tool', exact: true }).click();
  const box = await roll.boundingBox();
  if (!box) throw new Error('the piano roll is not shown');
  await page.mouse.move(box.x + 10, box.y + 60);
  await page.mouse.down();
  await page.mouse.move(box.x + 80, box.y + 60, { steps: 3 });
  await page.mouse.up();
  await expect(undo(page)).toHaveAttribute('title', /note/i);
  await lanes.click({ position: { x: 60, y: 40 } });
  await page.keyboard.press('Control+d');
  await expect(undo(page)).toHaveAttribute('title', /Duplicate/);
  await page.getByRole('button', { name: 'View menu' }).click();
  await page.getByRole('menuitemcheckbox', { name: 'Tempo, time signatures and markers' }).click();
  await page.getByRole('group', { name: 'Tempo', exact: true }).dblclick({ position: { x: 300, y: 10 } });
  await page.keyboard.type('140');
  await page.keyboard.press('Enter');
  await expect(undo(page)).toHaveAttribute('title', /tempo/i);
}

/** Sets the pan of the first track, and automates its volume. */
async function mix(page: Page, name: string): Promise<void> {
  const pan = page.getByRole('list', { name: 'Tracks' }).getByRole('spinbutton', { name: `Pan of ${name}` });
  await pan.focus();
  await page.keyboard.press('ArrowUp');
  await page.getByRole('listitem', { name: `Track ${name}` }).click({ position: { x: 100, y: 4 } });
  await page.getByRole('tab', { name: 'Automation' }).click();
  await page.getByRole('button', { name: /^Add a lane for / }).click();
  await page.getByRole('menuitem', { name: 'Volume', exact: true }).click();
  const volume = page.getByLabel(/^Automation of Channel Volume:/);
  const box = await volume.boundingBox();
  if (!box) throw new Error('the lane is not shown');
  await page.mouse.click(box.x + box.width * 0.2, box.y + box.height * 0.6);
  await expect(volume).toHaveAccessibleName(/point 2 of 2/);
}

/** Exports the song as a 32-bit float WAV file. */
async function exportWav(page: Page): Promise<Buffer> {
  await page.getByRole('button', { name: 'Export', exact: true }).click();
  await page.getByLabel('Preset', { exact: true }).selectOption('Archive');
  await page.getByRole('button', { name: 'Start export' }).click();
  await expect(page.getByLabel('Receipt')).toBeVisible();
  const downloading = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download WAV' }).click();
  const file = readFileSync(await (await downloading).path());
  await page.keyboard.press('Escape');
  return file;
}

test('a song is recorded, comped, arranged, mixed and exported, and plays as the file', async ({ service }) => {
  const { browser } = await openStudio();
  const page = browser.pages()[0] ?? (await browser.newPage());
  await page.addInitScript(fakeMidiKeyboard);
  await openDemo(page, service);
  await newSong(page);
  const name = await recordKeyboard(page, service);
  await recordTakes(page, service);
  await arrange(page);
  await mix(page, name);
  const tracks = await storedTracks(page, service);
  expect(tracks.map(({ items }) => items.length)).toEqual([2, expect.any(Number)]);
  expect(tracks[0]?.items.map(({ notes = [] }) => notes.length)).toEqual([3, 3]);
  expect(tracks[0]?.pan).not.toBe(0);
  expect(tracks[0]?.automation?.[0]).toMatchObject({ target: 'volume_db', points: [{ tick: 0 }, {}] });
  expect(tracks[1]?.takes?.length).toBeGreaterThanOrEqual(3);
  expect(new Set(tracks[1]?.items.map((item) => item.take_id)).size, 'two takes play').toBe(2);
  await page.screenshot({ path: 'output/whole-job-1440.png' });

  const { project_id: id } = (await saveAndReadSong(page, service)) as unknown as { project_id: string };
  const played = await expectPlaybackAsRendered(page, service, id);
  const file = await exportWav(page);
  expect(largestDifference(played, readFloatWav(file)).difference, 'the exported file has what was played').toBe(0);
  await dropFile(page, 'mixdown.wav', file);
  await expect(trackHeaders(page)).toHaveCount(3);
  await expect(undo(page)).toHaveAttribute('title', /Add mixdown.wav/);
  await browser.close();
});

test('edits without a connection are kept, and are saved when the service answers again', async ({ page, service }) => {
  await openDemo(page, service);
  await newSong(page);
  await page.getByRole('button', { name: 'Track', exact: true }).click();
  await saveSong(page);
  const before = await storedTracks(page, service);
  await page.route('**/api/**', (route) => route.abort('connectionrefused'));
  await page.getByRole('button', { name: 'Track', exact: true }).click();
  await page.keyboard.press('Control+s');
  await expect(page.getByRole('status', { name: 'Save state' })).toHaveText('Not saved');
  await page.getByRole('button', { name: `Mute ${before[0]?.name}`, exact: true }).first().click();
  await page.unroute('**/api/**');
  const after = await storedTracks(page, service);
  expect(after).toHaveLength(2);
  expect((after[0] as unknown as { mute: boolean }).mute).toBe(true);
});
