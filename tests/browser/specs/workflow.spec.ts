/** The workflow of a musician: importing a MIDI file, editing, saving and exporting a WAV file. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Page } from '@playwright/test';
import { newSong, openDemo } from '../support/demo';
import { dropFile } from '../support/files';
import { expect, test } from '../support/service';

const SONG = '/usr/share/games/openttd/baseset/openmsx/city_blues_redfarn.mid';
const SONG_TRACKS = 5;
/** A PNG file of one pixel. */
const COVER = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  'base64',
);

const trackHeaders = (page: Page) => page.getByRole('listitem', { name: /^Track / });

test('a MIDI file becomes tracks, and the song is saved, loaded and exported', async ({ page, service }) => {
  await openDemo(page, service);
  await newSong(page);
  await expect(trackHeaders(page)).toHaveCount(0);

  await dropFile(page, 'city_blues_redfarn.mid', readFileSync(SONG));
  await expect(trackHeaders(page)).toHaveCount(SONG_TRACKS);
  await page.keyboard.press('Control+z');
  await expect(trackHeaders(page)).toHaveCount(0);
  await page.keyboard.press('Control+Shift+z');
  await expect(trackHeaders(page)).toHaveCount(SONG_TRACKS);

  await page.keyboard.press('Control+s');
  const saveState = page.getByRole('status', { name: 'Save state' });
  await expect(saveState).toHaveText(/^Saved/);
  await page.reload();
  await expect(trackHeaders(page)).toHaveCount(SONG_TRACKS);

  await page.getByRole('button', { name: 'Export', exact: true }).click();
  await page.getByRole('button', { name: 'Start export' }).click();
  const receipt = page.getByLabel('Receipt');
  await expect(receipt).toBeVisible();
  // The import sets a level at which the limiter does not reduce this song.
  await expect(receipt).not.toContainText('Limiter');
  await expect(page.getByRole('img', { name: /^Loudness over time/ })).toBeVisible();
  const hash = /sha256 ([0-9a-f]{64})/.exec(await receipt.innerText())?.[1];
  const downloading = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download WAV' }).click();
  const download = await downloading;
  expect(download.suggestedFilename()).toMatch(/\.wav$/);
  const wav = readFileSync(await download.path());
  const data = wav.indexOf('data') + 8;
  expect(createHash('sha256').update(wav.subarray(data)).digest('hex')).toBe(hash);

  await page.getByRole('button', { name: 'Export again' }).click();
  await page.getByLabel('Loudness', { exact: true }).selectOption({ label: 'Podcast, \u221216 LUFS' });
  await page.getByLabel('Bit depth').selectOption({ label: '24 bit, dithered' });
  await page.getByRole('button', { name: 'Start export' }).click();
  await expect(receipt).toContainText('\u221216.0 LUFS');
  await expect(receipt).toContainText('24 bit, dithered');

  await page.getByRole('button', { name: 'Export again' }).click();
  const preset = page.getByLabel('Preset', { exact: true });
  await preset.selectOption('Podcast');
  await expect(page.getByLabel('Format')).toHaveValue('mp3');
  await expect(page.getByLabel('Bit depth')).toHaveCount(0);
  await expect(page.getByLabel('Quality')).toHaveValue('rate-192');
  // Changed options belong to no preset, and can be stored as a new preset.
  await page.getByLabel('True peak').fill('-2');
  await page.getByLabel('True peak').press('Tab');
  await expect(preset).toHaveValue('');
  await page.getByRole('button', { name: 'Save preset' }).click();
  await preset.fill('Soft podcast');
  await preset.press('Enter');
  await expect(page.getByRole('button', { name: 'Delete preset' })).toBeVisible();
  await preset.selectOption('Archive');
  await expect(page.getByLabel('Bit depth')).toHaveValue('float32');
  await preset.selectOption('Soft podcast');
  await expect(page.getByLabel('Quality')).toHaveValue('rate-192');
  await expect(page.getByLabel('True peak')).toHaveValue('-2');
  await page.getByText('Tags', { exact: true }).click();
  await page.getByLabel('ISRC').fill('not an ISRC');
  await page.getByRole('button', { name: 'Start export' }).click();
  await expect(page.getByRole('alert')).toContainText('isrc');
  // The dialog has kept the options.
  await expect(page.getByLabel('Quality')).toHaveValue('rate-192');
  await page.getByLabel('Artist').fill('Ada');
  await page.getByLabel('ISRC').fill('GB-A1B-23-00001');
  await page.getByRole('button', { name: 'Start export' }).click();
  await expect(receipt).toContainText('MP3, 48 kHz');
  await expect(receipt).toContainText('correlation');
  const downloadingMp3 = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download MP3' }).click();
  const mp3 = readFileSync(await (await downloadingMp3).path());
  expect(mp3.subarray(0, 3).toString()).toBe('ID3');
  expect(mp3.includes(Buffer.from('GBA1B2300001', 'utf16le')) || mp3.includes('GBA1B2300001')).toBe(true);

  await page.reload();
  await page.getByRole('button', { name: 'Export', exact: true }).click();
  await page.getByText('Earlier exports (3)').click();
  const earlierExports = page.getByRole('list', { name: 'Earlier exports' }).getByRole('listitem');
  await earlierExports.first().getByRole('button').first().click();
  await expect(receipt).toContainText('MP3, 48 kHz');
  await page.getByRole('button', { name: 'Make link' }).click();
  const link = await page.getByLabel('Link', { exact: true }).inputValue();
  const sharedFile = await (await fetch(link)).arrayBuffer();
  expect(Buffer.from(sharedFile).equals(mp3)).toBe(true);
  await page.getByRole('button', { name: 'Export again' }).click();
  await page.getByText('Earlier exports (3)').click();
  await earlierExports.first().getByRole('button', { name: /^Delete the export/ }).click();
  await expect(earlierExports).toHaveCount(2);
});

