/** Records Chromium's fake microphone, which plays a file, on an audio track. */
import type { Page } from '@playwright/test';
import { newSong } from '../support/demo';
import { openStudio, RATE_HZ, SINE_LEVEL, type Block } from '../support/microphone';
import { expect, test, type Service } from '../support/service';

test.use({ settings: { SF_INSTRUMENT_SOUND: 'client' } });

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
 * so the file of the microphone shows less. Returns the channels of the recording, and the frame of
 * the audio context at its end.
 */
async function expectReceived(page: Page, service: Service, clip: AudioClip, blocks: readonly Block[]): Promise<{ channels: Float32Array[]; endFrame: number }> {
  const answer = await page.request.get(`${service.url}/api/v1/audio/${clip.source.server_file_id}/file`);
  const file = await answer.body();
  const channelCount = file.readUInt16LE(22);
  const values = new Float32Array(file.buffer.slice(file.byteOffset + 44, file.byteOffset + 44 + 4 * Math.floor((file.length - 44) / 4)));
  const frames = values.length / channelCount;
  expect(frames).toBe(clip.offset_frames + clip.length_frames);
  const firstFrame = blocks[0]?.frame ?? 0;
  const last = blocks.at(-1);
  const channels = Array.from({ length: channelCount }, (_, channel) => values.filter((_value, index) => index % channelCount === channel));
  const received = channels.map((_, channel) => {
    const joined = new Float32Array((last?.frame ?? 0) + (last?.channels[0]?.length ?? 0) - firstFrame);
    for (const { frame, channels: parts } of blocks) joined.set(parts[channel] ?? [], frame - firstFrame);
    return joined;
  });
  // Silence fits in many places, so the first sound is compared first.
  const anchor = Math.max(0, channels[0]?.findIndex((value) => value !== 0) ?? 0);
  const isPartAt = (start: number): boolean => received[0]?.[start + anchor] === channels[0]?.[anchor] && channels.every((samples, channel) => samples.every((value, index) => value === received[channel]?.[start + index]));
  const starts = Array.from({ length: Math.max(0, (received[0]?.length ?? 0) - frames + 1) }, (_, start) => start);
  const start = starts.find(isPartAt) ?? -1;
  expect(start, 'the recording is a part of the input').toBeGreaterThanOrEqual(0);
  expect(values.reduce((peak, value) => Math.max(peak, Math.abs(value)), 0)).toBeGreaterThan(SINE_LEVEL / 2);
  return { channels, endFrame: firstFrame + start + frames };
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

test('both channels of a stereo input are recorded, until after the track is disarmed', async ({ service }) => {
  const { browser, blocks } = await openStudio(2);
  const page = browser.pages()[0] ?? (await browser.newPage());
  await armTrack(page, service);
  await page.getByRole('button', { name: 'Input of Audio 1' }).click();
  await page.getByRole('menuitemradio', { name: 'Stereo' }).click();
  await expect.poll(() => blocks.at(-1)?.channels.length).toBe(2);
  await record(page, service, RATE_HZ);
  const disarmedAtFrame = await page.evaluate((rateHz) => {
    const frame = (window.songfoundry.engine?.context.currentTime ?? 0) * rateHz;
    document.querySelector<HTMLButtonElement>('button[aria-label="Arm Audio 1 for recording"]')?.click();
    return frame;
  }, RATE_HZ);
  await expect(page.getByRole('button', { name: 'Undo' })).toHaveAttribute('title', /Record audio/);
  const clip = await storedClip(page, service);
  const stereoBlocks = blocks.filter((block) => block.channels.length === 2);
  const { channels, endFrame } = await expectReceived(page, service, clip, stereoBlocks);
  expect(channels).toHaveLength(2);
  expect(channels[1]?.some((value, frame) => value !== channels[0]?.[frame]), 'the channels differ').toBe(true);
  // What was played until then arrives after the latency, of which the browser reports 40 ms.
  expect(endFrame).toBeGreaterThan(disarmedAtFrame + 0.03 * RATE_HZ);
  const lastPeak = channels[0]?.slice(-0.02 * RATE_HZ).reduce((peak, value) => Math.max(peak, Math.abs(value)), 0);
  expect(lastPeak, 'the end is not silent').toBeGreaterThan(SINE_LEVEL / 2);
  await browser.close();
});

/** Measures the level of all nodes except the engine that are connected to the page's output. */
function watchOutput(): void {
  const connect = AudioNode.prototype.connect as (this: AudioNode, target: AudioNode) => AudioNode;
  const handle: { outputPeak?: () => number } = {};
  Object.assign(globalThis, { output: handle });
  AudioNode.prototype.connect = function (this: AudioNode, ...args: unknown[]): AudioNode {
    if (args[0] === this.context.destination && this instanceof StereoPannerNode) {
      const analyser = this.context.createAnalyser();
      connect.call(this, analyser);
      handle.outputPeak = () => {
        const values = new Float32Array(analyser.fftSize);
        analyser.getFloatTimeDomainData(values);
        return Math.max(...values.map(Math.abs));
      };
    }
    return Reflect.apply(connect, this, args) as AudioNode;
  } as AudioNode['connect'];
}

test('the input is heard at the level of its track, and not while the track is muted', async ({ service }) => {
  const { browser } = await openStudio();
  const page = browser.pages()[0] ?? (await browser.newPage());
  await page.addInitScript(watchOutput);
  await armTrack(page, service);
  const level = (): Promise<number> => page.evaluate(() => (globalThis as unknown as { output: { outputPeak: () => number } }).output.outputPeak());
  expect(await level(), 'nothing is heard at first').toBe(0);
  const menu = page.getByRole('button', { name: 'Input of Audio 1' });
  await menu.click();
  await page.getByRole('menuitemcheckbox', { name: /^Hear the input \(\d+ ms late\)$/ }).click();
  await expect.poll(level).toBeGreaterThan(0.6 * SINE_LEVEL);
  await page.getByRole('button', { name: 'Mute Audio 1' }).click();
  await expect.poll(level).toBeLessThan(0.01 * SINE_LEVEL);
  await page.getByRole('button', { name: 'Mute Audio 1' }).click();
  await expect.poll(level).toBeGreaterThan(0.6 * SINE_LEVEL);
  const fader = page.getByRole('list', { name: 'Tracks' }).getByRole('spinbutton', { name: 'Level of Audio 1 in decibels' });
  await fader.focus();
  await page.keyboard.press('Enter');
  await page.keyboard.type('-20');
  await page.keyboard.press('Enter');
  await expect.poll(level).toBeLessThan(0.15 * SINE_LEVEL);
  await expect.poll(level).toBeGreaterThan(0.05 * SINE_LEVEL);
  await browser.close();
});

test('a recording whose tab was closed is discarded, and is not offered again', async ({ service }) => {
  const { browser } = await openStudio();
  const page = browser.pages()[0] ?? (await browser.newPage());
  await armTrack(page, service);
  await page.keyboard.press('Control+s');
  await expect(page.getByRole('status', { name: 'Save state' })).toHaveText(/^Saved/);
  await record(page, service, RATE_HZ / 2);
  const reopened = await browser.newPage();
  await page.close();
  await reopened.goto(service.url);
  const receiving = async (): Promise<number> => {
    const answer = await reopened.request.get(`${service.url}/api/v1/audio/uploads`);
    const { items } = (await answer.json()) as { items: { state: string }[] };
    return items.filter(({ state }) => state === 'receiving').length;
  };
  const discard = reopened.getByRole('button', { name: 'Discard', exact: true });
  await expect(discard).toBeVisible();
  const before = await receiving();
  expect(before).toBeGreaterThan(0);
  await discard.click();
  await expect.poll(receiving).toBe(before - 1);
  const kept = (): Promise<number> =>
    reopened.evaluate(
      () =>
        new Promise<number>((resolve, reject) => {
          const opening = indexedDB.open('songfoundry-recordings', 1);
          opening.onerror = () => reject(opening.error ?? new Error('the browser refused storage'));
          opening.onsuccess = () => {
            const count = opening.result.transaction('recordings').objectStore('recordings').count();
            count.onsuccess = () => resolve(count.result);
          };
        }),
    );
  await expect.poll(kept).toBe(0);
  await expect(reopened.getByRole('button', { name: 'Undo' })).toBeDisabled();
  await browser.close();
});
