/** The piano roll as a musician uses it: with the pointer, and by keys alone. */
import type { Locator, Page } from '@playwright/test';
import { openDemo, newSong } from '../support/demo';
import { saveAndReadSong } from '../support/plugin-song';
import { expect, test, type Service } from '../support/service';

type Note = { tick: number; length_ticks: number; pitch: number; velocity: number };
type Control = { type: string; tick: number; controller?: number; value?: number };
type Clip = { notes: Note[]; controls: Control[] };

const roll = (page: Page): Locator => page.getByLabel(/^Notes of /);
const velocities = (page: Page): Locator => page.getByLabel(/^Velocities of the notes/);
const spoken = (page: Page): Locator => page.getByRole('status', { name: 'Selected notes' });
const tool = (page: Page, name: string): Locator => page.getByRole('group', { name: 'Piano roll tools' }).getByRole('button', { name, exact: true });

/** Saves the song, and returns its first clip as the service stores it. */
async function savedClip(page: Page, service: Service): Promise<Clip> {
  const { tracks } = await saveAndReadSong(page, service);
  const clip = tracks.flatMap(({ items }) => (items ?? []) as Clip[])[0];
  if (!clip) throw new Error('the song has no clip');
  return clip;
}

const byTime = (a: Note, b: Note): number => a.tick - b.tick || a.pitch - b.pitch;
const ticksOf = (clip: Clip): number[] => clip.notes.toSorted(byTime).map(({ tick }) => tick);

/** Presses at one position of an element, moves in two steps to another, and releases. */
async function drag(page: Page, element: Locator, from: [x: number, y: number], to: [x: number, y: number]): Promise<void> {
  const box = await element.boundingBox();
  if (!box) throw new Error('the element is not shown');
  await page.mouse.move(box.x + from[0], box.y + from[1]);
  await page.mouse.down();
  await page.mouse.move(box.x + (from[0] + to[0]) / 2, box.y + (from[1] + to[1]) / 2);
  await page.mouse.move(box.x + to[0], box.y + to[1]);
  await page.mouse.up();
}

/** Starts a song with an empty clip, shown in the piano roll. */
async function emptyClip(page: Page): Promise<void> {
  await newSong(page);
  await page.getByRole('button', { name: 'Add a track' }).click();
  await page.getByLabel('Clips of the tracks').dblclick({ position: { x: 20, y: 30 } });
  await expect(roll(page)).toBeVisible();
}

