/**
 * Several windows of plugins of three toolkits: DPF (ZamVerb), LSP and amsynth's own, of Debian's
 * packages zam-plugins, lsp-plugins-vst and amsynth.
 */
import { rmSync } from 'node:fs';
import type { Locator, Page } from '@playwright/test';
import { violationsOf } from '../support/accessibility';
import { newSong, openDemo } from '../support/demo';
import { addPluginFolder, saveAndReadSong, scan, VST2_FOLDER } from '../support/plugin-song';
import { helpersOf } from '../support/processes';
import { expect, startService, test, type Service } from '../support/service';

/** The effects of the song; the instrument is amsynth. */
const REVERB = 'ZamVerb';
const DELAY = 'Delay Compensator Stereo';

type Point = { x: number; y: number };

/** Positions of knobs in the pictures. */
const KNOBS: Readonly<Record<string, Point>> = { [REVERB]: { x: 48, y: 105 }, [DELAY]: { x: 787, y: 107 }, amsynth: { x: 555, y: 44 } };

const panelOf = (page: Page, name: string): Locator => page.getByRole('region', { name: `Window of ${name}`, exact: true });
const pictureOf = (page: Page, name: string): Locator => panelOf(page, name).getByRole('application');
const effectPanel = (page: Page, name: string): Locator => page.getByRole('listitem', { name: new RegExp(`^Effect \\d+: ${name}`) });

async function addEffect(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: 'Add an effect to Master' }).first().press('Enter');
  await page.getByRole('menuitem', { name: 'All VST effects…' }).click();
  const dialog = page.getByRole('dialog', { name: /^Add a VST effect to/ });
  await dialog.getByLabel('Search VST effects').fill(name);
  await dialog.getByLabel('Search VST effects').press('Enter');
  await expect(dialog).toHaveCount(0);
}

/** Starts a song with amsynth and the effects, and shows the tab with the effects of the master. */
async function newSongWithPlugins(page: Page, service: Service, effects: readonly string[]): Promise<string> {
  const folder = await addPluginFolder(page, service, ['amsynth_vst.so', 'ZamVerb-vst.so']);
  await page.request.post(`${service.url}/api/v1/plugins/dirs`, { data: { path: `${VST2_FOLDER}/lsp-plugins` } });
  await scan(page, service);
  await openDemo(page, service);
  await newSong(page);
  const search = page.getByRole('combobox', { name: 'Search sounds' });
  await search.fill('amsynth');
  await expect(page.getByRole('option', { name: /^amsynth/ })).toBeVisible();
  await search.press('ArrowDown');
  await search.press('Enter');
  await expect(page.getByRole('listitem', { name: 'Track amsynth' })).toBeVisible();
  for (const effect of effects) await addEffect(page, effect);
  await page.getByRole('tab', { name: 'Effects' }).click();
  return folder;
}

/** Opens the window of an effect by keyboard, because another window may cover its button. */
async function openWindow(page: Page, name: string): Promise<void> {
  await effectPanel(page, name).getByRole('button', { name: 'Open window' }).press('Enter');
  await expect(pictureOf(page, name)).toBeVisible();
}

/** Returns the point of the page where a point of a picture is shown. */
async function pagePoint(picture: Locator, { x, y }: Point): Promise<Point> {
  const shown = (await picture.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
  const scale = shown.width / Number(await picture.getAttribute('width'));
  return { x: shown.x + x * scale, y: shown.y + y * scale };
}

async function drag(page: Page, name: string): Promise<void> {
  const { x, y } = await pagePoint(pictureOf(page, name), KNOBS[name] ?? { x: 0, y: 0 });
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x, y - 24, { steps: 6 });
  await page.mouse.up();
}

/** Drags a knob until the stored settings differ. A dialog of the LSP plugins greets new users. */
async function dragUntilChanged(page: Page, name: string, settings: () => Promise<string>): Promise<void> {
  const picture = pictureOf(page, name);
  // Its title bar, which no other window covers, brings the window to the front.
  await panelOf(page, name).getByRole('heading').click({ position: { x: 4, y: 8 } });
  await expect
    .poll(async () => {
      const greeting = await pagePoint(picture, { x: 405, y: 428 });
      const shown = await picture.boundingBox();
      if (name === DELAY && shown && greeting.y < shown.y + shown.height) {
        await page.mouse.click(greeting.x, greeting.y);
        return false;
      }
      const before = await settings();
      await drag(page, name);
      return (await settings()) !== before;
    })
    .toBe(true);
}

const isInPage = async (page: Page, locator: Locator): Promise<boolean> => {
  const { x, y, width, height } = (await locator.boundingBox()) ?? { x: -1, y: -1, width: 0, height: 0 };
  const { width: pageWidth = 0, height: pageHeight = 0 } = page.viewportSize() ?? {};
  return x >= 0 && y >= 0 && x + width <= pageWidth && y + height <= pageHeight;
};

/** Whether the picture has been drawn: a blank canvas has one colour. */
const isDrawn = (picture: Locator): Promise<boolean> =>
  picture.evaluate((canvas: HTMLCanvasElement) => {
    const pixels = canvas.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height).data ?? [];
    return new Set(pixels).size > 40;
  });

