/** Records Chromium's fake microphone, which plays a file, on an audio track. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type BrowserContext, type Page } from '@playwright/test';
import { newSong } from '../support/demo';
import { expect, test, type Service } from '../support/service';

test.use({ settings: { SF_INSTRUMENT_SOUND: 'client' } });

const RATE_HZ = 48_000;
/** Length of the fake microphone's file in seconds; longer than any of these recordings. */
const MICROPHONE_SECS = 120;
const SINE_HZ = 100;
const SINE_LEVEL = 0.25;

/** Writes a sine as a 16-bit WAV file for the fake microphone. */
function microphoneFile(folder: string): string {
  const frames = MICROPHONE_SECS * RATE_HZ;
  const bytes = Buffer.alloc(44 + 2 * frames);
  bytes.write('RIFF', 0, 'latin1');
  bytes.writeUInt32LE(36 + 2 * frames, 4);
  bytes.write('WAVEfmt ', 8, 'latin1');
  bytes.writeUInt32LE(16, 16);
  bytes.writeUInt16LE(1, 20);
  bytes.writeUInt16LE(1, 22);
  bytes.writeUInt32LE(RATE_HZ, 24);
  bytes.writeUInt32LE(2 * RATE_HZ, 28);
  bytes.writeUInt16LE(2, 32);
  bytes.writeUInt16LE(16, 34);
  bytes.write('data', 36, 'latin1');
  bytes.writeUInt32LE(2 * frames, 40);
  for (let frame = 0; frame < frames; frame++) {
    const value = SINE_LEVEL * Math.sin((2 * Math.PI * SINE_HZ * frame) / RATE_HZ);
    bytes.writeInt16LE(Math.round(32_767 * value), 44 + 2 * frame);
  }
  const path = join(folder, 'microphone.wav');
  writeFileSync(path, bytes);
  return path;
}

/** A block that the page received from the audio input, and the number of its first frame. */
type Block = { frame: number; samples: number[] };

/** A browser whose microphone plays the file, and the blocks that its pages receive from it. */
type Studio = { browser: BrowserContext; blocks: Block[] };

/** Passes the blocks of the page's audio inputs on to the test. */
function watchInputs(): void {
  const Node = globalThis.AudioWorkletNode;
  const { receiveBlock } = globalThis as unknown as { receiveBlock: (block: Block) => void };
  globalThis.AudioWorkletNode = class extends Node {
    constructor(context: BaseAudioContext, name: string, options?: AudioWorkletNodeOptions) {
      super(context, name, options);
      if (name !== 'songfoundry-input') return;
      this.port.addEventListener('message', ({ data }: MessageEvent<{ frame: number; channels: Float32Array[] } | null>) => {
        if (data) receiveBlock({ frame: data.frame, samples: [...(data.channels[0] ?? [])] });
      });
    }
  };
}

/** Opens a browser with a profile whose microphone plays the file. */
async function openStudio(): Promise<Studio> {
  const blocks: Block[] = [];
  const browser = await openBrowser();
  await browser.exposeFunction('receiveBlock', (block: Block) => void blocks.push(block));
  await browser.addInitScript(watchInputs);
  return { browser, blocks };
}

async function openBrowser(): Promise<BrowserContext> {
  const folder = mkdtempSync(join(tmpdir(), 'songfoundry-microphone-'));
  return chromium.launchPersistentContext(join(folder, 'profile'), {
    executablePath: process.env.SF_TEST_CHROMIUM ?? '/usr/bin/chromium',
    viewport: { width: 1440, height: 900 },
    permissions: ['microphone'],
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--autoplay-policy=no-user-gesture-required',
      '--use-fake-ui-for-media-stream',
      '--use-fake-device-for-media-stream',
      `--use-file-for-fake-audio-capture=${microphoneFile(folder)}`,
    ],
  });
}

type AudioClip = { id: string; start_tick: number; offset_frames: number; length_frames: number; source: { server_file_id: string } };
type StoredSong = { project_id: string; tracks: { name: string; items: AudioClip[] }[] };

/** Adds an audio track to an empty song, and arms it. */
async function armTrack(page: Page, service: Service): Promise<void> {
  await page.goto(service.url);
  await expect(page.getByRole('button', { name: 'Play', exact: true })).toBeEnabled();
  await newSong(page);
  await page.getByRole('button', { name: 'Add another kind of track' }).click();
  await page.getByRole('menuitem', { name: 'Audio track', exact: true }).click();
  await page.getByRole('button', { name: 'Arm Audio 1 for recording' }).click();
  const meter = page.getByRole('meter', { name: 'Input level of Audio 1' });
  await expect.poll(async () => Number(await meter.getAttribute('aria-valuenow'))).toBeGreaterThan(-30);
}

