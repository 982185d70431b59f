/**
 * A VST instrument: its folder is added, it plays a track as in the export, and a track whose
 * plugin is gone keeps it.
 */
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Locator, Page } from '@playwright/test';
import { addUser, logIn, PASSWORD, remoteAddress } from '../support/accounts';
import { largestDifference, peak, readFloatWav } from '../support/audio';
import { recorded, recordMore, recordSound, startRecording } from '../support/capture';
import { newSong, openDemo, play } from '../support/demo';
import { expect, test, type Service } from '../support/service';

/** Nekobi, an instrument of Debian's package dpf-plugins-vst. */
const NEKOBI = '/usr/lib/vst/Nekobi-vst.so';
const NEKOBI_ID = '444E656B';

const RATE_HZ = 48_000;

/** Level above which a sound counts as started: Nekobi's filter settles before the first note. */
const ONSET_LEVEL = 1e-3;

/** The folder in which Debian's packages install VST2 plugins. */
const VST2_FOLDER = '/usr/lib/vst';

type Stored = { tracks: { synth_engine?: { type: string; plugin_id?: string } }[] };

const header = (page: Page): Locator => page.getByRole('listitem', { name: 'Track Nekobi' });

/** Opens the dialog of plugins from the menu. */
async function openPlugins(page: Page): Promise<Locator> {
  await page.getByRole('button', { name: 'Project menu' }).click();
  await page.getByRole('menuitem', { name: 'Plugins…' }).click();
  return page.getByRole('dialog', { name: 'Plugins' });
}

/** Draws a note into the shown clip. `x` is in pixels from the start of the piano roll. */
async function drawNote(page: Page, x: number): Promise<void> {
  await page.getByLabel(/^Notes of /).dblclick({ position: { x, y: 60 } });
}

/** Answers the page's renders of plugins only after the returned function is called. */
async function holdRenders(page: Page): Promise<() => void> {
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  await page.route('**/plugins/sounds', async (route) => {
    await released;
    await route.continue();
  });
  return () => release();
}

/** Exports the open song as a WAV file of 32-bit floats, and returns its samples. */
async function exported(page: Page): Promise<ReturnType<typeof readFloatWav>> {
  await page.getByRole('button', { name: 'Export', exact: true }).click();
  await page.getByLabel('Bit depth').selectOption('float32');
  await page.getByRole('button', { name: 'Start export' }).click();
  await expect(page.getByLabel('Receipt')).toBeVisible();
  await expect(page.getByText('Missing from this export')).toHaveCount(0);
  const downloading = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download WAV' }).click();
  const wav = readFloatWav(readFileSync(await (await downloading).path()));
  await page.keyboard.press('Escape');
  return wav;
}

/** Saves the open song by keyboard, and returns the instrument of its only track. */
async function savedInstrument(page: Page, service: Service): Promise<unknown> {
  await page.keyboard.press('Control+s');
  await expect(page.getByRole('status', { name: 'Save state' })).toHaveText(/^Saved/);
  const list = (await (await page.request.get(`${service.url}/api/v1/projects`)).json()) as { items: { project_id: string }[] };
  const id = list.items.find((entry) => entry.project_id !== 'demo')?.project_id ?? '';
  const project = (await (await page.request.get(`${service.url}/api/v1/projects/${id}`)).json()) as Stored;
  return project.tracks[0]?.synth_engine;
}

