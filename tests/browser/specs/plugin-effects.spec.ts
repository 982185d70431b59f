/**
 * VST effects of a track and of the master: they are chosen, heard as in the export, and kept while
 * the plugin is gone.
 */
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Locator, Page } from '@playwright/test';
import { largestDifference, peak, readFloatWav } from '../support/audio';
import { recorded, recordMore, recordSound, startRecording, type Recording } from '../support/capture';
import { newSong, openDemo, play } from '../support/demo';
import { expect, test, type Service } from '../support/service';

/** Plugins of Debian's packages dpf-plugins-vst and zam-plugins. */
const MODULES = ['Nekobi-vst.so', 'ZamVerb-vst.so', 'ZaMaximX2-vst.so'];
const SYSTEM_FOLDER = '/usr/lib/vst';

const RATE_HZ = 48_000;

/** Level above which a sound counts as started: Nekobi's filter settles before the first note. */
const ONSET_LEVEL = 1e-3;

type StoredEffect = { type: string; plugin_id?: string };
type Stored = { tracks: { effects?: StoredEffect[] }[]; master: { effects?: StoredEffect[] } };

const effectPanel = (page: Page, name: string): Locator => page.getByRole('listitem', { name: new RegExp(`^Effect \\d+: ${name}`) });

async function scan(page: Page, service: Service): Promise<void> {
  expect((await page.request.post(`${service.url}/api/v1/plugins/scan`)).ok()).toBe(true);
}

/** Chooses a VST effect in the dialog, for the channel whose effects the editor shows. */
async function addVstEffect(page: Page, channelName: string, name: string): Promise<void> {
  await page.getByRole('button', { name: `Add an effect to ${channelName}` }).last().click();
  await page.getByRole('menuitem', { name: 'All VST effects…' }).click();
  const dialog = page.getByRole('dialog', { name: `Add a VST effect to ${channelName}` });
  await dialog.getByLabel('Search VST effects').fill(name);
  await dialog.getByLabel('Search VST effects').press('Enter');
  await expect(dialog).toHaveCount(0);
  await expect(effectPanel(page, name)).toContainText('Ready: you hear');
}

