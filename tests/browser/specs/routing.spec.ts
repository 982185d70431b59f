/** Buses, groups, sends and outputs on the mixer. */
import type { Locator, Page } from '@playwright/test';
import { openDemo } from '../support/demo';
import { expect, test } from '../support/service';
import { dragFrom, saveAndRead, trackOf } from '../support/stored';

// These tests store songs. A setting that differs from the default gives them a separate service.
test.use({ settings: { SF_LOG: 'warn' } });

const strip = (page: Page, name: string): Locator => page.getByRole('group', { name: `Channel ${name}`, exact: true });

async function addStrip(page: Page, menuEntry: string): Promise<void> {
  await page.getByRole('button', { name: 'Add a bus or a group' }).click();
  await page.getByRole('menuitem', { name: menuEntry }).click();
}

test('tracks are sent to buses and play through groups', async ({ page, service }) => {
  await openDemo(page, service);
  await addStrip(page, 'Add group');
  await strip(page, 'Flute').getByRole('button', { name: 'Add a send of Flute' }).click();
  await page.getByRole('menuitem', { name: 'A new bus' }).click();
  await expect(strip(page, 'Bus 1')).toBeVisible();

  const send = strip(page, 'Flute').getByRole('slider', { name: 'Flute send to Bus 1' });
  await expect(send).toHaveAttribute('aria-valuetext', '−12.0 dB');
  await dragFrom(page, send, [0.5, 0.5], [0, -300]);
  await expect(send).toHaveAttribute('aria-valuetext', '+6.0 dB');
  await send.press('Enter');
  await page.keyboard.type('-4.5');
  await page.keyboard.press('Enter');
  await strip(page, 'Flute').getByRole('button', { name: 'Send of Flute to Bus 1' }).click();
  await page.getByRole('menuitemcheckbox', { name: 'Before the fader' }).click();

  await strip(page, 'Bass').getByRole('combobox', { name: 'Output of Bass' }).selectOption('Group 1');
  await expect(page.getByRole('listitem', { name: 'Track Group 1' })).toContainText('Group, from 1 track');
  await strip(page, 'Bus 1').getByRole('combobox', { name: 'Output of Bus 1' }).selectOption('Group 1');
  const groupOutput = strip(page, 'Group 1').getByRole('combobox', { name: 'Output of Group 1' });
  await expect(groupOutput.getByRole('option'), 'a group cannot feed a track that feeds it').toHaveText(['Master']);

  const storedSong = await saveAndRead(page, service);
  const { id: bus } = trackOf(storedSong, 'Bus 1');
  const { id: group } = trackOf(storedSong, 'Group 1');
  expect(trackOf(storedSong, 'Flute').sends).toEqual([{ to: bus, level_db: -4.5, pre_fader: true }]);
  expect(trackOf(storedSong, 'Bass').output).toBe(group);
  expect(trackOf(storedSong, 'Bus 1')).toMatchObject({ kind: 'bus', output: group });

  await page.getByRole('button', { name: 'More for Group 1' }).click();
  await page.getByRole('menuitem', { name: 'Delete track' }).click();
  const withoutGroup = await saveAndRead(page, service);
  expect(trackOf(withoutGroup, 'Bass')).not.toHaveProperty('output');
  await page.keyboard.press('Control+z');
  await strip(page, 'Flute').getByRole('button', { name: 'Send of Flute to Bus 1' }).click();
  await page.getByRole('menuitem', { name: 'Remove send' }).click();
  const restoredSong = await saveAndRead(page, service);
  expect(trackOf(restoredSong, 'Bass').output).toBe(group);
  expect(trackOf(restoredSong, 'Flute').sends).toEqual([]);
});

for (const size of [
  { width: 1440, height: 900 },
  { width: 1024, height: 768 },
]) {
  test(`forty strips do not move the master, at ${size.width}x${size.height}`, async ({ page, service }) => {
    await page.setViewportSize(size);
    await openDemo(page, service);
    const mixer = page.getByRole('region', { name: 'Mixer' });
    if (!(await mixer.isVisible())) await page.getByRole('button', { name: 'Mixer', exact: true }).click();
    const strips = mixer.getByRole('group', { name: /^Channel / });
    while ((await strips.count()) < 41) await addStrip(page, 'Add bus');
    const meters = page.getByRole('region', { name: 'Loudness of the master' });
    const [mixerBox, masterBox, metersBox] = [await mixer.boundingBox(), await strip(page, 'Master').boundingBox(), await meters.boundingBox()];
    if (!mixerBox || !masterBox || !metersBox) throw new Error('the mixer is not shown');
    expect(masterBox.x).toBeGreaterThan(mixerBox.x + mixerBox.width / 3);
    expect(masterBox.x + masterBox.width).toBeLessThanOrEqual(metersBox.x);
    expect(metersBox.x + metersBox.width).toBeLessThanOrEqual(mixerBox.x + mixerBox.width);
    await page.screenshot({ path: `output/mixer-${size.width}x${size.height}.png` });
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    expect(overflow).toBe(0);
  });
}

test('the channel strip of a selected track scrolls into view', async ({ page, service }) => {
  await openDemo(page, service);
  const strip = page.getByRole('group', { name: 'Channel Drums', exact: true });
  await expect(strip).not.toBeInViewport();
  await page.getByRole('listitem', { name: 'Track Drums' }).click();
  await expect(strip).toBeInViewport({ ratio: 0.99 });
});