test('notes are drawn, shaped, copied, and have velocities and controllers', async ({ page, service }) => {
  await openDemo(page, service);
  await emptyClip(page);
  const width = (await roll(page).boundingBox())?.width ?? 0;
  const clipTicks = 3840;
  // The view shows the whole clip of one bar with a margin of 3 %.
  const x = (tick: number): number => (tick / (clipTicks * 1.03)) * width + 2;

  await tool(page, 'Draw tool').click();
  await drag(page, roll(page), [x(0), 60], [x(950), 60]);
  await drag(page, roll(page), [x(960), 60], [x(1100), 60]);
  // Draws two notes that start together, an octave apart.
  await drag(page, roll(page), [x(1920), 30], [x(2000), 30]);
  await drag(page, roll(page), [x(1920), 96], [x(2000), 96]);
  let clip = await savedClip(page, service);
  expect(clip.notes.map(({ tick, length_ticks: length }) => [tick, length])).toEqual([[0, 960], [960, 240], [1920, 240], [1920, 240]]);

  // Each note of the chord has a separate velocity bar. The bar of the lower note is at the left.
  await page.keyboard.press('Escape');
  await drag(page, velocities(page), [x(1920) - 1, 40], [x(1920) - 1, 46]);
  await drag(page, velocities(page), [x(1920) + 5, 40], [x(1920) + 5, 4]);
  clip = await savedClip(page, service);
  const [lower, higher] = clip.notes.slice(2).sort(byTime);
  expect(lower?.velocity).toBeLessThan(0.3);
  expect(higher?.velocity).toBeGreaterThan(0.9);
  expect(clip.notes[0]?.velocity).toBe(0.8);

  await page.getByLabel('Lane 1', { exact: true }).selectOption({ label: 'CC 64 Sustain pedal' });
  const pedal = page.getByLabel(/^CC 64 Sustain pedal/);
  await drag(page, pedal, [x(0), 8], [x(900), 8]);
  await drag(page, pedal, [x(960), 46], [x(1000), 46]);
  await page.getByRole('button', { name: 'Add a lane' }).click();
  await page.getByLabel('Lane 2', { exact: true }).selectOption({ label: 'CC 1 Modulation' });
  await drag(page, page.getByLabel(/^CC 1 Modulation/), [x(0), 47], [x(1920), 5]);
  clip = await savedClip(page, service);
  const pointsOf = (controller: number): [number, number | undefined][] => clip.controls.filter((control) => control.controller === controller).map(({ tick, value }) => [tick, value]);
  expect(pointsOf(64)).toEqual([[0, 127], [960, 0]]);
  const modulation = pointsOf(1).map(([, value]) => value ?? 0);
  expect(modulation.length).toBeGreaterThan(10);
  expect(modulation).toEqual(modulation.toSorted((a, b) => a - b));
  expect(modulation.at(-1)).toBe(127);
  await page.keyboard.press('Control+z');
  clip = await savedClip(page, service);
  expect(pointsOf(1), 'one undo step removes the whole line').toEqual([]);

  // Off-beats of the grid are delayed by the swing.
  await page.getByRole('button', { name: 'Notes menu' }).click();
  await page.getByRole('menuitemradio', { name: /^67 %/ }).click();
  await roll(page).focus();
  await page.getByLabel('Snap', { exact: true }).selectOption({ label: '1/4' });
  await tool(page, 'Quantize').click();
  clip = await savedClip(page, service);
  expect(ticksOf(clip)).toEqual([0, 1286, 1920, 1920]);

  await page.keyboard.press('Control+a');
  await roll(page).focus();
  await page.keyboard.press('Control+c');
  await page.keyboard.press('Control+v');
  clip = await savedClip(page, service);
  expect(ticksOf(clip), 'the passage of three beats is pasted behind itself').toEqual([0, 1286, 1920, 1920, 2880, 4166, 4800, 4800]);
  await page.keyboard.press('Control+x');
  expect((await savedClip(page, service)).notes.length).toBe(4);
});

test('the piano roll is played and edited by keys alone', async ({ page, service }) => {
  await openDemo(page, service);
  await emptyClip(page);
  await tool(page, 'Step input').click();
  // Two keys that are held together are a chord; each further key is one grid step later.
  await page.keyboard.down('a');
  await page.keyboard.down('d');
  await page.keyboard.up('a');
  await page.keyboard.up('d');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('g');
  let clip = await savedClip(page, service);
  expect(clip.notes.map(({ tick, pitch }) => [tick, pitch])).toEqual([[0, 60], [0, 64], [480, 67]]);
  await tool(page, 'Step input').click();

  await roll(page).focus();
  await page.keyboard.press('Home');
  await page.keyboard.press('PageUp');
  await expect(spoken(page)).toHaveText('G4 at 1.1.480, 0.25 beats, velocity 102');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Control+ArrowRight');
  await page.keyboard.press('Control+ArrowUp');
  await expect(spoken(page)).toHaveText('G♯4 at 1.1.480, 0.5 beats, velocity 107');
  await page.keyboard.press('Escape');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowDown');
  await expect(spoken(page)).toHaveText('Cursor at 1.1.720, F♯4, empty');
  await page.keyboard.press('Enter');
  await expect(spoken(page)).toHaveText('Cursor at 1.1.720, F♯4, on a note');
  clip = await savedClip(page, service);
  expect(ticksOf(clip)).toEqual([0, 0, 480, 720]);

  // The keys of the lane choose a note and change its velocity.
  await velocities(page).focus();
  await page.keyboard.press('PageDown');
  await page.keyboard.press('Shift+ArrowDown');
  await expect(velocities(page)).toHaveAttribute('aria-label', /velocity 92$/);
  await page.getByLabel('Lane 1', { exact: true }).selectOption({ label: 'Pitch bend' });
  const bend = page.getByLabel(/^Pitch bend of the clip/);
  await bend.focus();
  await page.keyboard.press('Enter');
  await page.keyboard.press('ArrowUp');
  await expect(bend).toHaveAttribute('aria-label', /point 1 of 1 at 1\.1\.720, \+2 %$/);
  await page.keyboard.press('Delete');
  await expect(bend).toHaveAttribute('aria-label', /0 points$/);

  // Letters choose tools instead of playing notes, if that option is on.
  await tool(page, 'Letters choose tools').click();
  await roll(page).focus();
  await page.keyboard.press('d');
  await expect(tool(page, 'Draw tool')).toHaveAttribute('aria-pressed', 'true');
  await page.keyboard.press('Control+a');
  await page.keyboard.press('g');
  clip = await savedClip(page, service);
  expect(clip.notes.toSorted(byTime).map(({ length_ticks: length }) => length), 'legato').toEqual([480, 480, 240, 240]);

  await page.keyboard.press('Shift+M');
  await expect(page.getByLabel('Clips of the tracks')).toBeHidden();
  await page.keyboard.press('Shift+M');
  await expect(page.getByLabel('Clips of the tracks')).toBeVisible();
});

