/**
 * VST effects of a track and of the master: they are chosen, play as in the export, and are kept
 * while the plugin is missing. The plugins are from Debian's packages dpf-plugins-vst and
 * zam-plugins.
 */
import { rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from '@playwright/test';
import { largestDifference, peak } from '../support/audio';
import { addPluginFolder, drawNote, expectEqual, exportSong, newNekobiSong, ONSET_LEVEL, recordSong, saveAndReadSong, scan, VST2_FOLDER } from '../support/plugin-song';
import { expect, test } from '../support/service';

const effectPanel = (page: Page, name: string): Locator => page.getByRole('listitem', { name: new RegExp(`^Effect \\d+: ${name}`) });

/** Chooses a VST effect in the dialog, for the channel whose effects the editor shows. */
async function addVstEffect(page: Page, channelName: string, name: string): Promise<void> {
  await page.getByRole('button', { name: `Add an effect to ${channelName}`, exact: true }).last().click();
  await page.getByRole('menuitem', { name: 'All VST effects…' }).click();
  const dialog = page.getByRole('dialog', { name: `Add a VST effect to ${channelName}` });
  await dialog.getByLabel('Search VST effects').fill(name);
  await dialog.getByLabel('Search VST effects').press('Enter');
  await expect(dialog).toHaveCount(0);
  await expect(effectPanel(page, name)).toContainText('Ready: you hear');
}

test('VST effects of a track and of the master play as in the export, and are kept while they are gone', async ({ page, service }) => {
  const folder = await addPluginFolder(page, service, ['Nekobi-vst.so', 'ZamVerb-vst.so', 'ZaMaximX2-vst.so']);
  const verb = join(folder, 'ZamVerb-vst.so');
  try {
    await newNekobiSong(page, service);
    await drawNote(page, 180, 90);
    const track = page.getByRole('listitem', { name: 'Track Nekobi' });
    await expect(track.getByRole('img', { name: /^Nekobi: ready/ })).toBeVisible();
    const drySound = await recordSong(page);

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

    const wet = await recordSong(page);
    expect(peak(wet.left)).toBeGreaterThan(0.05);
    expect(largestDifference(drySound, wet, ONSET_LEVEL).difference, 'the effects change the sound').toBeGreaterThan(0.01);
    expectEqual('effects', wet, await exportSong(page));

    // Changes a parameter of the plugin, by hand and by automation.
    const wetness = effectPanel(page, 'ZamVerb').getByRole('slider', { name: /^ZamVerb wet/i });
    await wetness.focus();
    await page.keyboard.press('End');
    await expect(effectPanel(page, 'ZamVerb')).toContainText('Ready: you hear');
    await page.screenshot({ path: 'output/plugin-effect-parameters.png' });
    await effectPanel(page, 'ZamVerb').getByRole('button', { name: /^Automate .*wet/i }).click();
    await page.screenshot({ path: 'output/plugin-effect-automation.png' });
    await page.getByRole('tab', { name: 'Effects' }).click();
    await expect(effectPanel(page, 'ZamVerb')).toContainText('Ready: you hear');
    const wetter = await recordSong(page);
    expect(largestDifference(wet, wetter, ONSET_LEVEL).difference, 'the parameter changes the sound').toBeGreaterThan(0.01);
    expectEqual('an automated effect', wetter, await exportSong(page));

    // A bypass and its end take effect immediately.
    await effectPanel(page, 'ZamVerb').getByRole('switch', { name: 'Use ZamVerb' }).click();
    await expect(effectPanel(page, 'ZamVerb')).toContainText('Bypassed');
    await page.getByRole('button', { name: 'Undo' }).click();

    // A fader before a plugin of the master changes what the plugin processes.
    await page.getByRole('button', { name: 'Add an effect to Master' }).first().click();
    await page.getByRole('menuitem', { name: 'ZaMaximX2' }).click();
    await page.getByRole('tab', { name: 'Effects' }).click();
    await expect(effectPanel(page, 'ZaMaximX2')).toContainText('Ready: you hear');
    const renderResponse = page.waitForResponse((response) => response.url().endsWith('/plugins/sounds') && response.ok());
    const fader = page.getByRole('slider', { name: 'Nekobi fader' });
    await fader.focus();
    for (let step = 0; step < 6; step += 1) await page.keyboard.press('ArrowDown');
    await renderResponse;
    await expect(effectPanel(page, 'ZaMaximX2')).toContainText('Ready: you hear');
    await page.screenshot({ path: 'output/plugin-effect-master.png' });
    const fadedSound = await recordSong(page);
    expect(largestDifference(wetter, fadedSound, ONSET_LEVEL).difference, 'the fader changes the sound').toBeGreaterThan(0.01);
    expectEqual('a plugin of the master after a fader', fadedSound, await exportSong(page));

    expect((await saveAndReadSong(page, service)).tracks[0]?.effects).toMatchObject([{ type: 'vst2' }, { type: 'vst2' }]);
    rmSync(verb);
    await scan(page, service);
    await page.reload();
    await page.getByRole('listitem', { name: 'Track Nekobi' }).click();
    await page.getByRole('tab', { name: 'Effects' }).click();
    await expect(effectPanel(page, 'ZamVerb')).toContainText('Missing');
    await expect(effectPanel(page, 'ZamVerb')).toContainText('no scan of the plugin folders found the plugin');
    await page.screenshot({ path: 'output/plugin-effect-missing.png' });
    symlinkSync(join(VST2_FOLDER, 'ZamVerb-vst.so'), verb);
    await scan(page, service);
    await page.reload();
    await page.getByRole('listitem', { name: 'Track Nekobi' }).click();
    await page.getByRole('tab', { name: 'Effects' }).click();
    await expect(effectPanel(page, 'ZamVerb')).toContainText('Ready: you hear');
    expectEqual('the same effects after the plugin is back', await recordSong(page), fadedSound);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('a VST effect with a side-chain plays as in the export', async ({ page, service }) => {
  const folder = await addPluginFolder(page, service, ['Nekobi-vst.so', 'ZamCompX2-vst.so']);
  try {
    await newNekobiSong(page, service);
    await page.getByRole('button', { name: 'More for Nekobi' }).click();
    await page.getByRole('menuitem', { name: 'Duplicate track' }).click();
    await page.getByRole('tab', { name: 'Effects' }).click();
    await addVstEffect(page, 'Nekobi', 'ZamCompX2');
    const panel = effectPanel(page, 'ZamCompX2');
    const threshold = panel.getByRole('slider', { name: /^ZamCompX2 threshold/i });
    await threshold.focus();
    await page.keyboard.press('Home');
    await panel.getByRole('switch', { name: /^ZamCompX2 side-?chain/i }).click();
    await expect(panel).toContainText('Ready: you hear');
    const withoutSource = await recordSong(page);

    await panel.getByLabel('ZamCompX2 side-chain').selectOption('Nekobi copy');
    await expect(panel).toContainText('Rendering');
    await expect(panel).toContainText('Ready: you hear');
    await page.screenshot({ path: 'output/plugin-effect-side-chain.png' });
    const duckedSound = await recordSong(page);
    expect(largestDifference(withoutSource, duckedSound, ONSET_LEVEL).difference, 'the side-chain changes the sound').toBeGreaterThan(0.001);
    expectEqual('a side-chain', duckedSound, await exportSong(page));
  } finally {
    rmSync(folder, { recursive: true });
  }
});
