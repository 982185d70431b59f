/**
 * The plugins of tracks and groups in real time: playback equals the export, other tracks stay
 * aligned, and the service's limit makes a track rendered. ZamVerb is from Debian's package
 * zam-plugins.
 */
import { rmSync } from 'node:fs';
import type { Page } from '@playwright/test';
import { firstSound, largestDifference, peak } from '../support/audio';
import { recorded, recordMore, recordSound, startRecording, type Recording } from '../support/capture';
import { play } from '../support/demo';
import { effectPanel, lateBlocksOfAll, openSong, organTrack, renderSong, songOf, useLargeBuffer, zamVerb, type Song } from '../support/live-song';
import { addPluginFolder, ONSET_LEVEL, RATE_HZ } from '../support/plugin-song';
import { expect, startService, test } from '../support/service';

/** Largest difference of a sample of live playback and of the export. */
const TOLERANCE = 1e-5;
/** Playbacks until one has no late block. */
const ATTEMPTS = 6;
const SETTINGS = { SF_INSTRUMENT_SOUND: 'client', SF_LIVE_PLUGIN_BLOCK_MAX_MS: '10000' };
const SECS = 4;

const EQUALIZER = { id: 'eq', type: 'builtin', name: 'equalizer', params: { low_db: 6, high_db: -4 } };

/** Makes the plugins of a track or the master live. */
async function makeLive(page: Page, channel: string): Promise<void> {
  const strip = page.getByRole('group', { name: `Channel ${channel === 'the master' ? 'Master' : channel}`, exact: true });
  await strip.getByRole('button', { name: /^ZamVerb/ }).first().click();
  await page.getByRole('tab', { name: 'Effects' }).click();
  await page.getByRole('radiogroup', { name: `Plugins of ${channel}` }).getByRole('radio', { name: 'Live' }).click();
}

async function recordOnce(page: Page): Promise<Recording> {
  await page.getByRole('button', { name: 'To start' }).click();
  await startRecording(page);
  await play(page);
  await recordSound(page, ONSET_LEVEL);
  await expect(page.getByRole('button', { name: 'Play', pressed: false })).toBeVisible();
  await recordMore(page, RATE_HZ / 2);
  return recorded(page);
}

/** Plays until a playback has no late block, and compares that playback with the service's render. */
async function expectAsRendered(page: Page, label: string, rendered: Recording): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const before = await lateBlocksOfAll(page);
    const live = await recordOnce(page);
    const late = (await lateBlocksOfAll(page)) - before;
    const { difference, frames } = largestDifference(live, rendered, ONSET_LEVEL);
    console.log(`${label}, playback ${attempt}: ${late} late blocks, largest difference ${difference.toExponential(2)} over ${frames} frames`);
    if (late === 0) {
      expect(peak(live.left), `${label}: the song is heard`).toBeGreaterThan(0.02);
      expect(frames).toBeGreaterThan(SECS * RATE_HZ);
      expect(firstSound(live, ONSET_LEVEL), `${label}: the latency is heard`).toBeGreaterThan(8 * 256);
      expect(difference, label).toBeLessThan(TOLERANCE);
      return;
    }
    expect(attempt, 'playbacks with late blocks').toBeLessThan(ATTEMPTS);
  }
}

