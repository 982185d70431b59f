/** Audio files on tracks, by mouse and keyboard. */
import type { Locator, Page } from '@playwright/test';
import { firstSound, peak } from '../support/audio';
import { recorded, recordMore, recordSound, startRecording } from '../support/capture';
import { newSong, openDemo } from '../support/demo';
import { draggedFiles } from '../support/files';
import { expect, test } from '../support/service';
import { dragFrom, saveAndRead, trackOf, type StoredProject } from '../support/stored';
import { toneWav } from '../support/tone';

// These tests store songs. A setting that differs from the default gives them a separate service.
test.use({ settings: { SF_LOG: 'warn' } });

const RATE_HZ = 44_100;
const FRAMES = 10 * RATE_HZ;
/** Length of a quarter note of the demo song at 100 BPM, in frames. */
const QUARTER = RATE_HZ * 0.6;

type Clip = {
  id: string;
  start_tick: number;
  offset_frames: number;
  length_frames: number;
  gain_db: number;
  fades: { in_frames: number; out_frames: number };
  loop: boolean;
};

const lanes = (page: Page): Locator => page.getByLabel('Clips of the tracks');
const clipsOf = (project: StoredProject): Clip[] => trackOf(project, 'Tone').items as Clip[];
const knob = (page: Page, name: string): Locator => page.getByRole('group', { name: 'Clip', exact: true }).getByRole('slider', { name });

const dropTone = (page: Page, x: number, y: number): Promise<void> => dropFiles(page, { 'Tone.wav': toneWav(RATE_HZ, FRAMES) }, x, y);

/** Drops files on the lanes, at a position in pixels from their top left corner. */
async function dropFiles(page: Page, files: Record<string, Buffer>, x: number, y: number): Promise<void> {
  const box = await lanes(page).boundingBox();
  if (!box) throw new Error('the lanes are not shown');
  const dataTransfer = await draggedFiles(page, files);
  await lanes(page).dispatchEvent('drop', { dataTransfer, clientX: box.x + x, clientY: box.y + y });
}

/** Returns the middle of the lane of the audio track, in pixels from the top of the lanes. */
async function laneY(page: Page): Promise<number> {
  const header = await page.getByRole('listitem', { name: 'Track Tone' }).boundingBox();
  const box = await lanes(page).boundingBox();
  if (!header || !box) throw new Error('the track is not shown');
  return header.y + header.height / 2 - box.y;
}

test('a dropped file becomes a track with a clip, which can be set, copied, moved, looped and split', async ({ page, service }) => {
  await openDemo(page, service);
  await dropTone(page, 100, 20);
  await expect(page.getByRole('listitem', { name: 'Track Tone' })).toBeVisible();
  let storedSong = await saveAndRead(page, service);
  const [first] = clipsOf(storedSong);
  expect(trackOf(storedSong, 'Tone').kind).toBe('audio');
  expect(first).toMatchObject({ offset_frames: 0, length_frames: FRAMES, gain_db: 0, loop: false });
  expect((first?.start_tick ?? 1) % 960).toBe(0);

  await knob(page, 'Clip gain').press('Enter');
  await page.keyboard.type('-6');
  await page.keyboard.press('Enter');
  await knob(page, 'Clip fade in').press('Enter');
  await page.keyboard.type('500 ms');
  await page.keyboard.press('Enter');
  storedSong = await saveAndRead(page, service);
  expect(clipsOf(storedSong)[0]).toMatchObject({ gain_db: -6, fades: { in_frames: RATE_HZ / 2, out_frames: 0 } });

  // A copy of the clip, which lasts 16.7 beats, follows on the next beat.
  const y = await laneY(page);
  await page.keyboard.press('Control+d');
  storedSong = await saveAndRead(page, service);
  const [, copy] = clipsOf(storedSong);
  expect(copy?.start_tick).toBe((first?.start_tick ?? 0) + 17 * 960);
  await page.keyboard.press('Delete');
  await expect.poll(async () => clipsOf(await saveAndRead(page, service)).length).toBe(1);

  // The clip begins at the beat nearest to 100 px. A click on its body selects it, and a key moves
  // it.
  await lanes(page).click({ position: { x: 130, y } });
  await page.keyboard.press('ArrowRight');
  storedSong = await saveAndRead(page, service);
  expect(clipsOf(storedSong)[0]?.start_tick).toBe((first?.start_tick ?? 0) + 240);
  await page.keyboard.press('Control+z');

  await page.getByRole('switch', { name: 'Clip loop' }).click();
  storedSong = await saveAndRead(page, service);
  expect(clipsOf(storedSong)[0]?.loop).toBe(true);
  await page.keyboard.press('Control+z');

  // The clip is split a quarter note after its start.
  const position = page.getByRole('button', { name: /^Position in bars/ });
  const beats = (first?.start_tick ?? 0) / 960 + 1;
  await position.click();
  await page.keyboard.type(`${Math.floor(beats / 4) + 1}.${(beats % 4) + 1}.000`);
  await page.keyboard.press('Enter');
  await lanes(page).click({ position: { x: 130, y } });
  await page.keyboard.press('Control+k');
  storedSong = await saveAndRead(page, service);
  const halves = clipsOf(storedSong);
  expect(halves.map((half) => [half.offset_frames, half.length_frames])).toEqual([
    [0, QUARTER],
    [QUARTER, FRAMES - QUARTER],
  ]);
  expect(halves[1]?.start_tick).toBe((first?.start_tick ?? 0) + 960);
});

