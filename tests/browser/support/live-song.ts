/** Songs whose plugins play live: a steady organ through ZamVerb, and what the service renders. */
import type { Locator, Page } from '@playwright/test';
import { readFloatWav } from './audio';
import type { Recording } from './capture';
import { openDemo } from './demo';
import { expect, type Service } from './service';

const RATE_HZ = 48_000;
/** Ticks of a second at 120 quarter notes a minute. */
export const TICKS_PER_SEC = 1_920;
/** Blocks of the buffer: 1.28 seconds, for which a busy machine may stop a process. */
const BUFFER_BLOCKS = 240;

const NOTE_TICKS = 960;
const PITCHES = [60, 64, 67, 62];

type Json = Record<string, unknown>;
export type Song = Json & { tracks: Json[]; master: Json };

export const effectPanel = (page: Page, name: string): Locator => page.getByRole('listitem', { name: new RegExp(`^Effect \\d+: ${name}`) });

/** Returns ZamVerb as an effect of a song. `wet` is from 0 to 1. */
export const zamVerb = (id: string, wet: number, bypass = false): Json => ({ id, type: 'vst2', plugin_id: '5A565242', name: 'ZamVerb', params: { '1': wet }, bypass });

/** Returns a track on which an organ plays a note each half second, without a gap. */
export function organTrack(id: string, name: string, secs: number, effects: readonly Json[] = []): Json {
  const notes = Array.from({ length: 2 * secs }, (_, index) => ({
    tick: index * NOTE_TICKS,
    length_ticks: NOTE_TICKS + 40,
    pitch: PITCHES[index % PITCHES.length],
    velocity: 0.6,
  }));
  const controls = [91, 93].map((controller) => ({ tick: 0, type: 'cc', controller, value: 0 }));
  const synthEngine = { type: 'soundfont', soundfont_id: 'timgm6mb', bank: 0, program: 16 };
  const item = { type: 'midi', id: `${id}-item`, start_tick: 0, length_ticks: secs * TICKS_PER_SEC, notes, controls };
  return { id, name, kind: 'instrument', volume_db: -12, synth_engine: synthEngine, items: [item], effects };
}

/** Returns a song at 120 quarter notes a minute. */
export const songOf = (tracks: Json[], masterEffects: readonly Json[] = [], client: Json = {}): Song => ({
  schema_version: 1,
  project_id: 'demo',
  name: 'Live plugins',
  sample_rate_hz: RATE_HZ,
  client,
  tracks,
  master: { effects: masterEffects },
});

/** Stores a song as the demo song, and opens it. */
export async function openSong(page: Page, service: Service, song: Song): Promise<void> {
  const address = `${service.url}/api/v1/projects/demo`;
  const revision = (await page.request.get(address)).headers()['etag'] ?? '';
  const stored = await page.request.put(address, { data: song, headers: { 'If-Match': revision } });
  expect(stored.ok(), await stored.text()).toBe(true);
  await openDemo(page, service);
}

/** Lets the pages of a test buffer so much that a busy machine is not late. */
export async function useLargeBuffer(page: Page): Promise<void> {
  await page.addInitScript((blocks) => localStorage.setItem('songfoundry.liveBufferBlocks', String(blocks)), BUFFER_BLOCKS);
}

/** Returns the service's render of a song as 32-bit floats. */
export async function renderSong(page: Page, service: Service, song: Song): Promise<Recording> {
  const answer = await page.request.post(`${service.url}/api/v1/plugins/render`, { data: { project: song, format: 'wav', bit_depth: 'float32' }, timeout: 300_000 });
  expect(answer.status(), await answer.text()).toBe(200);
  const { audio_url: url } = (await answer.json()) as { audio_url: string };
  return readFloatWav(await (await page.request.get(new URL(url, service.url).href)).body());
}

/** Counts of the service since it started, by the names of `/metrics`. */
export async function liveCounts(page: Page, service: Service): Promise<{ blocks: number; lateBlocks: number; restarts: number }> {
  const text = await (await page.request.get(`${service.url}/metrics`)).text();
  const count = (name: string): number => Number.parseFloat(new RegExp(`^songfoundry_live_plugin_${name}_total (\\d+)`, 'm').exec(text)?.[1] ?? 'NaN');
  return { blocks: count('blocks'), lateBlocks: count('late_blocks'), restarts: count('restarts') };
}

/** Waits until the audio clock of the page has advanced by a number of frames. */
export async function passFrames(page: Page, frames: number): Promise<void> {
  await page.evaluate((count) => {
    const { context } = window.songfoundry.engine ?? {};
    if (!context) throw new Error('the engine is not ready');
    const endSecs = context.currentTime + count / context.sampleRate;
    return new Promise<void>((resolve) => {
      const timer = setInterval(() => {
        if (context.currentTime < endSecs) return;
        clearInterval(timer);
        resolve();
      }, 50);
    });
  }, frames);
}

/** Returns the late blocks of all live chains since they were opened. */
export function lateBlocksOfAll(page: Page): Promise<number> {
  return page.evaluate(() => {
    const { engine } = window.songfoundry;
    if (!engine) throw new Error('the engine is not ready');
    return new Promise<number>((resolve) => {
      const end = engine.onStatus(({ live }) => {
        end();
        resolve(live.reduce((sum, { lateBlocks }) => sum + lateBlocks, 0));
      });
    });
  });
}