/** Records until at least `frames` frames of the upload have reached the service. */
async function record(page: Page, service: Service, frames: number): Promise<void> {
  await page.getByRole('button', { name: 'Record', exact: true }).click();
  await expect
    .poll(async () => {
      const uploads = (await (await page.request.get(`${service.url}/api/v1/audio/uploads`)).json()) as { items: { offset_bytes: number }[] };
      return Math.max(0, ...uploads.items.map((upload) => upload.offset_bytes / 4));
    })
    .toBeGreaterThan(frames);
}

/** Saves the song, and returns its only clip once there is one. */
async function storedClip(page: Page, service: Service): Promise<AudioClip> {
  const clipName = page.getByRole('status', { name: 'Save state' });
  await page.keyboard.press('Control+s');
  await expect(clipName).toHaveText(/^Saved/);
  const songs = (await (await page.request.get(`${service.url}/api/v1/projects`)).json()) as { items: { project_id: string }[] };
  for (const { project_id: id } of songs.items) {
    const song = (await (await page.request.get(`${service.url}/api/v1/projects/${id}`)).json()) as StoredSong;
    const clip = song.tracks.find(({ name }) => name === 'Audio 1')?.items[0];
    if (clip) return clip;
  }
  throw new Error('no stored song has a recorded clip');
}

/**
 * Checks that a stored recording is, to the bit, a part of what the page received from the input.
 * Frames that the browser left out are silent. A busy browser loses sound before the page gets it,
 * so the file of the microphone shows less.
 */
async function expectReceived(page: Page, service: Service, clip: AudioClip, blocks: readonly Block[]): Promise<void> {
  const answer = await page.request.get(`${service.url}/api/v1/audio/${clip.source.server_file_id}/file`);
  const file = await answer.body();
  const samples = new Float32Array(file.buffer.slice(file.byteOffset + 44, file.byteOffset + 44 + 4 * Math.floor((file.length - 44) / 4)));
  expect(samples.length).toBe(clip.offset_frames + clip.length_frames);
  const firstFrame = blocks[0]?.frame ?? 0;
  const last = blocks.at(-1);
  const receivedSamples = new Float32Array((last?.frame ?? 0) + (last?.samples.length ?? 0) - firstFrame);
  for (const { frame, samples: part } of blocks) receivedSamples.set(part, frame - firstFrame);
  const isPartAt = (start: number): boolean => samples.every((value, index) => value === receivedSamples[start + index]);
  const starts = Array.from({ length: Math.max(0, receivedSamples.length - samples.length + 1) }, (_, start) => start);
  expect(starts.some(isPartAt), 'the recording is a part of the input').toBe(true);
  expect(samples.reduce((peak, value) => Math.max(peak, Math.abs(value)), 0)).toBeGreaterThan(SINE_LEVEL / 2);
}

test('a recording has every sample of the input, and its clip starts at the playhead', async ({ service }) => {
  const { browser, blocks } = await openStudio();
  const page = browser.pages()[0] ?? (await browser.newPage());
  await armTrack(page, service);
  await record(page, service, RATE_HZ);
  await page.getByRole('button', { name: 'Stop' }).click();
  await expect(page.getByRole('button', { name: 'Undo' })).toBeEnabled();
  await expect(page.getByRole('button', { name: 'Undo' })).toHaveAttribute('title', /Record audio/);
  const clip = await storedClip(page, service);
  expect(clip.start_tick).toBe(0);
  expect(clip.length_frames).toBeGreaterThan(RATE_HZ);
  await expectReceived(page, service, clip, blocks);
  await browser.close();
});

test('a recording whose tab was closed is recovered', async ({ service }) => {
  const { browser, blocks } = await openStudio();
  const page = browser.pages()[0] ?? (await browser.newPage());
  await armTrack(page, service);
  await page.keyboard.press('Control+s');
  await expect(page.getByRole('status', { name: 'Save state' })).toHaveText(/^Saved/);
  await record(page, service, RATE_HZ);
  const reopened = await browser.newPage();
  await page.close();
  await reopened.goto(service.url);
  await reopened.getByRole('button', { name: 'Recover recording' }).click();
  await expect(reopened.getByRole('button', { name: 'Undo' })).toHaveAttribute('title', /Record audio/);
  const clip = await storedClip(reopened, service);
  expect(clip.start_tick).toBe(0);
  expect(clip.length_frames).toBeGreaterThan(RATE_HZ / 2);
  await expectReceived(reopened, service, clip, blocks);
  await browser.close();
});
