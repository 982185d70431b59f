/**
 * The master's plugins in real time: playback equals the export, and a helper process that dies
 * leaves the sound without the plugin until it is back. The plugins are from Debian's packages
 * dpf-plugins-vst and zam-plugins.
 */
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import type { Locator, Page } from '@playwright/test';
import { largestDifference, peak } from '../support/audio';
import { recorded, recordMore, recordSound, startRecording } from '../support/capture';
import { play } from '../support/demo';
import { addPluginFolder, drawNote, exportSong, newNekobiSong, ONSET_LEVEL, RATE_HZ, recordSong, saveAndReadSong } from '../support/plugin-song';
import { expect, startService, test, type Service } from '../support/service';
import type { StoredProject } from '../support/stored';

/** On a busy machine, blocks wait for their plugins. */
test.use({ settings: { SF_LIVE_PLUGIN_BLOCK_MAX_MS: '10000' } });

/** Largest difference of a sample of live playback and of the export. */
const TOLERANCE = 1e-5;
/** Blocks of the buffer: 1.28 seconds, for which a busy machine may stop a process. */
const BUFFER_BLOCKS = 240;
/** Playbacks until one has no late block. */
const ATTEMPTS = 6;

const effectPanel = (page: Page, name: string): Locator => page.getByRole('listitem', { name: new RegExp(`^Effect \\d+: ${name}`) });
const figures = (page: Page): Locator => page.getByRole('group', { name: 'Live plugins' });

async function addMasterEffects(page: Page, names: readonly string[]): Promise<void> {
  for (const name of names) {
    await page.getByRole('button', { name: 'Add an effect to Master' }).first().click();
    const item = page.getByRole('menuitem', { name, exact: true });
    const allEffectsItem = page.getByRole('menuitem', { name: 'All VST effects…' });
    await expect(allEffectsItem).toBeVisible();
    if (await item.isVisible()) {
      await item.click();
      continue;
    }
    await allEffectsItem.click();
    const dialog = page.getByRole('dialog', { name: /^Add a VST effect to/ });
    await dialog.getByLabel('Search VST effects').fill(name);
    await dialog.getByLabel('Search VST effects').press('Enter');
    await expect(dialog).toHaveCount(0);
  }
}

async function lateBlocks(page: Page): Promise<number> {
  return Number.parseInt(/(\d+) late/.exec((await figures(page).textContent()) ?? '')?.[1] ?? 'NaN', 10);
}

/** Plays the song until a playback had no late block, and returns that playback. */
async function recordInTime(page: Page): ReturnType<typeof recordSong> {
  for (let attempt = 1; ; attempt += 1) {
    const valueBefore = await lateBlocks(page);
    const recording = await recordSong(page);
    // The page shows the count twice a second.
    await page.waitForTimeout(600);
    const lateCount = (await lateBlocks(page)) - valueBefore;
    console.log(`live playback ${attempt}: ${lateCount} late blocks, ${await figures(page).textContent()}`);
    if (lateCount === 0) return recording;
    expect(attempt, 'playbacks with late blocks').toBeLessThan(ATTEMPTS);
  }
}

async function expectLiveEqualsExport(page: Page, label: string): Promise<Awaited<ReturnType<typeof recordSong>>> {
  const live = await recordInTime(page);
  const { difference, frames } = largestDifference(live, await exportSong(page), ONSET_LEVEL);
  console.log(`${label}: largest difference ${difference.toExponential(2)} over ${frames} frames`);
  expect(frames).toBeGreaterThan(RATE_HZ);
  expect(difference, label).toBeLessThan(TOLERANCE);
  return live;
}

/**
 * Replaces the stored song by one whose master automates the parameter of ZamVerb that is set. The
 * values change at frames that begin blocks of both the live chain and the export.
 */
async function storeAutomation(page: Page, service: Service): Promise<void> {
  const song = (await saveAndReadSong(page, service)) as StoredProject & { project_id: string };
  const effects = song.master.effects as { id: string; plugin_id?: string; params?: Record<string, number> }[];
  const verb = effects.find(({ plugin_id: plugin, params }) => plugin !== undefined && params !== undefined);
  const [parameter = ''] = Object.keys(verb?.params ?? {});
  // At 120 quarter notes a minute, 512 ticks are 25 blocks of 512 frames.
  const points = [
    { tick: 0, value: 0.2, curve: 'step' },
    { tick: 512, value: 1, curve: 'step' },
    { tick: 1536, value: 0.4, curve: 'step' },
  ];
  song.master.automation = [{ target: `${verb?.id ?? ''}/${parameter}`, points }];
  const address = `${service.url}/api/v1/projects/${song.project_id}`;
  const revision = (await page.request.get(address)).headers()['etag'] ?? '';
  const saveResponse = await page.request.put(address, { data: song, headers: { 'If-Match': revision } });
  expect(saveResponse.ok(), await saveResponse.text()).toBe(true);
}

