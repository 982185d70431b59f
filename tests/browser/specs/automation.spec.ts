/** Lanes of automation, by mouse and keyboard. */
import type { Locator, Page } from '@playwright/test';
import { openDemo } from '../support/demo';
import { expect, test } from '../support/service';
import { dragFrom, saveAndRead, trackOf, type StoredProject } from '../support/stored';

// These tests store songs. A setting that differs from the default gives them a separate service.
test.use({ settings: { SF_LOG: 'warn' } });

type Point = { tick: number; value: number; curve?: string | number };
type Lane = { target: string; points: Point[] };

const lane = (page: Page, name: string): Locator => page.getByLabel(new RegExp(`^Automation of ${name}:`));
const lanesOf = (project: StoredProject, name: string): Lane[] => trackOf(project, name).automation as Lane[];

async function addLane(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: /^Add a lane for / }).click();
  await page.getByRole('menuitem', { name, exact: true }).click();
}

test('points are added, moved, curved, typed and deleted', async ({ page, service }) => {
  await openDemo(page, service);
  await page.getByRole('tab', { name: 'Automation' }).click();
  await addLane(page, 'Volume');
  const volume = lane(page, 'Channel Volume');
  await expect(volume, 'a lane starts at the value of the fader').toHaveAccessibleName(/1 of 1 at 1\.1\.000, −6\.0 dB$/);

  const box = await volume.boundingBox();
  if (!box) throw new Error('the lane is not shown');
  await page.mouse.click(box.x + box.width * 0.5, box.y + box.height * 0.75);
  await expect(volume).toHaveAccessibleName(/point 2 of 2/);
  let points = lanesOf(await saveAndRead(page, service), 'Flute')[0]?.points ?? [];
  expect(points).toHaveLength(2);
  expect((points[1]?.tick ?? 1) % 240, 'points snap to the grid').toBe(0);
  const tick = points[1]?.tick ?? 0;

  await dragFrom(page, volume, [0.5, 0.75], [60, -20]);
  points = lanesOf(await saveAndRead(page, service), 'Flute')[0]?.points ?? [];
  expect(points[1]?.tick).toBeGreaterThan(tick);
  await page.keyboard.press('Control+z');
  points = lanesOf(await saveAndRead(page, service), 'Flute')[0]?.points ?? [];
  expect(points[1]?.tick, 'a drag is one undo step').toBe(tick);

  await page.keyboard.down('Alt');
  await dragFrom(page, volume, [0.25, 0.5], [0, -30]);
  await page.keyboard.up('Alt');
  points = lanesOf(await saveAndRead(page, service), 'Flute')[0]?.points ?? [];
  expect(points[0]?.curve, 'the curve falls late').toBeGreaterThan(0.2);
  await page.getByRole('combobox', { name: 'Curve from the selected point of Volume to the next' }).selectOption('Step');

  const value = page.getByRole('spinbutton', { name: 'Value of the selected point of Volume' });
  await value.focus();
  await page.keyboard.press('Enter');
  await page.keyboard.type('-12');
  await page.keyboard.press('Enter');
  await volume.focus();
  await page.keyboard.press('PageDown');
  await expect(volume).toHaveAccessibleName(/point 2 of 2/);
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowUp');
  const valueBefore = points[1]?.value ?? 0;
  points = lanesOf(await saveAndRead(page, service), 'Flute')[0]?.points ?? [];
  expect(points[0]).toEqual({ tick: 0, value: -12, curve: 'step' });
  expect(points[1]?.tick).toBe(tick + 240);
  expect(points[1]?.value).toBeCloseTo(valueBefore + 0.5, 6);

  await page.keyboard.press('Delete');
  await expect(volume).toHaveAccessibleName(/1 of 1/);
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Remove automation of Channel Volume' }).click();
  await expect(volume).toHaveCount(0);
  await page.keyboard.press('Control+z');
  await expect(volume).toHaveCount(1);
  await saveAndRead(page, service);
});

