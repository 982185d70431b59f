/**
 * A VST instrument: its folder is added, it plays a track as in the export, and a track keeps it
 * while the plugin is missing.
 */
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Locator, Page } from '@playwright/test';
import { addUser, logIn, PASSWORD, remoteAddress } from '../support/accounts';
import { largestDifference, peak } from '../support/audio';
import { newSong, openDemo } from '../support/demo';
import { addNekobiTrack, chooseNekobi, drawNote, expectEqual, exportSong, ONSET_LEVEL, recordSong, saveAndReadSong, VST2_FOLDER } from '../support/plugin-song';
import { expect, test, type Service } from '../support/service';
import { trackOf, type StoredProject } from '../support/stored';

/** Nekobi, an instrument of Debian's package dpf-plugins-vst. */
const NEKOBI = '/usr/lib/vst/Nekobi-vst.so';
const NEKOBI_ID = '444E656B';
/** The field `synth_engine` of a track that plays it. */
const NEKOBI_ENGINE = { type: 'vst2', plugin_id: NEKOBI_ID, plugin_version: expect.stringMatching(/^\d/) as unknown };

const header = (page: Page): Locator => page.getByRole('listitem', { name: 'Track Nekobi' });

/** Opens the dialog of plugins from the menu. */
async function openPlugins(page: Page): Promise<Locator> {
  await page.getByRole('button', { name: 'Project menu' }).click();
  await page.getByRole('menuitem', { name: 'Plugins…' }).click();
  return page.getByRole('dialog', { name: 'Plugins' });
}

/** Delays the answers to the page's renders of plugins until the returned function is called. */
async function holdRenders(page: Page): Promise<() => void> {
  let release: () => void = () => undefined;
  const releasePromise = new Promise<void>((resolve) => (release = resolve));
  await page.route('**/plugins/sounds', async (route) => {
    await releasePromise;
    await route.continue();
  });
  return () => release();
}

