import type { EngineClient } from '@songfoundry/web-worklet';
import { describe, expect, it, vi } from 'vitest';

import { audibleSecs } from '../src/engine/audio-clock';
import { octaveShiftOf, semitoneOf } from '../src/engine/computer-keys';
import { METER_FLOOR_DB, meterAt, silentMeter } from '../src/engine/meters';
import { MixSender } from '../src/engine/mix-sender';
import { Playhead } from '../src/engine/playhead';
import { readFloatWav } from '../src/engine/wav';
import { AUDITION_TRACK_ID } from '../src/project/engine-project';
import { emptyProject } from '../src/project/normalize';

describe('meters', () => {
  it('fall at 20 dB a second', () => {
    const loud = meterAt(silentMeter(), 1, 1000);
    expect(loud.levelDb).toBeCloseTo(0);
    expect(meterAt(loud, 0, 1500).levelDb).toBeCloseTo(-10);
    expect(meterAt(loud, 0, 9000).levelDb).toBe(METER_FLOOR_DB);
  });

  it('rise immediately', () => {
    expect(meterAt(meterAt(silentMeter(), 0.1, 0), 0.5, 10).levelDb).toBeCloseTo(-6.02, 2);
  });

  it('hold a peak for two seconds before it falls', () => {
    let meter = meterAt(silentMeter(), 1, 0);
    for (let nowMs = 30; nowMs <= 1980; nowMs += 30) meter = meterAt(meter, 0, nowMs);
    expect(meter.peakDb).toBeCloseTo(0);
    for (let nowMs = 2010; nowMs <= 2500; nowMs += 10) meter = meterAt(meter, 0, nowMs);
    expect(meter.peakDb).toBeCloseTo(-10, 0);
  });
});

describe('the playhead', () => {
  const at = (frame: number, contextSecs: number, playing = true) => ({ frame, playing, countInFrames: 0, contextSecs });

  it('moves between reports during playback, and also reaches back before a report', () => {
    const playhead = new Playhead();
    playhead.report(at(48000, 2), 48000);
    expect(playhead.frameAt(2.01)).toBeCloseTo(48480);
    expect(playhead.frameAt(1.99)).toBeCloseTo(47520);
  });

  it('does not move while stopped, nor for more than 200 ms without reports', () => {
    const playhead = new Playhead();
    playhead.report(at(48000, 2, false), 48000);
    expect(playhead.frameAt(6)).toBe(48000);
    playhead.report(at(48000, 2), 48000);
    expect(playhead.frameAt(10)).toBeCloseTo(48000 + 9600);
  });

  it('jumps with the loop, forwards and backwards', () => {
    const playhead = new Playhead();
    playhead.loop = { startFrame: 10000, endFrame: 20000 };
    playhead.report(at(19800, 1), 48000);
    expect(playhead.frameAt(1.01)).toBeCloseTo(10280);
    // Before the first jump, the frames before the loop were audible.
    playhead.moveTo(10000);
    playhead.report(at(10100, 2), 48000);
    expect(playhead.frameAt(1.99)).toBeCloseTo(9620);
    playhead.report(at(19900, 3), 48000);
    playhead.report(at(10100, 3.1), 48000);
    expect(playhead.frameAt(3.09)).toBeCloseTo(19620);
  });
});

describe('the audio clock', () => {
  const context = { currentTime: 10, outputLatency: 0.05, baseLatency: 0.01 };

  it('subtracts the latency of the output, or uses the time stamp of the browser', () => {
    expect(audibleSecs(context, 5000, 5020)).toBeCloseTo(9.93);
    const stamp = (contextTime: number, performanceTime: number) => ({ ...context, getOutputTimestamp: () => ({ contextTime, performanceTime }) });
    expect(audibleSecs(stamp(9.9, 5000), 5010, 5020)).toBeCloseTo(9.91);
    expect(audibleSecs(stamp(0, 0), 5000, 5020)).toBeCloseTo(9.93);
    expect(audibleSecs(stamp(3, 5000), 5000, 5020)).toBeCloseTo(9.93);
  });
});