test('knobs in the windows of three toolkits change the song, and the windows are docked, free and closed together', async ({ page, service }) => {
  const folder = await newSongWithPlugins(page, service, []);
  try {
    await page.getByRole('tab', { name: 'Plugin' }).click();
    await page.getByRole('button', { name: 'Open window' }).press('Enter');
    await expect(pictureOf(page, 'amsynth')).toBeVisible();
    for (const effect of [REVERB, DELAY]) await addEffect(page, effect);
    await page.getByRole('tab', { name: 'Effects' }).press('Enter');
    await openWindow(page, REVERB);
    await openWindow(page, DELAY);
    const names = [REVERB, DELAY, 'amsynth'];
    for (const name of names) {
      await expect.poll(() => isDrawn(pictureOf(page, name)), name).toBe(true);
      await expect.poll(() => isInPage(page, panelOf(page, name)), name).toBe(true);
    }
    await page.screenshot({ path: 'output/plugin-windows-free.png' });
    expect(await violationsOf(page, '[aria-label^="Window of"]'), 'open windows').toEqual([]);

    const instrument = async (): Promise<string> => JSON.stringify((await saveAndReadSong(page, service)).tracks[0]?.synth_engine);
    const effect = (index: number) => async (): Promise<string> => JSON.stringify(((await saveAndReadSong(page, service)).master.effects as unknown[])[index]);
    await dragUntilChanged(page, 'amsynth', instrument);
    await panelOf(page, 'amsynth').getByRole('button', { name: 'Dock beside the arrangement' }).click();
    await expect(page.getByRole('region', { name: 'Docked plugin windows' }).getByRole('application')).toBeVisible();
    await dragUntilChanged(page, REVERB, effect(0));
    await panelOf(page, REVERB).getByRole('button', { name: 'Dock beside the arrangement' }).click();
    await dragUntilChanged(page, DELAY, effect(1));
    for (const name of names) await expect.poll(() => isDrawn(pictureOf(page, name)), name).toBe(true);
    await page.screenshot({ path: 'output/plugin-windows-docked.png' });
    expect(await violationsOf(page, '[aria-label^="Window of"]'), 'docked windows').toEqual([]);
    await page.setViewportSize({ width: 1024, height: 768 });
    await expect.poll(() => isInPage(page, panelOf(page, DELAY))).toBe(true);
    await page.screenshot({ path: 'output/plugin-windows-1024.png' });

    // A docked picture takes the pointer, and is docked again when it is opened again.
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.keyboard.press('Escape');
    await panelOf(page, DELAY).focus();
    await page.keyboard.press('Shift+Escape');
    await expect(page.getByRole('region', { name: /^Window of/ })).toHaveCount(0);
    await openWindow(page, REVERB);
    await expect(page.getByRole('region', { name: 'Docked plugin windows' }).getByRole('application')).toBeVisible();
    await page.keyboard.press('Escape');
    await expect(page.getByRole('region', { name: /^Window of/ })).toHaveCount(0);
    await expect(effectPanel(page, REVERB).getByRole('button', { name: 'Open window' })).toBeFocused();
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('pictures are sharp on screens with many pixels, and a window whose process died is opened again', async ({ browser }) => {
  const service = await startService({});
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, deviceScaleFactor: 2, hasTouch: true });
  const page = await context.newPage();
  const sent: string[] = [];
  page.on('websocket', (socket) => socket.on('framesent', ({ payload }) => sent.push(String(payload))));
  const folder = await newSongWithPlugins(page, service, [REVERB]);
  try {
    await openWindow(page, REVERB);
    const picture = pictureOf(page, REVERB);
    await expect.poll(() => isDrawn(picture)).toBe(true);
    const shownWidth = async (): Promise<number> => (await picture.boundingBox())?.width ?? 0;
    const width = Number(await picture.getAttribute('width'));
    expect(await shownWidth()).toBe(width);
    await expect(picture).toHaveCSS('image-rendering', 'pixelated');
    await panelOf(page, REVERB).screenshot({ path: 'output/plugin-window-sharp.png' });
    // A finger presses and releases the pointer of the plugin.
    const { x, y } = await pagePoint(picture, { x: 150, y: 80 });
    await page.touchscreen.tap(x, y);
    for (const down of [true, false]) {
      await expect.poll(() => sent.some((message) => message.includes(`{"type":"button","x":150,"y":80,"button":0,"down":${down}}`))).toBe(true);
    }
    await page.getByRole('button', { name: 'Double size' }).click();
    await expect.poll(shownWidth).toBe(2 * width);

    for (const pid of helpersOf(service.pid)) process.kill(pid, 'SIGKILL');
    await expect(panelOf(page, REVERB).getByRole('alert')).toContainText('The song keeps all changes.');
    await page.screenshot({ path: 'output/plugin-window-ended.png' });
    expect(await violationsOf(page, '[aria-label^="Window of"]'), 'an ended window').toEqual([]);
    await page.getByRole('button', { name: 'Open again' }).click();
    await expect.poll(() => isDrawn(picture)).toBe(true);
  } finally {
    rmSync(folder, { recursive: true });
    await context.close();
    await service.stop();
  }
});