test('the audio of a clip is processed by the service, and taken back', async ({ page, service }) => {
  await openDemo(page, service);
  await dropFiles(page, { 'Voice.wav': toneWav(RATE_HZ, FRAMES) }, 0, 20);
  await expect(page.getByRole('listitem', { name: 'Track Voice' })).toBeVisible();
  const processing = page.getByRole('group', { name: 'Processing', exact: true });
  const originalButton = processing.getByRole('button', { name: 'Original' });
  await processing.getByRole('slider', { name: 'Processing pitch in semitones' }).press('Enter');
  await page.keyboard.type('7');
  await page.keyboard.press('Enter');
  await processing.getByRole('slider', { name: 'Processing length' }).press('Enter');
  await page.keyboard.type('50');
  await page.keyboard.press('Enter');
  await processing.getByRole('switch', { name: 'Processing reverse' }).click();
  await processing.getByRole('button', { name: 'Apply' }).click();
  await expect(originalButton).toBeEnabled({ timeout: 20_000 });
  type Processed = Clip & { source: { server_file_id: string }; processing?: { server_file_id: string } };
  const storedSong = async (): Promise<Processed | undefined> => (trackOf(await saveAndRead(page, service), 'Voice').items as Processed[])[0];
  const processedSong = await storedSong();
  expect(processedSong).toMatchObject({
    offset_frames: 0,
    length_frames: FRAMES / 2,
    processing: { start_frame: 0, length_frames: FRAMES, pitch_cents: 700, stretch: 0.5, reverse: true },
  });
  expect(processedSong?.source.server_file_id).not.toBe(processedSong?.processing?.server_file_id);
  await originalButton.click();
  const unprocessed = await storedSong();
  expect(unprocessed).toMatchObject({ length_frames: FRAMES, source: { server_file_id: processedSong?.processing?.server_file_id } });
  expect(unprocessed?.processing).toBeUndefined();
  await page.keyboard.press('Control+z');
  await page.keyboard.press('Control+z');
  const storedBefore = await storedSong();
  expect(storedBefore?.processing, 'one step takes the processing back').toBeUndefined();
});

test('clips are trimmed and faded by their edges, and stay on audio tracks', async ({ page, service }) => {
  await openDemo(page, service);
  await newSong(page);
  await dropTone(page, 0, 20);
  await expect(page.getByRole('listitem', { name: 'Track Tone' })).toBeVisible();
  await page.getByRole('button', { name: 'Show the whole song' }).click();
  const y = await laneY(page);
  const box = await lanes(page).boundingBox();
  if (!box) throw new Error('the lanes are not shown');
  const editor = page.getByRole('region', { name: 'Editor' });
  // The clip is the whole song, and the view is 3 % longer than the song.
  const width = box.width / 1.03;
  const positionOf = (share: number, top: number): [number, number] => [(width * share) / box.width, top / box.height];
  await dragFrom(page, lanes(page), [(width - 3) / box.width, y / box.height], [-width / 2, 0]);
  await expect(editor, 'half of the clip remains').toContainText('00:05.000 long');
  await dragFrom(page, lanes(page), [5 / box.width, y / box.height], [width / 4, 0]);
  await expect(editor).toContainText('from 00:02.500 00:02.500 long');
  await dragFrom(page, lanes(page), positionOf(0.25 + 7 / width, y - 27), [width / 10, 0]);
  await expect(knob(page, 'Clip fade in')).toHaveAttribute('aria-valuetext', /^(9\d\d ms|1\.0\d s)$/);
  await page.keyboard.press('Control+z');
  await expect(knob(page, 'Clip fade in')).toHaveAttribute('aria-valuetext', '0.00 ms');
});