test('a plugin is found, plays as in the export, and stays on its track when it is gone', async ({ page, service }) => {
  const folder = mkdtempSync(join(tmpdir(), 'songfoundry-vst-'));
  const module = join(folder, 'Nekobi-vst.so');
  symlinkSync(NEKOBI, module);
  writeFileSync(join(folder, 'Broken.so'), 'not a module');
  try {
    await openDemo(page, service);
    await newSong(page);
    const dialog = await openPlugins(page);
    await expect(dialog.getByRole('heading', { name: 'No plugins yet' })).toBeVisible();
    await page.screenshot({ path: 'output/plugins-empty.png' });
    const path = dialog.getByLabel('Path of a plugin folder');
    await path.fill(join(folder, 'no-such-folder'));
    await dialog.getByRole('button', { name: 'Add folder' }).click();
    await expect(dialog.getByRole('alert')).toContainText('no-such-folder');
    await path.fill(folder);
    await path.press('Enter');
    await expect(dialog.getByText('The scan found 1 instrument and 0 effects.')).toBeVisible();
    await expect(dialog.getByRole('row', { name: /^Nekobi .*VST2/ })).toBeVisible();
    await page.screenshot({ path: 'output/plugins-found.png' });
    await dialog.getByRole('tab', { name: /^Failed 1/ }).click();
    await expect(dialog.getByRole('list', { name: 'Failed plugins' }).getByRole('listitem')).toContainText('Broken.so');
    await expect(dialog.getByRole('button', { name: 'Scan again' })).toBeEnabled();
    await page.screenshot({ path: 'output/plugins-failed.png' });
    await page.keyboard.press('Escape');

    const search = page.getByRole('combobox', { name: 'Search sounds' });
    await search.fill('nekobi');
    await expect(page.getByRole('option', { name: /^Nekobi/ })).toBeVisible();
    await search.press('ArrowDown');
    await search.press('Enter');
    await expect(header(page).getByRole('img', { name: /no notes to render/ })).toBeVisible();
    await page.getByRole('button', { name: 'Undo' }).click();
    await expect(header(page)).toHaveCount(0);
    await page.getByRole('button', { name: 'Redo', exact: true }).click();

    const release = await holdRenders(page);
    await page.getByLabel('Clips of the tracks').dblclick({ position: { x: 20, y: 30 } });
    await drawNote(page, 60);
    await expect(header(page).getByRole('img', { name: /^Nekobi: rendering/ })).toBeVisible();
    await expect(page.getByText('Plugins cannot be played live yet')).toBeVisible();
    await page.screenshot({ path: 'output/plugins-rendering.png' });
    release();
    await expect(header(page).getByRole('img', { name: /^Nekobi: ready/ })).toBeVisible();

    // A render that fails says why, and is repeated by a click.
    await page.route('**/plugins/sounds', (route) =>
      route.fulfill({ status: 502, contentType: 'application/problem+json', body: JSON.stringify({ detail: 'The plugin crashed twice.' }) }),
    );
    await drawNote(page, 180);
    const failed = header(page).getByRole('button', { name: /^Nekobi: rendering failed. The plugin crashed twice/ });
    await expect(failed).toBeVisible();
    await page.screenshot({ path: 'output/plugins-track-failed.png' });
    await page.unroute('**/plugins/sounds');
    await failed.click();
    await expect(header(page).getByRole('img', { name: /^Nekobi: ready/ })).toBeVisible();

    await page.getByRole('button', { name: 'To start' }).click();
    await startRecording(page);
    await play(page);
    await recordSound(page, ONSET_LEVEL);
    await expect(page.getByRole('button', { name: 'Play', pressed: false })).toBeVisible();
    await recordMore(page, RATE_HZ / 2);
    const recording = await recorded(page);
    const file = await exported(page);
    expect(file.sampleRateHz).toBe(RATE_HZ);
    expect(peak(recording.left)).toBeGreaterThan(0.05);
    const { difference, frames } = largestDifference(recording, file, ONSET_LEVEL);
    console.log(`plugin: largest difference ${difference.toExponential(2)} over ${frames} frames`);
    expect(frames).toBeGreaterThan(RATE_HZ);
    expect(difference, 'playback equals the export, to the bit').toBe(0);

    expect(await savedInstrument(page, service)).toEqual({ type: 'vst2', plugin_id: NEKOBI_ID });
    rmSync(module);
    const again = await openPlugins(page);
    await again.getByRole('button', { name: 'Scan now' }).click();
    await expect(again.getByText('The scan found 0 instruments and 0 effects.')).toBeVisible();
    await page.keyboard.press('Escape');
    const missing = header(page).getByRole('button', { name: /^Nekobi: missing/ });
    await expect(missing).toBeVisible();
    await page.reload();
    await expect(missing).toBeVisible();
    await page.screenshot({ path: 'output/plugins-missing.png' });
    await header(page).getByRole('button', { name: 'Mute Nekobi' }).click();
    expect(await savedInstrument(page, service)).toEqual({ type: 'vst2', plugin_id: NEKOBI_ID });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

/** Chooses Nekobi for a new track, and draws a note for it. */
async function addNekobiTrack(page: Page): Promise<void> {
  const search = page.getByRole('combobox', { name: 'Search sounds' });
  await search.fill('nekobi');
  await expect(page.getByRole('option', { name: /^Nekobi/ })).toBeVisible();
  await search.press('ArrowDown');
  await search.press('Enter');
  await page.getByLabel('Clips of the tracks').dblclick({ position: { x: 20, y: 30 } });
  await drawNote(page, 60);
  await expect(header(page).getByRole('img', { name: /^Nekobi: ready/ })).toBeVisible();
}

/** Makes an edit, and waits until the service has rendered the track again. */
async function renderedAfter(page: Page, edit: () => Promise<unknown>): Promise<void> {
  const rendering = page.waitForResponse((response) => response.url().endsWith('/plugins/sounds') && response.ok());
  await edit();
  await rendering;
  await expect(header(page).getByRole('img', { name: /^Nekobi: ready/ })).toBeVisible();
}

/** Plays the song from its start, and returns what is heard. */
async function played(page: Page): Promise<Awaited<ReturnType<typeof recorded>>> {
  await page.getByRole('button', { name: 'To start' }).click();
  await startRecording(page);
  await play(page);
  await recordSound(page, ONSET_LEVEL);
  await expect(page.getByRole('button', { name: 'Play', pressed: false })).toBeVisible();
  await recordMore(page, RATE_HZ / 2);
  return recorded(page);
}

/** Takes screenshots of the page in both sizes for which it is designed. */
async function screenshots(page: Page, name: string): Promise<void> {
  for (const [width, height] of [[1024, 768], [1440, 900]] as const) {
    await page.setViewportSize({ width, height });
    await page.screenshot({ path: `output/${name}-${width}.png` });
  }
}

test('parameters of a plugin are set, automated, heard, and exported', async ({ page, service }) => {
  await openDemo(page, service);
  await newSong(page);
  const dialog = await openPlugins(page);
  await dialog.getByRole('button', { name: `Add the folder ${VST2_FOLDER}`, exact: true }).click();
  await expect(dialog.getByRole('progressbar', { name: 'Scan of the plugin folders' })).toBeVisible();
  await expect(dialog.getByText(/^\d+ of \d+ modules/)).toBeVisible();
  await page.screenshot({ path: 'output/plugins-scanning.png' });
  await expect(dialog.getByText(/^The scan found \d+ instruments and \d+ effects\.$/)).toBeVisible();
  await expect(dialog.getByRole('button', { name: `Add the folder ${VST2_FOLDER}`, exact: true })).toHaveCount(0);
  await screenshots(page, 'plugins-suggested');
  await page.keyboard.press('Escape');
  try {
    await addNekobiTrack(page);
    const before = await played(page);

    await page.getByRole('tab', { name: 'Plugin', exact: true }).click();
    const cutoff = page.getByRole('slider', { name: 'Nekobi cutoff' });
    await expect(page.getByRole('list', { name: 'Parameters of Nekobi' })).toBeVisible();
    const initialText = await cutoff.getAttribute('aria-valuetext');
    await cutoff.focus();
    await cutoff.press('End');
    await expect(cutoff).toHaveAttribute('aria-valuetext', /^100.* %$/);
    // A drag is one step of the history, however many values it sets.
    const box = await cutoff.boundingBox();
    if (!box) throw new Error('the knob is not visible');
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await page.mouse.down();
    for (const offset of [10, 20, 31]) await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2 + offset);
    await page.mouse.up();
    await expect(cutoff).toHaveAttribute('aria-valuetext', /^(≈ )?8\d.* %$/);
    await expect(cutoff, 'the exact text of the plugin follows').toHaveAttribute('aria-valuetext', /^8\d.* %$/);
    await page.getByRole('button', { name: 'Undo' }).click();
    await expect(cutoff).toHaveAttribute('aria-valuetext', /^100.* %$/);
    await page.getByRole('button', { name: 'Undo' }).click();
    await expect(cutoff).toHaveAttribute('aria-valuetext', initialText ?? '');
    await renderedAfter(page, () => page.getByRole('button', { name: 'Redo', exact: true }).click());
    await screenshots(page, 'plugin-parameters');
    const after = await played(page);
    const change = largestDifference(before, after, ONSET_LEVEL);
    expect(change.difference, 'the cutoff is heard').toBeGreaterThan(0.01);

    await cutoff.hover();
    await page.getByRole('button', { name: 'Automate Nekobi cutoff' }).click();
    const lane = page.getByLabel(/^Automation of Nekobi Cutoff/);
    await expect(lane).toBeVisible();
    await renderedAfter(page, () => lane.click({ position: { x: 160, y: 70 } }));
    await expect(page.getByLabel(/^Automation of Nekobi Cutoff: point 2 of 2/)).toBeVisible();
    await screenshots(page, 'plugin-automation');
    const instrument = await savedInstrument(page, service);
    expect(instrument).toMatchObject({ type: 'vst2', plugin_id: NEKOBI_ID, params: {} });

    await renderedAfter(page, () => page.reload());
    await page.getByRole('tab', { name: 'Automation' }).click();
    await expect(page.getByLabel(/^Automation of Nekobi Cutoff/)).toBeVisible();
    const automated = await played(page);
    expect(largestDifference(after, automated, ONSET_LEVEL).difference, 'the automation is heard').toBeGreaterThan(0.01);
    const file = await exported(page);
    const { difference, frames } = largestDifference(automated, file, ONSET_LEVEL);
    expect(frames).toBeGreaterThan(RATE_HZ);
    expect(difference, 'playback equals the export, to the bit').toBe(0);
  } finally {
    await page.request.delete(`${service.url}/api/v1/plugins/dirs`, { params: { path: VST2_FOLDER } });
  }
});

test('a visitor who may not use plugins is told why', async ({ page, service }) => {
  const firstPassword = await addUser(page.request, service, 'ada');
  await page.goto(remoteAddress(service));
  await logIn(page, 'ada', firstPassword);
  await page.getByLabel('Current password').fill(firstPassword);
  await page.getByLabel('New password', { exact: true }).fill(PASSWORD);
  await page.getByLabel('New password again').fill(PASSWORD);
  await page.getByRole('button', { name: 'Set the password' }).click();
  const dialog = await openPlugins(page);
  await expect(dialog).toContainText('You cannot use plugins with this account.');
  await expect(dialog.getByRole('button', { name: 'Add folder' })).toHaveCount(0);
  await page.screenshot({ path: 'output/plugins-refused.png' });
});