/** Plays the song from its start to its end, and returns what was heard. */
async function heard(page: Page): Promise<Recording> {
  await page.getByRole('button', { name: 'To start' }).click();
  await startRecording(page);
  await play(page);
  await recordSound(page, ONSET_LEVEL);
  await expect(page.getByRole('button', { name: 'Play', pressed: false })).toBeVisible();
  await recordMore(page, RATE_HZ / 2);
  return recorded(page);
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

function expectEqual(label: string, a: Recording, b: Recording): void {
  const { difference, frames } = largestDifference(a, b, ONSET_LEVEL);
  console.log(`${label}: largest difference ${difference.toExponential(2)} over ${frames} frames`);
  expect(frames).toBeGreaterThan(RATE_HZ);
  expect(difference, `${label}, to the bit`).toBe(0);
}

async function stored(page: Page, service: Service): Promise<Stored> {
  await page.keyboard.press('Control+s');
  await expect(page.getByRole('status', { name: 'Save state' })).toHaveText(/^Saved/);
  const list = (await (await page.request.get(`${service.url}/api/v1/projects`)).json()) as { items: { project_id: string }[] };
  const id = list.items.find((entry) => entry.project_id !== 'demo')?.project_id ?? '';
  return (await (await page.request.get(`${service.url}/api/v1/projects/${id}`)).json()) as Stored;
}

test('VST effects of a track and of the master are heard as in the export, and kept while they are gone', async ({ page, service }) => {
  const folder = mkdtempSync(join(tmpdir(), 'songfoundry-vst-'));
  const verb = join(folder, 'ZamVerb-vst.so');
  for (const module of MODULES) symlinkSync(join(SYSTEM_FOLDER, module), join(folder, module));
  try {
    expect((await page.request.post(`${service.url}/api/v1/plugins/dirs`, { data: { path: folder } })).ok()).toBe(true);
    await scan(page, service);
    await openDemo(page, service);
    await newSong(page);
    const search = page.getByRole('combobox', { name: 'Search sounds' });
    await search.fill('nekobi');
    await expect(page.getByRole('option', { name: /^Nekobi/ })).toBeVisible();
    await search.press('ArrowDown');
    await search.press('Enter');
    await page.getByLabel('Clips of the tracks').dblclick({ position: { x: 20, y: 30 } });
    await page.getByLabel(/^Notes of /).dblclick({ position: { x: 60, y: 60 } });
    await page.getByLabel(/^Notes of /).dblclick({ position: { x: 180, y: 90 } });
    const track = page.getByRole('listitem', { name: 'Track Nekobi' });
    await expect(track.getByRole('img', { name: /^Nekobi: ready/ })).toBeVisible();
    const dry = await heard(page);

    await page.getByRole('tab', { name: 'Effects' }).click();
    await addVstEffect(page, 'Nekobi', 'ZamVerb');
    await page.screenshot({ path: 'output/plugin-effect.png' });
    await page.getByRole('button', { name: 'Add an effect to Nekobi' }).last().click();
    await page.screenshot({ path: 'output/plugin-effect-menu.png' });
    await page.getByRole('menuitem', { name: 'All VST effects…' }).click();
    await page.getByRole('button', { name: 'ZaMaximX2 VST2 is a favourite' }).click();
    await page.screenshot({ path: 'output/plugin-effect-dialog.png' });
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Add an effect to Nekobi' }).last().click();
    await page.getByRole('menuitem', { name: 'ZaMaximX2' }).click();
    await expect(effectPanel(page, 'ZaMaximX2')).toContainText('Ready: you hear');

    const wet = await heard(page);
    expect(peak(wet.left)).toBeGreaterThan(0.05);
    expect(largestDifference(dry, wet, ONSET_LEVEL).difference, 'the effects are heard').toBeGreaterThan(0.01);
    expectEqual('effects', wet, await exported(page));

    // A parameter of the plugin, by hand and by automation.
    const wetness = effectPanel(page, 'ZamVerb').getByRole('slider', { name: /^ZamVerb wet/i });
    await wetness.focus();
    await page.keyboard.press('End');
    await expect(effectPanel(page, 'ZamVerb')).toContainText('Ready: you hear');
    await page.screenshot({ path: 'output/plugin-effect-parameters.png' });
    await effectPanel(page, 'ZamVerb').getByRole('button', { name: /^Automate .*wet/i }).click();
    await page.screenshot({ path: 'output/plugin-effect-automation.png' });
    await page.getByRole('tab', { name: 'Effects' }).click();
    await expect(effectPanel(page, 'ZamVerb')).toContainText('Ready: you hear');
    const wetter = await heard(page);
    expect(largestDifference(wet, wetter, ONSET_LEVEL).difference, 'the parameter is heard').toBeGreaterThan(0.01);
    expectEqual('an automated effect', wetter, await exported(page));

    // A bypass is heard at once, and the sound is back at once.
    await effectPanel(page, 'ZamVerb').getByRole('switch', { name: 'Use ZamVerb' }).click();
    await expect(effectPanel(page, 'ZamVerb')).toContainText('Bypassed');
    await page.getByRole('button', { name: 'Undo' }).click();

    expect((await stored(page, service)).tracks[0]?.effects?.map(({ type }) => type)).toEqual(['vst2', 'vst2']);
    rmSync(verb);
    await scan(page, service);
    await page.reload();
    await page.getByRole('listitem', { name: 'Track Nekobi' }).click();
    await page.getByRole('tab', { name: 'Effects' }).click();
    await expect(effectPanel(page, 'ZamVerb')).toContainText('Missing');
    await expect(effectPanel(page, 'ZamVerb')).toContainText('no scan of the plugin folders found the plugin');
    await page.screenshot({ path: 'output/plugin-effect-missing.png' });
    symlinkSync(join(SYSTEM_FOLDER, 'ZamVerb-vst.so'), verb);
    await scan(page, service);
    await page.reload();
    await page.getByRole('listitem', { name: 'Track Nekobi' }).click();
    await page.getByRole('tab', { name: 'Effects' }).click();
    await expect(effectPanel(page, 'ZamVerb')).toContainText('Ready: you hear');
    expectEqual('the same effects after the plugin is back', await heard(page), wetter);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
