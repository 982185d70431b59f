/** Compares what the page plays with the service's render of the stored song. */
import type { Page } from '@playwright/test';
import { firstSound, largestDifference, peak, readFloatWav } from './audio';
import { recorded, recordMore, startRecording, type Recording } from './capture';
import { expect, type Service } from './service';

/**
 * Opens the song again, which must be saved and end by itself, plays it from the start to its end,
 * and checks that the engine's output equals the service's render to the bit. Returns the output.
 */
export async function expectPlaybackAsRendered(page: Page, service: Service, projectId: string): Promise<Recording> {
  const project: unknown = await (await page.request.get(`${service.url}/api/v1/projects/${projectId}`)).json();
  const answer = await page.request.post(`${service.url}/api/v1/plugins/render`, { data: { project, format: 'wav', bit_depth: 'float32' } });
  expect(answer.status(), await answer.text()).toBe(200);
  const { audio_url: url } = (await answer.json()) as { audio_url: string };
  const rendered = readFloatWav(await (await page.request.get(new URL(url, service.url).href)).body());
  // A new engine has no tail of what sounded before.
  await page.reload();
  await expect(page.getByRole('button', { name: 'Play', exact: true })).toBeEnabled();
  await expect.poll(() => page.evaluate(() => window.songfoundry?.engine !== null)).toBe(true);
  await startRecording(page);
  await page.getByRole('button', { name: 'Play', exact: true }).click();
  await expect(page.getByRole('button', { name: 'Play', exact: true, pressed: true })).toBeVisible();
  await expect(page.getByRole('button', { name: 'Play', exact: true, pressed: false })).toBeVisible();
  await recordMore(page, 24_000);
  const recording = await recorded(page);
  expect(peak(recording.left)).toBeGreaterThan(0.01);
  const { difference, frames } = largestDifference(recording, rendered);
  expect(frames).toBeGreaterThan(0.9 * (rendered.left.length - firstSound(rendered)));
  expect(difference, 'playback equals the export, to the bit').toBe(0);
  return recording;
}