/** A MIDI output that keeps what it was sent, as Web MIDI shows it to the page. */
function fakeWebMidi(): void {
  const sent: number[][] = [];
  const output = { name: 'Drum machine', state: 'connected', send: (message: number[]) => sent.push([...message]) };
  const access = { inputs: new Map(), outputs: new Map([['1', output]]), onstatechange: null };
  Object.assign(globalThis, { sentMidi: sent });
  Object.defineProperty(navigator, 'requestMIDIAccess', { value: () => Promise.resolve(access) });
}

test('menus of notes and rulers work at the pointer, and a MIDI output follows the song', async ({ page, service }) => {
  await page.addInitScript(fakeWebMidi);
  await openDemo(page, service);
  await emptyClip(page);
  const width = (await roll(page).boundingBox())?.width ?? 0;
  const x = (tick: number): number => (tick / (3840 * 1.03)) * width + 2;
  await tool(page, 'Draw tool').click();
  await drag(page, roll(page), [x(0), 60], [x(700), 60]);
  await drag(page, roll(page), [x(960), 60], [x(1700), 60]);
  await tool(page, 'Select tool').click();
  await roll(page).click({ button: 'right', position: { x: x(200), y: 60 } });
  const noteMenu = page.getByRole('menu', { name: 'Menu of the notes' });
  await noteMenu.getByRole('menuitem', { name: 'Delete' }).click();
  const remaining = await savedClip(page, service);
  expect(ticksOf(remaining)).toEqual([960]);

  const lanes = await page.getByLabel('Clips of the tracks').boundingBox();
  if (!lanes) throw new Error('the lanes are not shown');
  await page.mouse.click(lanes.x + 200, lanes.y - 8, { button: 'right' });
  await page.getByRole('menu', { name: 'Menu of the ruler' }).getByRole('menuitem', { name: 'Insert marker here' }).click();
  const { markers } = (await saveAndReadSong(page, service)) as unknown as { markers: { tick: number; name: string }[] };
  expect(markers).toHaveLength(1);
  expect(markers[0]?.tick).toBeGreaterThan(0);
  expect((markers[0]?.tick ?? 1) % 960).toBe(0);

  const view = page.getByRole('button', { name: 'View menu' });
  await view.click();
  await page.getByRole('menuitem', { name: 'Connect MIDI keyboards' }).click();
  await view.click();
  await page.getByRole('menuitem', { name: 'Send MIDI clock' }).hover();
  await page.getByRole('menuitemradio', { name: 'Drum machine' }).click();
  await expect(page.getByRole('menu')).toHaveCount(0);
  const sent = (): Promise<number[]> => page.evaluate(() => (globalThis as unknown as { sentMidi: number[][] }).sentMidi.map(([status = 0]) => status));
  await page.keyboard.press('Home');
  await page.keyboard.press('Space');
  await expect.poll(async () => (await sent()).filter((status) => status === 0xf8).length).toBeGreaterThan(24);
  expect((await sent())[0]).toBe(0xfa);
  await page.keyboard.press('Space');
  await expect.poll(async () => (await sent()).at(-1)).toBe(0xfc);
});