test('the plugins of a track play live as in the export, and other tracks stay aligned', async ({ page }) => {
  const service = await startService(SETTINGS);
  const folder = await addPluginFolder(page, service, ['ZamVerb-vst.so']);
  try {
    await useLargeBuffer(page);
    const song = (wet: number): Song => songOf([organTrack('lead', 'Lead', SECS, [EQUALIZER, zamVerb('verb', wet)]), organTrack('backing', 'Backing', SECS)]);
    await openSong(page, service, song(0.25));
    await makeLive(page, 'Lead');
    await expect(effectPanel(page, 'ZamVerb')).toContainText('Live: you hear');
    // The latency, and the mean and the 99th percentile of a block's time in the service.
    await expect(page.getByRole('group', { name: 'Live plugins' })).toContainText(/^\d+ ms 0 late \d+\.\d \/ \d+\.\d ms/);
    await expect(page.getByRole('group', { name: 'Channel Lead' })).toContainText(/Live \d+ ms/);
    await page.screenshot({ path: 'output/live-tracks.png' });
    await page.setViewportSize({ width: 1024, height: 768 });
    await page.screenshot({ path: 'output/live-tracks-1024.png' });
    await page.setViewportSize({ width: 1440, height: 900 });
    await expectAsRendered(page, 'a live track', await renderSong(page, service, song(0.25)));

    await effectPanel(page, 'ZamVerb').getByRole('slider', { name: /wet/i }).focus();
    await page.keyboard.press('End');
    await expectAsRendered(page, 'a live track after an edit', await renderSong(page, service, song(1)));

    // The choice stays with the song.
    await page.keyboard.press('Control+s');
    await expect(page.getByRole('status', { name: 'Save state' })).toHaveText(/^Saved/);
    await page.reload();
    await page.getByRole('button', { name: /^ZamVerb/ }).first().click();
    await page.getByRole('tab', { name: 'Effects' }).click();
    await expect(effectPanel(page, 'ZamVerb')).toContainText('Live: you hear');
    await page.getByRole('radio', { name: 'Rendered' }).click();
    await expect(effectPanel(page, 'ZamVerb')).toContainText('Ready: you hear');
    const cached = await recordOnce(page);
    expect(largestDifference(cached, await renderSong(page, service, song(1)), ONSET_LEVEL).difference, 'rendered again, to the bit').toBe(0);
  } finally {
    rmSync(folder, { recursive: true });
    await service.stop();
  }
});

test('a live track, its live group and the live master follow each other as in the export', async ({ page }) => {
  const service = await startService(SETTINGS);
  const folder = await addPluginFolder(page, service, ['ZamVerb-vst.so']);
  try {
    await useLargeBuffer(page);
    const group = { id: 'group', name: 'Voices', kind: 'group', effects: [zamVerb('group-verb', 0.3)] };
    const lead = { ...organTrack('lead', 'Lead', SECS, [zamVerb('lead-verb', 0.4)]), output: 'group' };
    const song = songOf([lead, organTrack('backing', 'Backing', SECS), group], [zamVerb('master-verb', 0.2)]);
    await openSong(page, service, song);
    for (const channel of ['Lead', 'Voices', 'the master']) {
      await makeLive(page, channel);
      await expect(effectPanel(page, 'ZamVerb')).toContainText('Live: you hear');
    }
    await expectAsRendered(page, 'three live chains', await renderSong(page, service, song));
  } finally {
    rmSync(folder, { recursive: true });
    await service.stop();
  }
});

test('above the limit of the service, a track is rendered and says why', async ({ page }) => {
  const service = await startService({ ...SETTINGS, SF_LIVE_PLUGINS_PER_USER: '1' });
  const folder = await addPluginFolder(page, service, ['ZamVerb-vst.so']);
  try {
    await useLargeBuffer(page);
    const song = songOf([organTrack('lead', 'Lead', SECS, [zamVerb('verb', 0.25)]), organTrack('backing', 'Backing', SECS, [zamVerb('verb-2', 0.5)])]);
    await openSong(page, service, song);
    await makeLive(page, 'Lead');
    await expect(effectPanel(page, 'ZamVerb')).toContainText('Live: you hear');
    await makeLive(page, 'Backing');
    await expect(page.getByText(/^Rendered: .*the account runs 1 plugins in real time, the maximum \(SF_LIVE_PLUGINS_PER_USER\)/)).toBeVisible();
    await expect(effectPanel(page, 'ZamVerb')).toContainText('Ready: you hear');
    await page.screenshot({ path: 'output/live-tracks-limit.png' });
    await expectAsRendered(page, 'a live and a rendered track', await renderSong(page, service, song));
  } finally {
    rmSync(folder, { recursive: true });
    await service.stop();
  }
});