test('a clip is audible from its first frame, at the sample rate of the song', async ({ page, service }) => {
  await openDemo(page, service);
  await newSong(page);
  await dropTone(page, 0, 20);
  await expect(page.getByRole('listitem', { name: 'Track Tone' })).toBeVisible();
  await startRecording(page);
  await page.getByRole('button', { name: 'Play' }).click();
  await recordSound(page, 0);
  await recordMore(page, 2 * 48_000);
  const recording = await recorded(page);
  const start = firstSound(recording);
  const second = recording.left.subarray(start, start + 48_000);
  expect(second.length).toBe(48_000);
  expect(peak(second)).toBeGreaterThan(0.45);
  expect(peak(second)).toBeLessThan(0.55);
  // The tone advances by 0.06 radians in each frame of its file, at 44.1 kHz.
  const crossings = second.reduce((count, value, frame) => count + (frame > 0 && value >= 0 && (second[frame - 1] ?? 0) < 0 ? 1 : 0), 0);
  expect(Math.abs(crossings - (0.06 * RATE_HZ) / (2 * Math.PI))).toBeLessThan(2);
});

test('a recording that arrives during a change of the sample rate is audible', async ({ page, service }) => {
  await openDemo(page, service);
  await newSong(page);
  let release: () => void = () => undefined;
  const releasePromise = new Promise<void>((resolve) => (release = resolve));
  let reportRequest: () => void = () => undefined;
  const samplesRequested = new Promise<void>((resolve) => (reportRequest = resolve));
  await page.route(/\/audio\/[^/]+\/file\?.*sample_rate_hz=48000/, async (route) => {
    if (!route.request().headers()['range']?.startsWith('bytes=0-')) {
      reportRequest();
      await releasePromise;
    }
    await route.continue().catch(() => undefined);
  });
  await dropTone(page, 0, 20);
  await samplesRequested;
  await page.getByRole('button', { name: 'Project menu' }).click();
  await page.getByRole('menuitemradio', { name: '44.1 kHz' }).click();
  await expect.poll(() => page.evaluate(() => window.songfoundry.engine?.context.sampleRate)).toBe(RATE_HZ);
  release();
  await startRecording(page);
  await page.getByRole('button', { name: 'Play' }).click();
  await recordSound(page, 0.45);
  const recording = await recorded(page);
  expect(peak(recording.left)).toBeGreaterThan(0.45);
  await expect(page.getByRole('alert')).toHaveCount(0);
});

test('files of other formats are refused in one sentence and add no track', async ({ page, service }) => {
  await openDemo(page, service);
  const tracks = await page.getByRole('listitem', { name: /^Track / }).count();
  const expectRefusal = (text: string): Promise<void> =>
    expect(page.getByRole('alert').filter({ hasText: text })).toBeVisible();
  await dropFiles(page, { 'empty.wav': Buffer.alloc(0) }, 100, 20);
  await expectRefusal('empty.wav cannot be used: the file is empty.');
  await dropFiles(page, { 'letter.wav': Buffer.from('Dear Sir or Madam, '.repeat(20)) }, 100, 20);
  await expectRefusal('letter.wav cannot be used: it is not a supported kind of audio file.');
  await dropFiles(page, { 'cut.wav': toneWav(RATE_HZ, 100).subarray(0, 30) }, 100, 20);
  await expectRefusal('cut.wav cannot be used: it ends in the middle of its header.');
  await expect(page.getByText('`')).toHaveCount(0);
  await dropFiles(page, { 'picture.png': Buffer.from('PNG'), 'other.wav': Buffer.alloc(0) }, 100, 20);
  await expectRefusal('picture.png is not a MIDI file, an audio file');
  await expect(page.getByRole('listitem', { name: /^Track / })).toHaveCount(tracks);
});