test('effects and sends have lanes, which are removed with them', async ({ page, service }) => {
  await openDemo(page, service);
  await page.getByRole('listitem', { name: 'Track Strings' }).click();
  const strip = page.getByRole('group', { name: 'Channel Strings', exact: true });
  await strip.getByRole('button', { name: 'Add a send of Strings' }).click();
  await page.getByRole('menuitem', { name: 'A new bus' }).click();
  await strip.getByRole('button', { name: 'Add an effect to Strings' }).click();
  await page.getByRole('menuitem', { name: 'Utility' }).click();
  await page.getByRole('tab', { name: 'Automation' }).click();
  await addLane(page, 'Gain');
  await addLane(page, 'Channels');
  await addLane(page, 'Bus 1');
  const storedSong = await saveAndRead(page, service);
  const strings = trackOf(storedSong, 'Strings');
  const [effect] = strings.effects as { id: string }[];
  const bus = trackOf(storedSong, 'Bus 1').id;
  const targets = (project: StoredProject): string[] => lanesOf(project, 'Strings').map((lane) => lane.target);
  expect(targets(storedSong)).toEqual([`${effect?.id}/gain_db`, `${effect?.id}/channels`, `send/${bus}`]);

  await page.getByRole('tab', { name: 'Effects' }).click();
  await page.getByRole('button', { name: 'Remove Utility' }).click();
  expect(targets(await saveAndRead(page, service))).toEqual([`send/${bus}`]);
  await page.keyboard.press('Control+z');
  expect(targets(await saveAndRead(page, service))).toHaveLength(3);
});

test('a new lane scrolls into view, and controls are marked as automated', async ({ page, service }) => {
  await openDemo(page, service);
  await page.getByRole('listitem', { name: 'Track Drums' }).click();
  const strip = page.getByRole('group', { name: 'Channel Drums', exact: true });
  await strip.getByRole('button', { name: 'Add an effect to Drums' }).click();
  await page.getByRole('menuitem', { name: 'Filter' }).click();
  const automationMarks = (of: Locator): Locator => of.getByRole('img', { name: 'Automated' });
  await page.getByRole('tab', { name: 'Automation' }).click();
  for (const name of ['Volume', 'Pan', 'Type', 'Cut-off', 'Drive']) {
    await addLane(page, name);
    const addedLane = lane(page, `(Channel|Filter) ${name}`);
    await expect(addedLane).toBeInViewport({ ratio: 0.9 });
  }
  await expect(automationMarks(strip), 'fader and pan').toHaveCount(2);
  await expect(automationMarks(page.getByRole('listitem', { name: 'Track Drums' }))).toHaveCount(2);
  await page.getByRole('tab', { name: 'Effects' }).click();
  await expect(automationMarks(page.getByRole('region', { name: 'Editor' })), 'type, cut-off and drive').toHaveCount(3);
});

test('controls show their automated values while the song plays', async ({ page, service }) => {
  await openDemo(page, service);
  await page.getByRole('listitem', { name: 'Track Bass' }).click();
  const strip = page.getByRole('group', { name: 'Channel Bass', exact: true });
  await strip.getByRole('button', { name: 'Add an effect to Bass' }).click();
  await page.getByRole('menuitem', { name: 'Filter' }).click();
  await page.getByRole('tab', { name: 'Automation' }).click();
  await addLane(page, 'Volume');
  await addLane(page, 'Drive');
  for (const name of ['Channel Volume', 'Filter Drive']) {
    const automationLane = lane(page, name);
    await automationLane.scrollIntoViewIfNeeded();
    const box = await automationLane.boundingBox();
    if (!box) throw new Error('the lane is not shown');
    await page.mouse.click(box.x + 60, box.y + box.height * 0.25);
    await expect(automationLane).toHaveAccessibleName(/point 2 of 2/);
    await page.keyboard.press('ArrowUp');
  }
  await page.getByRole('tab', { name: 'Effects' }).click();
  const fader = strip.getByRole('slider', { name: 'Bass fader' });
  const drive = page.getByRole('slider', { name: 'Filter drive' });
  const faderMark = strip.getByRole('img', { name: 'Automated' }).first();
  /**
   * Returns the title of the fader's mark, and the positions at which the fader and the knob show
   * their automated values.
   */
  const automatedValues = (): Promise<(string | null)[]> =>
    Promise.all([faderMark.getAttribute('title'), fader.locator('.lane').getAttribute('style'), drive.locator('.lane').getAttribute('d')]);
  const controlValues = (): Promise<(string | null)[]> => Promise.all([fader, drive].map((control) => control.getAttribute('aria-valuenow')));
  const [valueBefore, valueAfterStop] = [await controlValues(), await automatedValues()];
  expect(valueAfterStop[0]).toBe('Automated; value now: −1.0 dB');
  await page.keyboard.press('Space');
  await expect.poll(async () => (await automatedValues()).every((value, control) => value !== valueAfterStop[control])).toBe(true);
  await page.keyboard.press('Space');
  expect((await automatedValues())[0]).toMatch(/^Automated; value now: [+−]?[\d.]+ dB$/);
  expect(await controlValues(), 'automation does not change the set values').toEqual(valueBefore);
});
