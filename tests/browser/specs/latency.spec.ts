/**
 * The latency of recordings, measured through a loop from the page's output to its input. The input
 * is a stream of Web Audio that gets what the page plays, later by a delay that the tests set.
 */
import type { Page } from '@playwright/test';
import { violationsOf } from '../support/accessibility';
import { expect, test, type Service } from '../support/service';
import { saveSong } from '../support/stored';

test.use({ settings: { SF_INSTRUMENT_SOUND: 'client' }, permissions: ['microphone'] });

const RATE_HZ = 48_000;

type Loopback = { delaySecs: number; gain: number };

/** Makes the page's input hear the page's output through a delay and a gain. */
function loopBack(): void {
  const settings = { delaySecs: 0.1, gain: 0.5 };
  Object.assign(globalThis, { loopback: settings });
  const nodes = new Map<BaseAudioContext, GainNode>();
  const connect = AudioNode.prototype.connect as (this: AudioNode, target: AudioNode) => AudioNode;
  const busOf = (context: BaseAudioContext): GainNode => {
    const bus = nodes.get(context) ?? context.createGain();
    nodes.set(context, bus);
    return bus;
  };
  AudioNode.prototype.connect = function (this: AudioNode, ...args: unknown[]): AudioNode {
    if (args[0] === this.context.destination) connect.call(this, busOf(this.context));
    return Reflect.apply(connect, this, args) as AudioNode;
  } as AudioNode['connect'];
  navigator.mediaDevices.getUserMedia = () => {
    const [context, bus] = [...nodes].at(-1) ?? [];
    if (!context || !bus) return Promise.reject(new Error('the page plays no sound'));
    const delay = context.createDelay(1);
    delay.delayTime.value = settings.delaySecs;
    const gain = context.createGain();
    gain.gain.value = settings.gain;
    const output = (context as AudioContext).createMediaStreamDestination();
    connect.call(bus, delay);
    connect.call(delay, gain);
    connect.call(gain, output);
    return Promise.resolve(output.stream);
  };
}

const setLoopback = (page: Page, change: Partial<Loopback>) =>
  page.evaluate((settings) => Object.assign((globalThis as unknown as { loopback: Loopback }).loopback, settings), change);

/** Stores a song at 120 BPM with a short note one second after its start and an audio track. */
async function openSong(page: Page, service: Service): Promise<void> {
  const address = `${service.url}/api/v1/projects/demo`;
  const answer = await page.request.get(address);
  const notes = [{ tick: 1920, length_ticks: 120, pitch: 75, velocity: 1 }];
  const song = {
    schema_version: 1,
    project_id: 'demo',
    name: 'Latency',
    sample_rate_hz: RATE_HZ,
    tracks: [
      {
        id: 'clave',
        name: 'Clave',
        kind: 'instrument',
        synth_engine: { type: 'soundfont', soundfont_id: 'timgm6mb', bank: 128, program: 0 },
        items: [{ type: 'midi', id: 'item', start_tick: 0, length_ticks: 3840, notes }],
      },
      { id: 'line', name: 'Line', kind: 'audio', items: [] },
    ],
  };
  const saved = await page.request.put(address, { data: song, headers: { 'If-Match': answer.headers()['etag'] ?? '' } });
  expect(saved.ok(), await saved.text()).toBe(true);
  await page.addInitScript(loopBack);
  await page.goto(service.url);
  await expect(page.getByRole('button', { name: 'Play', exact: true })).toBeEnabled();
}

/** Arms the audio track again, so that its input has the newest settings of the loopback. */
async function arm(page: Page, isArmed: boolean): Promise<void> {
  const button = page.getByRole('button', { name: 'Arm Line for recording' });
  if ((await button.getAttribute('aria-pressed')) !== String(isArmed)) await button.click();
  await expect(button).toHaveAttribute('aria-pressed', String(isArmed));
}

async function openDialog(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Input of Line' }).click();
  await page.getByRole('menuitem', { name: 'Measure latency…' }).click();
  await expect(page.getByRole('dialog', { name: 'Measure latency' })).toBeVisible();
}

