/** Opens and plays the demo song in the browser, and compares it with the service's render. */
import type { Page } from '@playwright/test';
import { largestDifference, peak, readFloatWav } from './audio';
import { recorded, recordMore, startRecording } from './capture';
import { expect, type Service } from './service';

const RATE_HZ = 48_000;
const DEMO_SECS = 88.6;
export const DEMO_TRACKS = 6;

/** Opens the page on the demo song and waits for the engine. */
export async function openDemo(page: Page, service: Service): Promise<void> {
  await page.goto(service.url);
  await expect(page.getByRole('button', { name: 'Play', exact: true })).toBeEnabled();
  await expect.poll(() => page.evaluate(() => window.songfoundry?.engine !== null)).toBe(true);
}

/** Starts playback, and waits until the song plays. */
export async function play(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Play', exact: true }).click();
  await expect(page.getByRole('button', { name: 'Play', pressed: true })).toBeVisible();
}

/** Returns the bar of the playhead, counted from 1. */
export async function shownBar(page: Page): Promise<number> {
  const position = page.getByRole('button', { name: /^Position in bars/ });
  return Number.parseInt((await position.textContent()) ?? '', 10);
}

/** Waits until the playhead reaches a bar, counted from 1. */
export async function playToBar(page: Page, bar: number): Promise<void> {
  await expect.poll(() => shownBar(page)).toBeGreaterThanOrEqual(bar);
}

/**
 * Starts an empty song from the menu, and discards unsaved work that an earlier test autosaved.
 */
export async function newSong(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Project menu' }).click();
  await page.getByRole('menuitem', { name: 'New song', exact: true }).click();
  const leaveButton = page.getByRole('button', { name: 'Leave without saving' });
  const emptySong = page.getByRole('heading', { name: 'An empty song' });
  await expect(leaveButton.or(emptySong)).toBeVisible();
  if (await leaveButton.isVisible()) await leaveButton.click();
  await expect(emptySong).toBeVisible();
}

/**
 * Returns a function that counts the tracks that the service has rendered for the page since this
 * call.
 */
export function countTrackRenders(page: Page): () => number {
  let count = 0;
  page.on('requestfinished', (request) => {
    if (request.url().endsWith('/plugins/soundfont-sounds')) count += 1;
  });
  return () => count;
}

/** Returns the service's render of the stored demo song, in 32-bit float. */
async function demoRender(page: Page, service: Service): Promise<ReturnType<typeof readFloatWav>> {
  const project: unknown = await (await page.request.get(`${service.url}/api/v1/projects/demo`)).json();
  const answer = await page.request.post(`${service.url}/api/v1/plugins/render`, {
    data: { project, format: 'wav', bit_depth: 'float32' },
  });
  expect(answer.status()).toBe(200);
  const { audio_url: url } = (await answer.json()) as { audio_url: string };
  return readFloatWav(await (await page.request.get(new URL(url, service.url).href)).body());
}

/**
 * Plays the demo song to its end, records the worklet's output, and compares it with the service's
 * render. `instrumentSound` is the expected renderer of the instruments.
 */
export async function expectDemoAsRendered(
  page: Page,
  service: Service,
  instrumentSound: 'server' | 'client',
): Promise<void> {
  const trackRenders = countTrackRenders(page);
  await openDemo(page, service);
  const expectedRenders = instrumentSound === 'server' ? DEMO_TRACKS : 0;
  await expect.poll(trackRenders).toBe(expectedRenders);
  await expect(page.getByText(`sound from ${instrumentSound === 'server' ? 'the service' : 'this browser'}`, { exact: true })).toBeVisible();
  await startRecording(page);
  await play(page);
  await expect(page.getByRole('button', { name: 'Play', pressed: false })).toBeVisible({ timeout: 200_000 });
  await recordMore(page, RATE_HZ / 2);
  const recording = await recorded(page);
  const demoSound = await demoRender(page, service);
  expect(demoSound.sampleRateHz).toBe(48_000);
  expect(peak(recording.left)).toBeGreaterThan(0.1);
  const { difference, frames } = largestDifference(recording, demoSound);
  console.log(`${instrumentSound}: largest difference ${difference.toExponential(2)} over ${frames} frames`);
  expect(frames).toBeGreaterThan((DEMO_SECS - 1) * 48_000);
  expect(difference, 'playback equals the export, to the bit').toBe(0);
}
