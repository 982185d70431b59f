/** Makes songs with VST plugins, plays and exports them, and reads the stored documents. */
import { mkdtempSync, readFileSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { largestDifference, readFloatWav } from './audio';
import { recorded, recordMore, recordSound, startRecording, type Recording } from './capture';
import { newSong, openDemo, play } from './demo';
import { expect, type Service } from './service';
import { saveSong, type StoredProject } from './stored';

/** The folder in which Debian's packages install VST2 plugins. */
export const VST2_FOLDER = '/usr/lib/vst';

export const RATE_HZ = 48_000;

/** Level above which a sound counts as started: Nekobi's filter settles before the first note. */
export const ONSET_LEVEL = 1e-3;

/** Scans the plugin folders of the user. */
export async function scan(page: Page, service: Service): Promise<void> {
  expect((await page.request.post(`${service.url}/api/v1/plugins/scan`)).ok()).toBe(true);
}

/** Creates and scans a folder with links to VST2 modules, and returns its path. */
export async function addPluginFolder(page: Page, service: Service, modules: readonly string[]): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'songfoundry-vst-'));
  for (const module of modules) symlinkSync(join(VST2_FOLDER, module), join(folder, module));
  expect((await page.request.post(`${service.url}/api/v1/plugins/dirs`, { data: { path: folder } })).ok()).toBe(true);
  await scan(page, service);
  return folder;
}

/** Chooses Nekobi in the sound browser, for a new track. */
export async function chooseNekobi(page: Page): Promise<void> {
  const search = page.getByRole('combobox', { name: 'Search sounds' });
  await search.fill('nekobi');
  await expect(page.getByRole('option', { name: /^Nekobi/ })).toBeVisible();
  await search.press('ArrowDown');
  await search.press('Enter');
}

/** Starts an empty song, adds a track that plays Nekobi, and draws a note. */
export async function newNekobiSong(page: Page, service: Service): Promise<void> {
  await openDemo(page, service);
  await newSong(page);
  await addNekobiTrack(page);
}

/** Adds a track that plays Nekobi, and draws a note. */
export async function addNekobiTrack(page: Page): Promise<void> {
  await chooseNekobi(page);
  await page.getByLabel('Clips of the tracks').dblclick({ position: { x: 20, y: 30 } });
  await drawNote(page, 60);
  await expect(page.getByRole('listitem', { name: 'Track Nekobi' }).getByRole('img', { name: /^Nekobi: ready/ })).toBeVisible();
}

/** Draws a note into the shown clip. The position is in pixels in the piano roll. */
export async function drawNote(page: Page, x: number, y = 60): Promise<void> {
  await page.getByLabel(/^Notes of /).dblclick({ position: { x, y } });
}

/** Plays the song from its start to its end, and returns the output of the worklet. */
export async function recordSong(page: Page): Promise<Recording> {
  await page.getByRole('button', { name: 'To start' }).click();
  await startRecording(page);
  await play(page);
  await recordSound(page, ONSET_LEVEL);
  await expect(page.getByRole('button', { name: 'Play', pressed: false })).toBeVisible();
  await recordMore(page, RATE_HZ / 2);
  return recorded(page);
}

/** Exports the open song as a WAV file of 32-bit floats, and returns its samples. */
export async function exportSong(page: Page): Promise<ReturnType<typeof readFloatWav>> {
  await page.getByRole('button', { name: 'Export', exact: true }).click();
  await page.getByLabel('Bit depth').selectOption('float32');
  await page.getByRole('button', { name: 'Start export' }).click();
  await expect(page.getByLabel('Receipt')).toBeVisible();
  await expect(page.getByText('Missing from this export')).toHaveCount(0);
  const downloading = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download WAV' }).click();
  const wav = readFloatWav(readFileSync(await (await downloading).path()));
  expect(wav.sampleRateHz).toBe(RATE_HZ);
  await page.keyboard.press('Escape');
  return wav;
}

export function expectEqual(label: string, a: Recording, b: Recording): void {
  const { difference, frames } = largestDifference(a, b, ONSET_LEVEL);
  console.log(`${label}: largest difference ${difference.toExponential(2)} over ${frames} frames`);
  expect(frames).toBeGreaterThan(RATE_HZ);
  expect(difference, `${label}, to the bit`).toBe(0);
}

/** Saves the open song by keyboard, and returns the stored document. */
export async function saveAndReadSong(page: Page, service: Service): Promise<StoredProject> {
  await saveSong(page);
  const list = (await (await page.request.get(`${service.url}/api/v1/projects`)).json()) as { items: { project_id: string }[] };
  const id = list.items.find((entry) => entry.project_id !== 'demo')?.project_id ?? '';
  return (await (await page.request.get(`${service.url}/api/v1/projects/${id}`)).json()) as StoredProject;
}