/** Saves the open song, and returns the instrument of its only track. */
async function savedInstrument(page: Page, service: Service): Promise<unknown> {
  return (await saveAndReadSong(page, service)).tracks[0]?.synth_engine;
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
    await expect(dialog.getByRole('button', { name: 'Scan all again' })).toBeEnabled();
    await screenshots(page, 'plugins-failed');
    await dialog.getByLabel('Time limit of Broken.so').selectOption('2 minutes');
    const scanning = page.waitForRequest((request) => request.url().includes('/plugins/scan?'));
    await dialog.getByRole('button', { name: 'Scan Broken.so again' }).click();
    expect(new URL((await scanning).url()).searchParams.get('max_secs')).toBe('120');
    await expect(dialog.getByText('The scan found 1 instrument and 0 effects.')).toBeVisible();
    await page.keyboard.press('Escape');

    // Favourites have a list of their own.
    await page.getByRole('option', { name: /^Nekobi/ }).hover();
    await page.getByRole('button', { name: 'Nekobi VST2 is a favourite' }).click();
    const filters = page.getByRole('group', { name: 'Kinds of sounds' });
    await filters.getByRole('button', { name: 'Favourites' }).click();
    await expect(page.getByRole('listbox', { name: 'Sounds' }).getByRole('option')).toHaveText([/^Nekobi/]);
    await page.getByLabel('Grouping of plugins').selectOption('By kind');
    await expect(page.getByRole('group', { name: 'Other', exact: true }).getByRole('option')).toHaveCount(1);
    await page.screenshot({ path: 'output/sounds-favourites.png' });
    await page.getByLabel('Grouping of plugins').selectOption('By maker');
    await filters.getByRole('button', { name: 'All' }).click();

    await chooseNekobi(page);
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
    const failureBadge = header(page).getByRole('button', { name: /^Nekobi: rendering failed, and you hear the last sound\. The plugin crashed twice/ });
    await expect(failureBadge).toBeVisible();
    await page.screenshot({ path: 'output/plugins-track-failed.png' });
    await page.unroute('**/plugins/sounds');
    await failureBadge.click();
    await expect(header(page).getByRole('img', { name: /^Nekobi: ready/ })).toBeVisible();

    const recording = await recordSong(page);
    expect(peak(recording.left)).toBeGreaterThan(0.05);
    expectEqual('plugin', recording, await exportSong(page));

    // A frozen track plays a recording of the plugin, and keeps its clips from edits.
    const chooseForTrack = async (command: string): Promise<void> => {
      await page.getByRole('button', { name: 'More for Nekobi' }).click();
      await page.getByRole('menuitem', { name: command }).click();
    };
    await chooseForTrack('Freeze track');
    const frozenBadge = header(page).getByRole('button', { name: /^Nekobi is frozen: you hear a recording/ });
    await expect(frozenBadge).toBeVisible();
    await screenshots(page, 'track-frozen');
    await drawNote(page, 240);
    await expect(page.getByText('Nekobi is frozen. Unfreeze it to edit its clips, instrument and effects.')).toBeVisible();
    await page.getByRole('button', { name: 'Dismiss', exact: true }).click();
    const { synth_engine: engine, items, frozen: sound } = trackOf(await saveAndReadSong(page, service), 'Nekobi');
    expect(sound).toMatchObject({ length_frames: expect.any(Number) as unknown });
    await page.route('**/plugins/sounds', (route) => route.abort());
    await page.reload();
    await expect(frozenBadge).toBeVisible();
    const frozenRecording = await recordSong(page);
    expect(largestDifference(recording, frozenRecording, ONSET_LEVEL).difference, 'the recording sounds like the plugin').toBeLessThan(1e-6);
    expectEqual('a frozen track', frozenRecording, await exportSong(page));
    await page.unroute('**/plugins/sounds');
    await page.getByRole('spinbutton', { name: 'Tempo' }).press('ArrowUp');
    await expect(header(page).getByRole('button', { name: /^Nekobi is frozen at another tempo/ })).toBeVisible();
    await page.getByRole('button', { name: 'Undo' }).click();
    await chooseForTrack('Unfreeze track');
    await expect(header(page).getByRole('img', { name: /^Nekobi: ready/ })).toBeVisible();
    const unfrozen = (await saveAndReadSong(page, service)).tracks[0];
    expect(unfrozen).toMatchObject({ synth_engine: engine, items });
    expect(unfrozen).not.toHaveProperty('frozen');

    expect(await savedInstrument(page, service)).toEqual(NEKOBI_ENGINE);
    rmSync(module);
    const reopenedPanel = await openPlugins(page);
    await reopenedPanel.getByRole('button', { name: 'Scan now' }).click();
    await expect(reopenedPanel.getByText('The scan found 0 instruments and 0 effects.')).toBeVisible();
    await page.keyboard.press('Escape');
    const missing = header(page).getByRole('button', { name: /^Nekobi: missing/ });
    await expect(missing).toBeVisible();
    await page.reload();
    await expect(missing).toBeVisible();
    await page.screenshot({ path: 'output/plugins-missing.png' });
    await header(page).getByRole('button', { name: 'Mute Nekobi' }).click();
    expect(await savedInstrument(page, service)).toEqual(NEKOBI_ENGINE);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

/** Makes an edit, and waits until the service has rendered the track again. */
async function renderedAfter(page: Page, edit: () => Promise<unknown>): Promise<void> {
  const rendering = page.waitForResponse((response) => response.url().endsWith('/plugins/sounds') && response.ok());
  await edit();
  await rendering;
  await expect(header(page).getByRole('img', { name: /^Nekobi: ready/ })).toBeVisible();
}

/** Takes screenshots of the page in both sizes for which it is designed. */
async function screenshots(page: Page, name: string): Promise<void> {
  for (const [width, height] of [[1024, 768], [1440, 900]] as const) {
    await page.setViewportSize({ width, height });
    await page.screenshot({ path: `output/${name}-${width}.png` });
  }
}

/** Replaces the stored song by one that was made with version 0.9 of Nekobi. */
async function storeWithOldVersion(page: Page, service: Service): Promise<void> {
  const song = (await saveAndReadSong(page, service)) as StoredProject & { project_id: string };
  const instrument = song.tracks[0]?.synth_engine as Record<string, unknown>;
  instrument['plugin_version'] = '0.9';
  const address = `${service.url}/api/v1/projects/${song.project_id}`;
  const revision = (await page.request.get(address)).headers()['etag'] ?? '';
  const saveResponse = await page.request.put(address, { data: song, headers: { 'If-Match': revision } });
  expect(saveResponse.ok(), await saveResponse.text()).toBe(true);
}

/** Saves the settings of Nekobi as a preset file, and returns the path of the download. */
async function savedPreset(page: Page): Promise<string> {
  const downloading = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Settings of Nekobi' }).click();
  await page.getByRole('menuitem', { name: 'Save preset file' }).click();
  const download = await downloading;
  expect(download.suggestedFilename()).toBe('Nekobi.fxp');
  return download.path();
}

async function loadPreset(page: Page, path: string): Promise<void> {
  const choosing = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Settings of Nekobi' }).click();
  await page.getByRole('menuitem', { name: 'Load preset file…' }).click();
  await (await choosing).setFiles({ name: 'Nekobi.fxp', mimeType: 'application/octet-stream', buffer: readFileSync(path) });
}

test('parameters of a plugin are set, automated, played, and exported', async ({ page, service }) => {
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
    const soundBefore = await recordSong(page);

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
    const preset = await savedPreset(page);
    const exactText = (await cutoff.getAttribute('aria-valuetext')) ?? '';
    await cutoff.press('Home');
    await expect(cutoff).not.toHaveAttribute('aria-valuetext', exactText);
    await loadPreset(page, preset);
    await expect(cutoff, 'the preset file has the value').toHaveAttribute('aria-valuetext', exactText);
    for (let step = 0; step < 2; step += 1) await page.getByRole('button', { name: 'Undo' }).click();
    await expect(header(page).getByRole('img', { name: /^Nekobi: ready/ })).toBeVisible();
    const soundAfter = await recordSong(page);
    expect(largestDifference(soundBefore, soundAfter, ONSET_LEVEL).difference, 'the cutoff changes the sound').toBeGreaterThan(0.01);

    await cutoff.hover();
    await page.getByRole('button', { name: 'Automate Nekobi cutoff' }).click();
    const lane = page.getByLabel(/^Automation of Nekobi Cutoff/);
    await expect(lane).toBeVisible();
    await renderedAfter(page, () => lane.click({ position: { x: 160, y: 70 } }));
    await expect(page.getByLabel(/^Automation of Nekobi Cutoff: point 2 of 2/)).toBeVisible();
    await screenshots(page, 'plugin-automation');
    const instrument = await savedInstrument(page, service);
    expect(instrument).toMatchObject({ type: 'vst2', plugin_id: NEKOBI_ID, params: {} });

    await storeWithOldVersion(page, service);
    await renderedAfter(page, () => page.reload());
    await page.getByRole('tab', { name: 'Plugin', exact: true }).click();
    const oldVersion = page.getByText(/^Saved with version 0\.9\. The installed version \S+ may sound different\.$/);
    const keepButton = page.getByRole('button', { name: /^Keep \d/ });
    await expect(oldVersion).toBeInViewport({ ratio: 1 });
    await expect(keepButton).toBeInViewport({ ratio: 1 });
    await screenshots(page, 'plugin-version');
    await keepButton.click();
    await expect(oldVersion).toHaveCount(0);
    await page.getByRole('tab', { name: 'Automation' }).click();
    await expect(page.getByLabel(/^Automation of Nekobi Cutoff/)).toBeVisible();
    const automatedSound = await recordSong(page);
    expect(largestDifference(soundAfter, automatedSound, ONSET_LEVEL).difference, 'the automation changes the sound').toBeGreaterThan(0.01);
    expectEqual('an automated instrument', automatedSound, await exportSong(page));
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