const measureButton = (page: Page) => page.getByRole('button', { name: /^Measure( again)?$/ });

/** Measures with a delay, and returns the frames of latency. */
async function measured(page: Page, delaySecs: number): Promise<number> {
  await setLoopback(page, { delaySecs });
  await arm(page, false);
  await arm(page, true);
  await openDialog(page);
  await measureButton(page).click();
  const status = page.getByRole('dialog').getByRole('status');
  await expect(status).toHaveText(/frames at 48 kHz/);
  const frames = Number(/\((\d+) frames/.exec((await status.textContent()) ?? '')?.[1]);
  await page.getByRole('dialog').getByText('Close', { exact: true }).click();
  return frames;
}

test('a latency is measured to the frame, is kept for the input, and moves recordings to their place', async ({ page, service }) => {
  await openSong(page, service);
  const short = await measured(page, 0.1);
  const long = await measured(page, 0.25);
  expect(short).toBeGreaterThanOrEqual(0.1 * RATE_HZ);
  // The stream of the input may hand a render quantum on earlier or later.
  expect(Math.abs(long - short - 0.15 * RATE_HZ)).toBeLessThan(0.02 * RATE_HZ);
  await expect(page.getByRole('spinbutton', { name: 'Recording latency in milliseconds' })).toHaveText(`${Math.round(long / 48)} ms`);

  // What the page plays is recorded where it was played.
  await page.keyboard.press('Home');
  await page.getByRole('button', { name: 'Record', exact: true }).click();
  const position = page.getByRole('button', { name: /^Position in bars/ });
  await expect.poll(async () => Number((await position.textContent())?.split('.')[1] ?? 0)).toBe(4);
  await page.screenshot({ path: 'output/latency-recording.png' });
  await page.getByRole('button', { name: 'Stop' }).click();
  await expect(page.getByRole('button', { name: 'Undo' })).toHaveAttribute('title', /Record audio/);
  await saveSong(page);
  type Clip = { start_tick: number; offset_frames: number; source: { server_file_id: string } };
  const stored = (await (await page.request.get(`${service.url}/api/v1/projects/demo`)).json()) as { tracks: { items: Clip[] }[] };
  const clip = stored.tracks[1]?.items[0];
  if (!clip) throw new Error('nothing was recorded');
  const file = await (await page.request.get(`${service.url}/api/v1/audio/${clip.source.server_file_id}/file`)).body();
  const samples = new Float32Array(file.buffer.slice(file.byteOffset + 44, file.byteOffset + 44 + 4 * Math.floor((file.length - 44) / 4)));
  const onset = samples.findIndex((value) => Math.abs(value) > 2e-3);
  const songFrame = clip.start_tick * 25 + onset - clip.offset_frames;
  // 20 ms for a busy machine, whose input may hand blocks on later than during the measurement.
  expect(Math.abs(songFrame - RATE_HZ)).toBeLessThan(0.02 * RATE_HZ);

  await page.reload();
  await arm(page, true);
  await expect(page.getByRole('spinbutton', { name: 'Recording latency in milliseconds' })).toHaveText(`${Math.round(long / 48)} ms`);
});

test('a measurement says clearly that nothing was heard, and changes nothing', async ({ page, service }) => {
  await openSong(page, service);
  await setLoopback(page, { gain: 0 });
  await arm(page, true);
  const before = await page.getByRole('spinbutton', { name: 'Recording latency in milliseconds' }).textContent();
  await openDialog(page);
  await measureButton(page).click();
  await expect(page.getByRole('dialog').getByRole('alert')).toHaveText(/The input is silent/);
  await page.screenshot({ path: 'output/latency-silent.png' });
  expect(await violationsOf(page), 'axe').toEqual([]);
  await page.setViewportSize({ width: 1024, height: 768 });
  await page.screenshot({ path: 'output/latency-silent-1024.png' });
  await page.keyboard.press('Escape');
  await expect(page.getByRole('spinbutton', { name: 'Recording latency in milliseconds' })).toHaveText(before ?? '');
});
