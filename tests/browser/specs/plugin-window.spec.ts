/**
 * A plugin's own window: it opens in the page, one of its knobs changes the song, the song changes
 * the knob, and the window closes. The plugin is Nekobi of Debian's package dpf-plugins-vst.
 */
import { rmSync } from 'node:fs';
import { play } from '../support/demo';
import { addPluginFolder, newNekobiSong, saveAndReadSong } from '../support/plugin-song';
import { expect, test } from '../support/service';

/** Position of the knob of the cutoff in the window of Nekobi. */
const CUTOFF = { x: 208, y: 68 };

test('a knob in the window of a plugin changes the song, and undo turns it back', async ({ page, service }) => {
  const sent: string[] = [];
  /** Number of gestures whose last change the page has received. */
  let gestureCount = 0;
  page.on('websocket', (socket) => {
    socket.on('framesent', ({ payload }) => sent.push(String(payload)));
    socket.on('framereceived', ({ payload }) => {
      if (String(payload).includes('"end_edit"')) gestureCount += 1;
    });
  });
  const folder = await addPluginFolder(page, service, ['Nekobi-vst.so']);
  await newNekobiSong(page, service);
  await page.getByRole('tab', { name: 'Plugin' }).click();
  const cutoff = page.getByRole('slider', { name: /^Nekobi cutoff/i });
  const before = await cutoff.getAttribute('aria-valuenow');
  await page.getByRole('button', { name: 'Open window' }).click();
  const panel = page.getByRole('region', { name: 'Window of Nekobi' });
  const picture = panel.getByRole('application', { name: /^Nekobi/ });
  await expect(picture).toHaveAttribute('width', '636');

  /** Returns the pixels of the knob, which show whether it has turned. */
  const knob = (): Promise<number[]> =>
    picture.evaluate((canvas: HTMLCanvasElement, { x, y }) => {
      const pixels = canvas.getContext('2d')?.getImageData(x - 20, y - 20, 40, 40).data ?? [];
      return Array.from(pixels);
    }, CUTOFF);
  const isDrawn = async (): Promise<boolean> => new Set(await knob()).size > 30;
  await expect.poll(isDrawn).toBe(true);
  const drawn = await knob();
  /** Whether the knob looks as at first. JPEGs of different parts differ by little. */
  const isAsDrawn = async (): Promise<boolean> => (await knob()).filter((value, index) => Math.abs(value - (drawn[index] ?? 0)) > 48).length < 20;

  const { x, y } = (await picture.boundingBox()) ?? { x: 0, y: 0 };
  await page.mouse.move(x + CUTOFF.x, y + CUTOFF.y);
  await page.mouse.down();
  await page.mouse.move(x + CUTOFF.x, y + CUTOFF.y - 30, { steps: 6 });
  await page.mouse.up();
  await expect(cutoff).not.toHaveAttribute('aria-valuenow', before ?? '');
  await expect.poll(isAsDrawn).toBe(false);
  await expect.poll(() => gestureCount).toBe(1);
  await expect(panel).toContainText('Keys go to the plugin.');
  await page.screenshot({ path: 'output/plugin-window.png' });
  expect((await saveAndReadSong(page, service)).tracks[0]?.synth_engine).toMatchObject({ params: { 2: expect.any(Number) } });

  // The whole gesture is one step, and the window follows the song.
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(cutoff).toHaveAttribute('aria-valuenow', before ?? '');
  await expect.poll(isAsDrawn).toBe(true);

  // While the song plays, a move is written as automation, which the window shows.
  await panel.getByRole('button', { name: 'Write automation' }).click();
  await page.getByRole('button', { name: 'Loop', exact: true }).click();
  await play(page);
  await page.mouse.move(x + CUTOFF.x, y + CUTOFF.y);
  await page.mouse.down();
  await page.mouse.move(x + CUTOFF.x, y + CUTOFF.y - 30, { steps: 12 });
  await page.mouse.up();
  await expect.poll(() => gestureCount).toBe(2);
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  const automation = async (): Promise<{ target: string; points: unknown[] }[]> =>
    ((await saveAndReadSong(page, service)).tracks[0]?.automation ?? []) as { target: string; points: unknown[] }[];
  const [lane] = await automation();
  expect(lane?.target).toBe('instrument/2');
  expect(lane?.points.length).toBeGreaterThan(1);
  await expect.poll(isAsDrawn, 'the window shows the automation').toBe(false);
  await page.getByRole('button', { name: 'Undo' }).click();
  expect(await automation()).toEqual([]);
  await expect.poll(isAsDrawn).toBe(true);

  // The text of the clipboard is typed into the plugin.
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.evaluate(() => navigator.clipboard.writeText('0.25'));
  await picture.click({ position: { x: 320, y: 20 } });
  await page.keyboard.press('Control+V');
  await expect.poll(() => sent.some((message) => message.includes('{"type":"text","text":"0.25"}'))).toBe(true);
  await page.keyboard.press('Escape');
  await expect(panel).toContainText('Click into the window');
  await page.keyboard.press('Escape');
  await expect(panel).toHaveCount(0);
  const processes = async (): Promise<string> => (await page.request.get(`${service.url}/api/v1/files/processes`)).text();
  await expect.poll(processes).not.toContain('plugin window');
  rmSync(folder, { recursive: true });
});