test('the plugins of the master play live as in the export', async ({ page, service }) => {
  await page.addInitScript((blocks) => localStorage.setItem('songfoundry.liveBufferBlocks', String(blocks)), BUFFER_BLOCKS);
  const folder = await addPluginFolder(page, service, ['Nekobi-vst.so', 'ZamVerb-vst.so', 'ZaMaximX2-vst.so']);
  try {
    await newNekobiSong(page, service);
    await drawNote(page, 180, 90);
    await addMasterEffects(page, ['Equalizer', 'ZamVerb', 'Limiter', 'ZaMaximX2']);
    await page.getByRole('tab', { name: 'Effects' }).click();
    await page.getByRole('radio', { name: 'Live' }).click();
    for (const name of ['ZamVerb', 'ZaMaximX2']) await expect(effectPanel(page, name)).toContainText('Live: you hear');
    await expect(figures(page)).toContainText('ms');
    await page.screenshot({ path: 'output/live-plugins.png' });
    const first = await expectLiveEqualsExport(page, 'a live chain');
    expect(peak(first.left)).toBeGreaterThan(0.02);

    const wetness = effectPanel(page, 'ZamVerb').getByRole('slider', { name: /^ZamVerb wet/i });
    await wetness.focus();
    await page.keyboard.press('End');
    await expect(effectPanel(page, 'ZamVerb')).toContainText('Live: you hear');
    const second = await expectLiveEqualsExport(page, 'a live chain after an edit');
    expect(largestDifference(first, second, ONSET_LEVEL).difference, 'the edit is heard').toBeGreaterThan(0.01);

    await storeAutomation(page, service);
    await page.reload();
    await page.getByRole('button', { name: /^ZamVerb/ }).first().click();
    await page.getByRole('tab', { name: 'Effects' }).click();
    for (const name of ['ZamVerb', 'ZaMaximX2']) await expect(effectPanel(page, name)).toContainText('Live: you hear');
    await page.setViewportSize({ width: 1024, height: 768 });
    await page.screenshot({ path: 'output/live-plugins-1024.png' });
    await page.setViewportSize({ width: 1440, height: 900 });
    const third = await expectLiveEqualsExport(page, 'an automated live chain');
    expect(largestDifference(second, third, ONSET_LEVEL).difference, 'the automation is heard').toBeGreaterThan(0.01);

    const soakUntil = Date.now() + 60_000 * Number(process.env.SF_LIVE_SOAK_MINUTES ?? 0);
    while (Date.now() < soakUntil) await expectLiveEqualsExport(page, 'a live chain for long');
  } finally {
    rmSync(folder, { recursive: true });
  }
});

/** Returns the helper processes below a process. */
function helpersOf(parent: number): number[] {
  const processes = readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return [{ pid: Number(name), parent: Number(fields[1]), command: readFileSync(`/proc/${name}/cmdline`, 'utf8') }];
    } catch {
      return [];
    }
  });
  const children = processes.filter((process) => process.parent === parent);
  return children.flatMap(({ pid, command }) => [...(command.includes('songfoundry-bridge') ? [pid] : []), ...helpersOf(pid)]);
}

test('the sound goes on when the helper of a live plugin dies, and the plugin comes back', async ({ page }) => {
  const service = await startService({ SF_LIVE_PLUGIN_BLOCK_MAX_MS: '1000' });
  const folder = await addPluginFolder(page, service, ['Nekobi-vst.so', 'ZamVerb-vst.so']);
  try {
    await newNekobiSong(page, service);
    await addMasterEffects(page, ['ZamVerb']);
    await page.getByRole('tab', { name: 'Effects' }).click();
    await page.getByRole('radio', { name: 'Live' }).click();
    const panel = effectPanel(page, 'ZamVerb');
    await expect(panel).toContainText('Live: you hear');
    const wetness = panel.getByRole('slider', { name: /^ZamVerb wet/i });
    await wetness.focus();
    await page.keyboard.press('End');
    const valueBefore = await wetness.getAttribute('aria-valuenow');
    const helpers = helpersOf(service.pid);
    expect(helpers.length, 'helper processes').toBeGreaterThan(0);
    await page.getByRole('button', { name: 'To start' }).click();
    await startRecording(page);
    await play(page);
    await recordSound(page, ONSET_LEVEL);
    for (const pid of helpers) process.kill(pid, 'SIGKILL');
    await expect(panel).toContainText('Live: you hear');
    await expect.poll(() => helpersOf(service.pid).some((pid) => !helpers.includes(pid)), 'a new helper').toBe(true);
    await expect(panel).toContainText('Live: you hear');
    expect(await wetness.getAttribute('aria-valuenow')).toBe(valueBefore);
    await expect(page.getByRole('button', { name: 'Play', pressed: false })).toBeVisible();
    await recordMore(page, RATE_HZ / 2);
    const { left } = await recorded(page);
    expect(peak(left), 'the song is heard').toBeGreaterThan(0.01);
    const steps = left.map((value, index) => Math.abs(value - (left[index - 1] ?? value)));
    expect(peak(steps), 'no click').toBeLessThan(0.5);
    await page.screenshot({ path: 'output/live-plugins-restarted.png' });
  } finally {
    rmSync(folder, { recursive: true });
    await service.stop();
  }
});
