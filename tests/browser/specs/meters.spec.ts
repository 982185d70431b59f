/** The meters of the master show the measurements of the engine. */
import type { Locator, Page } from '@playwright/test';
import { openDemo, playToBar } from '../support/demo';
import { expect, test, type Service } from '../support/service';

type Song = { tempo_map: { tick: number; bpm: number }[] };

const panelOf = (page: Page): Locator => page.getByRole('region', { name: 'Loudness of the master' });

/** Reads a number in the form that the page writes. Silence is minus infinity. */
function parseNumber(text: string | null): number {
  const plainText = (text ?? '').replace('\u2212', '-');
  return plainText.includes('\u221e') ? -Infinity : Number.parseFloat(plainText);
}

/** Returns the value with a name in the panel. */
async function panelValue(page: Page, name: string): Promise<number> {
  const panelRow = panelOf(page).locator('dl > div').filter({ has: page.getByText(name, { exact: true }) });
  return parseNumber(await panelRow.locator('dd').textContent());
}

async function integratedLufs(page: Page): Promise<number> {
  return parseNumber(await panelOf(page).getByRole('button', { name: 'LUFS integrated' }).textContent());
}

/** Returns the heights of the columns of the spectrum, as fractions of the canvas height. */
function columns(canvas: HTMLCanvasElement): number[] {
  const context = canvas.getContext('2d');
  const { width, height } = canvas;
  const pixels = context?.getImageData(0, 0, width, height).data ?? new Uint8ClampedArray();
  // The columns are opaque. The labels below them are excluded.
  return Array.from({ length: 31 }, (_, band) => {
    const x = Math.floor(((band + 0.4) * width) / 31);
    const alphas = Array.from({ length: height - 16 }, (_row, y) => pixels[4 * (y * width + x) + 3] ?? 0);
    return alphas.filter((alpha) => alpha > 0).length / height;
  });
}

/**
 * Makes the page open the demo song at a multiple of its tempo, so that a test can play the whole
 * song. Returns the faster song.
 */
async function speedUp(page: Page, service: Service, tempoFactor: number): Promise<Song> {
  const url = `${service.url}/api/v1/projects/demo`;
  const song = (await (await page.request.get(url)).json()) as Song;
  const faster = { ...song, tempo_map: song.tempo_map.map((point) => ({ ...point, bpm: point.bpm * tempoFactor })) };
  await page.route(url, async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: faster });
  });
  return faster;
}

test('the meters show plausible values while the demo song plays', async ({ page, service }) => {
  await openDemo(page, service);
  const panel = panelOf(page);
  await expect(panel).toBeVisible();
  expect(await integratedLufs(page)).toBe(-Infinity);
  await page.getByRole('button', { name: 'Play' }).click();
  await expect.poll(() => integratedLufs(page)).toBeGreaterThan(-40);
  await playToBar(page, 4);

  for (const name of ['Momentary', 'Short-term', 'RMS left', 'RMS right']) {
    const value = await panelValue(page, name);
    expect(value, name).toBeGreaterThan(-45);
    expect(value, name).toBeLessThan(-5);
  }
  const [peak, truePeak] = [await panelValue(page, 'Peak'), await panelValue(page, 'True peak')];
  expect(peak).toBeGreaterThan(await panelValue(page, 'RMS left'));
  // The limiter of the master limits sample peaks, not true peaks.
  expect(peak).toBeLessThanOrEqual(-3);
  expect(truePeak).toBeGreaterThanOrEqual(peak);
  expect(truePeak).toBeLessThan(0);
  const correlation = parseNumber(await panel.locator('.correlation .number').textContent());
  expect(Math.abs(correlation)).toBeLessThanOrEqual(1);
  expect(correlation).not.toBe(0);
  const heights = await panel.locator('canvas').evaluate(columns);
  expect(Math.max(...heights.slice(5, 25))).toBeGreaterThan(0.3);
  await page.screenshot({ path: 'output/meters.png' });

  await page.getByRole('button', { name: 'Stop' }).click();
  await expect.poll(() => panelValue(page, 'Momentary')).toBeLessThan(-70);
  const stoppedLoudness = await integratedLufs(page);
  expect(stoppedLoudness).toBeGreaterThan(-40);
  await panel.getByRole('button', { name: 'LUFS integrated' }).click();
  await expect.poll(() => integratedLufs(page)).toBe(-Infinity);

  const toggle = page.getByRole('button', { name: 'Meters', exact: true });
  await toggle.click();
  await expect(panel).toBeHidden();
  await toggle.click();
  await expect(panel).toBeVisible();
});

test('the meters fit a small window', async ({ page, service }) => {
  await page.setViewportSize({ width: 1024, height: 768 });
  await openDemo(page, service);
  await page.getByRole('button', { name: 'Mixer' }).click();
  await page.getByRole('button', { name: 'Play' }).click();
  await expect.poll(() => integratedLufs(page)).toBeGreaterThan(-40);
  const spectrum = await panelOf(page).locator('canvas').boundingBox();
  expect(spectrum?.height).toBeGreaterThanOrEqual(40);
  expect((spectrum?.y ?? 768) + (spectrum?.height ?? 0)).toBeLessThan(768);
  await page.screenshot({ path: 'output/meters-1024.png' });
});

test('the measured loudness of a song equals that of its export', async ({ page, service }) => {
  const song = await speedUp(page, service, 4);
  await openDemo(page, service);
  await page.getByRole('button', { name: 'Play' }).click();
  await expect(page.getByRole('button', { name: 'Play', pressed: true })).toBeVisible();
  await expect(page.getByRole('button', { name: 'Play', pressed: false })).toBeVisible();
  const played = { lufs: await integratedLufs(page), truePeakDbtp: await panelValue(page, 'True peak') };
  const answer = await page.request.post(`${service.url}/api/v1/plugins/render`, {
    data: { project: song, format: 'wav', bit_depth: 'float32' },
  });
  expect(answer.status()).toBe(200);
  const { lufs, true_peak_db: truePeakDb } = (await answer.json()) as { lufs: number; true_peak_db: number };
  console.log(`played ${played.lufs} LUFS and ${played.truePeakDbtp} dBTP, exported ${lufs} LUFS and ${truePeakDb} dBTP`);
  expect(Math.abs(played.lufs - lufs)).toBeLessThan(0.2);
  expect(Math.abs(played.truePeakDbtp - truePeakDb)).toBeLessThan(0.2);
});