describe('the computer keyboard', () => {
  it('has white and black keys in the order of a piano', () => {
    expect(['KeyA', 'KeyW', 'KeyS', 'KeyK', 'KeyQ'].map(semitoneOf)).toEqual([0, 1, 2, 12, null]);
    expect(['KeyZ', 'KeyX', 'KeyC'].map(octaveShiftOf)).toEqual([-1, 1, 0]);
  });
});

function wav(format: number, bits: number, channels: number, samples: number[]): ArrayBuffer {
  const bytes = new ArrayBuffer(60 + samples.length * 4);
  const view = new DataView(bytes);
  const tag = (offset: number, text: string): void => [...text].forEach((character, i) => view.setUint8(offset + i, character.charCodeAt(0)));
  tag(0, 'RIFF');
  tag(8, 'WAVE');
  // The first chunk has an odd length, so a reader must skip the padding byte after it.
  tag(12, 'note');
  view.setUint32(16, 3, true);
  tag(24, 'fmt ');
  view.setUint32(28, 16, true);
  view.setUint16(32, format, true);
  view.setUint16(34, channels, true);
  view.setUint32(36, 44100, true);
  view.setUint16(46, bits, true);
  tag(48, 'data');
  view.setUint32(52, samples.length * 4, true);
  samples.forEach((sample, index) => view.setFloat32(56 + index * 4, sample, true));
  return bytes;
}

describe('rendered audio', () => {
  it('is separated into channels', () => {
    const readSamples = (channels: number): number[][] => {
      const audio = readFloatWav(wav(3, 32, channels, [0.5, -0.5, 0.25, -0.25]));
      expect(audio.sampleRateHz).toBe(44100);
      return audio.channels.map((samples) => [...samples]);
    };
    expect(readSamples(1)).toEqual([[0.5, -0.5, 0.25, -0.25]]);
    expect(readSamples(2)).toEqual([[0.5, 0.25], [-0.5, -0.25]]);
    expect(readSamples(4)).toEqual([[0.5], [-0.5], [0.25], [-0.25]]);
  });

  it('is refused if it is not a WAV file of 32-bit float samples', () => {
    expect(() => readFloatWav(new ArrayBuffer(4))).toThrow(/not a WAV/);
    expect(() => readFloatWav(wav(1, 16, 2, [0]))).toThrow(/16 bits/);
    expect(() => readFloatWav(wav(3, 32, 0, [0]))).toThrow(/0 channels/);
    expect(() => readFloatWav(wav(3, 32, 2, [0]).slice(0, 48))).toThrow(/contain no samples/);
  });
});

describe('the mix that the engine receives', () => {
  const track = (id: string, volume_db: number, solo = false) => ({ id, name: id, kind: 'instrument' as const, color: '#ffffff', volume_db, pan: 0, mute: false, solo, items: [] });
  const projectOf = (...tracks: ReturnType<typeof track>[]) => ({ ...emptyProject(), tracks });

  it('has only what changed since the session or the last mix, for tracks that the engine has', () => {
    const engine = { setTrackMix: vi.fn(), setMasterGain: vi.fn() };
    const sender = new MixSender();
    sender.receivedSession(projectOf(track('a', 0), track('b', -3)), ['a', 'b', AUDITION_TRACK_ID]);
    sender.send(engine as unknown as EngineClient, projectOf(track('a', 0), track('b', -3), track('new', 0)));
    expect(engine.setTrackMix).not.toHaveBeenCalled();
    sender.send(engine as unknown as EngineClient, projectOf(track('a', 0), track('b', -6, true)));
    sender.send(engine as unknown as EngineClient, projectOf(track('a', 0), track('b', -6, true)));
    expect(engine.setTrackMix.mock.calls).toEqual([
      ['b', { gainDb: -6, pan: 0, mute: false, solo: true }],
      // The audition track is soloed with the others, so it stays audible.
      [AUDITION_TRACK_ID, { gainDb: 0, pan: 0, mute: false, solo: true }],
    ]);
    expect(engine.setMasterGain).not.toHaveBeenCalled();
  });
});