test('an exported FLAC file has the chosen bars, track and cover', async ({ page, service }) => {
  await openDemo(page, service);
  await page.getByRole('button', { name: 'Export', exact: true }).click();
  await page.getByLabel('Part', { exact: true }).selectOption('Some bars');
  await page.getByLabel('First bar').fill('2');
  await page.getByLabel('Last bar').fill('3');
  await page.getByRole('dialog').getByLabel('Tracks', { exact: true }).selectOption('Some tracks');
  await page.getByRole('button', { name: 'Start export' }).click();
  // Without a track, the export does not start.
  await expect(page.getByRole('dialog').getByLabel('Tracks', { exact: true })).toBeFocused();
  await page.getByRole('group', { name: 'Tracks to export' }).getByRole('checkbox').first().check();
  await page.getByLabel('Format').selectOption('flac');
  await page.getByRole('group', { name: 'Also as' }).getByLabel('MP3').check();
  await page.getByText('Tags', { exact: true }).click();
  const choosing = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Choose a picture' }).click();
  await (await choosing).setFiles({ name: 'cover.png', mimeType: 'image/png', buffer: COVER });
  await expect(page.getByRole('img', { name: 'Cover' })).toBeVisible();
  const requesting = page.waitForRequest(/plugins\/render/);
  await page.getByRole('button', { name: 'Start export' }).click();
  const { project, range, tracks, more_files } = (await requesting).postDataJSON();
  expect([range, tracks]).toEqual([{ start_tick: 3_840, end_tick: 11_520 }, [project.tracks[0].id]]);
  expect(more_files).toMatchObject([{ format: 'mp3', range }]);
  await expect(page.getByRole('radiogroup', { name: 'Exported files' }).getByRole('radio')).toHaveCount(2);
  const downloading = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download FLAC' }).click();
  const flac = readFileSync(await (await downloading).path());
  expect(flac.includes(COVER)).toBe(true);
  // The number of frames is in the last 36 bits before the MD5 sum of the first block.
  const frames = flac.readUInt32BE(22);
  expect(frames / project.sample_rate_hz).toBeCloseTo((8 * 60) / project.tempo_map[0].bpm, 3);
});

