import type { EngineStatus } from '@songfoundry/web-worklet';
import { expect, test } from 'vitest';
import { emptyProject } from '../src/project/normalize';
import { clipOfPass, placeRecording } from '../src/project/place-recording';
import { passesOf } from '../src/project/recording-passes';
import { RECORDING_HEADER_BYTES } from '../src/project/recording-file';
import { AudioTake } from '../src/state/recording/audio-take';

const RATE_HZ = 48_000;

function status(frame: number, contextFrame: number, countInFrames = 0): EngineStatus {
  return { frame, playing: true, countInFrames, contextSecs: contextFrame / RATE_HZ, peaks: new Float32Array(0), load: 0, underruns: 0, streamedBytes: 0, live: [] };
}

/** A block whose samples are the numbers of their frames in the audio context. */
const block = (frame: number, length = 4096) => ({ frame, channels: [Float32Array.from({ length }, (_, index) => frame + index)] });

function samplesOf(bytes: Uint8Array<ArrayBuffer>[]): number[] {
  const allBytes = bytes.flatMap((piece) => [...piece]);
  return [...new Float32Array(Uint8Array.from(allBytes.slice(RECORDING_HEADER_BYTES)).buffer)];
}

test('the first sample is the one that was heard at the start, earlier by the latency', () => {
  const bytes: Uint8Array<ArrayBuffer>[] = [];
  const starts: number[] = [];
  const take = new AudioTake({ rateHz: RATE_HZ, channelCount: 1, startFrame: 96_000, latencyFrames: 480, onStart: (frame) => starts.push(frame), onBytes: (piece) => bytes.push(piece) });
  take.receive(block(10_000));
  take.receiveStatus(status(96_000, 12_000, 5_000));
  take.receive(block(14_096));
  // Frame 96,000 of the song left at context frame 17,000.
  take.receiveStatus(status(97_000, 18_000));
  take.receive(block(18_192));
  // The audio context skipped 100 frames.
  take.receive(block(22_388, 10));
  take.finish();
  expect(starts).toEqual([96_000]);
  const samples = samplesOf(bytes);
  expect(samples.slice(0, 2)).toEqual([17_480, 17_481]);
  expect(samples.length).toBe(22_398 - 17_480);
  expect(samples.slice(22_288 - 17_480, 22_388 - 17_480).every((value) => value === 0)).toBe(true);
  expect(samples.at(-1)).toBe(22_397);
});

test('a recording that starts while the song plays starts where playback is', () => {
  const starts: number[] = [];
  const take = new AudioTake({ rateHz: RATE_HZ, channelCount: 1, startFrame: null, latencyFrames: 100, onStart: (frame) => starts.push(frame), onBytes: () => undefined });
  take.receive(block(1000));
  take.receiveStatus(status(50_000, 4_000));
  expect(starts).toEqual([50_000]);
  expect(take.frames).toBe(5096 - 4100);
});

test('only what lies in the loop belongs to a pass', () => {
  const loop = { startFrame: 1000, endFrame: 1500 };
  expect(passesOf(900, 1200, loop)).toEqual([
    { songFrame: 1000, offsetFrames: 100, frames: 500 },
    { songFrame: 1000, offsetFrames: 600, frames: 500 },
    { songFrame: 1000, offsetFrames: 1100, frames: 100 },
  ]);
  expect(passesOf(1600, 50, loop)).toEqual([{ songFrame: 1600, offsetFrames: 0, frames: 50 }]);
  expect(passesOf(0, 50, null)).toEqual([{ songFrame: 0, offsetFrames: 0, frames: 50 }]);
  expect(passesOf(0, 0, loop)).toEqual([]);
});

test('a clip starts at a tick and at the frame that belongs to it', () => {
  const time = { tempoMap: [{ tick: 0, bpm: 120 }], sourceOf: () => null };
  // At 120 BPM, a tick has 25 frames.
  const clip = clipOfPass(time, 'file', 'Vocals', RATE_HZ, { songFrame: 1010, offsetFrames: 7, frames: 500 });
  expect([clip.start_tick, clip.offset_frames, clip.length_frames]).toEqual([41, 22, 485]);
});

test('the clip of a deleted track goes to a new audio track', () => {
  const empty = emptyProject();
  const time = { tempoMap: [{ tick: 0, bpm: 120 }], sourceOf: () => null };
  const clip = clipOfPass(time, 'file', 'Vocals', RATE_HZ, { songFrame: 0, offsetFrames: 0, frames: 500 });
  const { project, trackId } = placeRecording(empty, time, 'deleted', { clips: [clip], chosen: clip });
  expect(project.tracks.map(({ id, name, kind, items }) => ({ id, name, kind, items }))).toEqual([
    { id: trackId, name: 'Vocals', kind: 'audio', items: [clip] },
  ]);
});
