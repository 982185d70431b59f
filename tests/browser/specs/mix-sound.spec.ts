/**
 * Playback of effects, buses, groups and automation equals the service's render, to the bit.
 */
import type { Page } from '@playwright/test';
import { largestDifference, peak, readFloatWav } from '../support/audio';
import { recorded, recordMore, startRecording } from '../support/capture';
import { openDemo, play } from '../support/demo';
import { expect, test, type Service } from '../support/service';

// This test stores a song. A setting that differs from the default gives it a separate service.
test.use({ settings: { SF_INSTRUMENT_SOUND: 'client', SF_LOG: 'warn' } });

/**
 * Level above which a recording counts as started. Oversampled effects ring before the first note.
 * The page records that ringing, but it is before the first frame of an export.
 */
const ONSET_LEVEL = 1e-3;

const RATE_HZ = 48_000;

type Json = Record<string, unknown>;
type Document = { tracks: Json[]; master: Json };

const effect = (id: string, name: string, params: Json = {}): Json => ({ id, type: 'builtin', name, params });

/** Returns the demo song with effects, sends, a bus, a group, a side-chain and automation. */
function withMix(song: Document): Document {
  const [flute, piano, guitar, strings, bass, drums] = song.tracks;
  return {
    ...song,
    tracks: [
      { ...flute, effects: [effect('c', 'compressor', { threshold_db: -30 }), effect('e', 'equalizer', { bell_2_gain_db: 6 })], sends: [{ to: 'room', level_db: -6 }] },
      { ...piano, effects: [effect('k', 'chorus'), effect('l', 'limiter')], output: 'band' },
      { ...guitar, effects: [effect('d', 'delay')], sends: [{ to: 'room', level_db: -12, pre_fader: true }] },
      {
        ...strings,
        automation: [
          { target: 'volume_db', points: [{ tick: 0, value: -24, curve: 0.5 }, { tick: 9600, value: 0, curve: 'step' }, { tick: 19200, value: -6 }] },
        ],
      },
      { ...bass, output: 'band', effects: [{ ...effect('g', 'gate'), side_chain: drums?.['id'] }] },
      { ...drums },
      { id: 'room', kind: 'bus', effects: [effect('r', 'reverb', { mix: 1 })], volume_db: -3 },
      { id: 'band', kind: 'group', effects: [effect('s', 'saturator')] },
    ],
    master: { ...song.master, effects: [effect('u', 'utility', { gain_db: -3 }), effect('w', 'width')] },
  };
}

async function storeMix(page: Page, service: Service): Promise<Document> {
  const address = `${service.url}/api/v1/projects/demo`;
  const answer = await page.request.get(address);
  const project = withMix((await answer.json()) as Document);
  const saveResponse = await page.request.put(address, { data: project, headers: { 'If-Match': answer.headers()['etag'] ?? '' } });
  expect(saveResponse.status(), await saveResponse.text()).toBe(200);
  return project;
}

test('playback of a whole mix equals its export', async ({ page, service }) => {
  const project = await storeMix(page, service);
  await openDemo(page, service);
  await startRecording(page);
  await play(page);
  await recordMore(page, 20 * RATE_HZ);
  const recording = await recorded(page);
  const answer = await page.request.post(`${service.url}/api/v1/plugins/render`, { data: { project, format: 'wav', bit_depth: 'float32' } });
  expect(answer.status(), await answer.text()).toBe(200);
  const { audio_url: url } = (await answer.json()) as { audio_url: string };
  const renderedSound = readFloatWav(await (await page.request.get(new URL(url, service.url).href)).body());
  expect(peak(recording.left)).toBeGreaterThan(0.05);
  const { difference, frames } = largestDifference(recording, renderedSound, ONSET_LEVEL);
  console.log(`mix: largest difference ${difference.toExponential(2)} over ${frames} frames`);
  expect(frames).toBeGreaterThan(10 * RATE_HZ);
  expect(difference, 'playback equals the export, to the bit').toBe(0);
});