test('an export makes a file of each section, and is compared with a reference', async ({ page, service }) => {
  await openDemo(page, service);
  await page.getByRole('button', { name: 'Export', exact: true }).click();
  await page.getByLabel('Part', { exact: true }).selectOption('Each section as a file (6)');
  await page.getByLabel('Format').selectOption('flac');
  await page.getByRole('button', { name: 'Start export' }).click();
  const files = page.getByRole('radiogroup', { name: 'Exported files' }).getByRole('radio');
  await expect(files).toHaveCount(6);
  const length = page.getByLabel('Receipt').locator('dt', { hasText: 'Length' }).locator('+ dd');
  const first = await length.innerText();
  await files.last().check();
  await expect(length).not.toHaveText(first);
  const names: string[] = [];
  let flac = Buffer.alloc(0);
  page.on('download', async (download) => {
    names.push(download.suggestedFilename());
    if (download.suggestedFilename().endsWith('06 Outro.flac')) flac = readFileSync(await download.path());
  });
  await page.getByRole('button', { name: 'Download all' }).click();
  await expect.poll(() => names.length).toBe(6);
  await expect.poll(() => flac.subarray(0, 4).toString()).toBe('fLaC');

  // The reference is the exported file, so both have the same loudness.
  await page.getByLabel('Reference', { exact: true }).setInputFiles({ name: 'mine.flac', mimeType: 'audio/flac', buffer: flac });
  const comparison = page.getByRole('region', { name: 'Comparison with a reference' });
  await expect(comparison.getByRole('img', { name: /^Spectra/ })).toBeVisible();
  await expect(comparison.getByRole('columnheader', { name: 'mine.flac' })).toBeVisible();
  const [exportLoudness, reference] = await comparison.getByRole('row', { name: /^Loudness [\u2212\d]/ }).getByRole('cell').allInnerTexts();
  expect(exportLoudness).toMatch(/LUFS$/);
  expect(reference).toBe(exportLoudness);
  await comparison.getByRole('button', { name: 'Play both at equal loudness' }).click();
  const playerStates = () => page.locator('audio').evaluateAll((players) =>
    players.map((player) => ((player as HTMLAudioElement).muted ? 'muted' : (player as HTMLAudioElement).paused ? 'paused' : 'audible')),
  );
  await expect.poll(playerStates).toEqual(['audible', 'muted']);
  await comparison.getByRole('switch', { name: 'Hear the reference' }).click();
  await expect.poll(playerStates).toEqual(['muted', 'audible']);

  // The mix can be compared without an earlier export.
  await page.getByRole('button', { name: 'Export again' }).click();
  await page.getByLabel('Reference', { exact: true }).setInputFiles({ name: 'other.flac', mimeType: 'audio/flac', buffer: flac });
  await expect(comparison.getByRole('columnheader', { name: 'other.flac' })).toBeVisible();
  await expect(page.getByLabel('Receipt')).toContainText('32-bit float');
});

test('a file of another format is refused in a sentence, and the song stays unchanged', async ({ page, service }) => {
  await openDemo(page, service);
  const countBefore = await trackHeaders(page).count();
  await dropFile(page, 'broken.mid', Buffer.from('MThd but not really'));
  await expect(page.getByRole('alert')).toContainText(/MIDI/);
  await expect(trackHeaders(page)).toHaveCount(countBefore);
});

test('the autosave keeps edits when the tab is closed', async ({ page, service }) => {
  await openDemo(page, service);
  const autosaveResponse = page.waitForResponse(
    (answer) => answer.request().method() === 'PUT' && answer.url().endsWith('/projects/temp') && answer.ok(),
  );
  await page.getByRole('button', { name: 'Mute Bass' }).click();
  await expect(page.getByRole('status', { name: 'Save state' })).toHaveText('Unsaved');
  // A song of this size is too large to be sent while the page closes. A pause in editing sends it.
  await autosaveResponse;
  await page.reload();
  await expect(page.getByRole('button', { name: 'Mute Bass' })).toHaveAttribute('aria-pressed', 'true');
});

test('a save that would overwrite the save of another window opens a dialog', async ({ page, service, context }) => {
  await openDemo(page, service);
  const secondPage = await context.newPage();
  await openDemo(secondPage, service);
  await secondPage.getByRole('button', { name: 'Solo Flute' }).click();
  await secondPage.keyboard.press('Control+s');
  await expect(secondPage.getByRole('status', { name: 'Save state' })).toHaveText(/^Saved/);
  await page.getByRole('button', { name: 'Mute Drums' }).click();
  await page.keyboard.press('Control+s');
  await expect(page.getByRole('dialog')).toBeVisible();
});
