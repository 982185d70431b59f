/** The audio thread's side with the real engine, a real bank, and a stand-in for nothing. */
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Project } from '@songfoundry/schemas';
import { compileSession, initSync } from '../pkg/dsp_wasm.js';
import { EngineHost } from '../src/engine-host';
import type { EngineCommand, EngineReport } from '../src/protocol';

const BANK = '/usr/share/sounds/sf2/TimGM6mb.sf2';
let module: WebAssembly.Module;

beforeAll(() => {
  module = new WebAssembly.Module(readFileSync(new URL('../pkg/dsp_wasm_bg.wasm', import.meta.url)));
  initSync({ module });
});

const project: Project = {
  schema_version: 1,
  project_id: 'test',
  tracks: [
    {
      id: 'piano',
      kind: 'instrument',
      synth_engine: { type: 'soundfont', soundfont_id: 'bank', bank: 0, program: 0 },
      items: [
        {
          type: 'midi',
          id: 'item',
          start_tick: 0,
          length_ticks: 1920,
          notes: [{ tick: 0, length_ticks: 960, pitch: 60, velocity: 1 }],
        },
      ],
    },
  ],
};

class Bench {
  readonly reports: EngineReport[] = [];
  readonly host = new EngineHost(module, 48_000, (report) => this.reports.push(structuredClone(report)));
  #request = 0;

  receive(command: EngineCommand): void {
    this.host.receive(command);
  }

  /** Sends a command that is answered and returns the error in the answer. */
  ask(command: { type: 'loadBank'; bytes: Uint8Array } | { type: 'setSession'; project: Project }): string | undefined {
    const request = ++this.#request;
    if (command.type === 'loadBank') {
      this.receive({ type: 'beginBank', request: -request, slot: 0, sizeBytes: command.bytes.length });
      for (let start = 0; start < command.bytes.length; start += 50_000) {
        this.receive({ type: 'addToBank', slot: 0, piece: command.bytes.subarray(start, start + 50_000) });
      }
      this.receive({ type: 'endBank', request, slot: 0 });
    } else {
      const { bytes } = compileSession(command.project, { bank: 0 }, undefined, 48_000, undefined);
      this.receive({ type: 'setSession', request, bytes });
    }
    return this.errorOf(request);
  }

  /** Hands over whole mono audio in pieces that do not end where values do, and returns the error in the answer. */
  loadAudio(slot: number, samples: Float32Array): string | undefined {
    const bytes = new Uint8Array(samples.buffer);
    const request = ++this.#request;
    this.receive({ type: 'beginAudio', request: -request, slot, sizeBytes: bytes.length });
    for (let start = 0; start < bytes.length; start += 50_001) {
      this.receive({ type: 'addToAudio', slot, piece: bytes.subarray(start, start + 50_001) });
    }
    this.receive({ type: 'endAudio', request, slot, channels: 1 });
    return this.errorOf(request);
  }

  /** The error in the answer to a request. */
  errorOf(request: number): string | undefined {
    const reply = this.reports.find((report) => report.type === 'reply' && report.request === request);
    if (reply?.type !== 'reply') throw new Error('no answer');
    return reply.error;
  }

  render(frames: number, quantum = 128): Float32Array {
    const output = new Float32Array(frames);
    const [left, right] = [new Float32Array(quantum), new Float32Array(quantum)];
    for (let start = 0; start < frames; start += quantum) {
      this.host.render(left, right);
      output.set(left.subarray(0, Math.min(quantum, frames - start)), start);
    }
    return output;
  }
}

function peak(values: Float32Array): number {
  return values.reduce((highest, value) => Math.max(highest, Math.abs(value)), 0);
}

function withPiano(): Bench {
  const bench = new Bench();
  expect(bench.ask({ type: 'loadBank', bytes: readFileSync(BANK) })).toBeUndefined();
  expect(bench.ask({ type: 'setSession', project })).toBeUndefined();
  return bench;
}

describe('EngineHost', () => {
  it('plays a session, stops, and repeats it to the bit', () => {
    const bench = withPiano();
    expect(peak(bench.render(4_800))).toBe(0);
    bench.receive({ type: 'play' });
    const first = bench.render(24_000);
    expect(peak(first)).toBeGreaterThan(0.01);
    bench.receive({ type: 'stop' });
    bench.receive({ type: 'seek', frame: 0 });
    bench.receive({ type: 'play' });
    expect(bench.render(24_000, 384)).toEqual(first);
  });

  it('carries out only the last of several seeks, before the next render', () => {
    const [dragged, bench] = [withPiano(), withPiano()];
    for (const one of [dragged, bench]) {
      one.receive({ type: 'play' });
      one.render(4_800);
    }
    for (const frame of [90_000, 40, 12_000]) dragged.receive({ type: 'seek', frame });
    bench.receive({ type: 'seek', frame: 12_000 });
    expect(dragged.render(4_800)).toEqual(bench.render(4_800));
    // A seek cuts notes, but not those that begin after it.
    dragged.receive({ type: 'seek', frame: 200_000 });
    dragged.receive({ type: 'noteOn', trackId: 'piano', key: 60, velocity: 100 });
    expect(peak(dragged.render(9_600))).toBeGreaterThan(0.01);
  });

  it('reports position, playing and peaks', () => {
    const bench = withPiano();
    bench.receive({ type: 'play' });
    bench.render(12_000);
    const status = bench.reports.filter((report) => report.type === 'status').at(-1);
    if (status?.type !== 'status') throw new Error('no status');
    expect(status.playing).toBe(true);
    expect(status.frame).toBeGreaterThan(9_000);
    expect(status.peaks.length).toBe(4);
    expect(status.peaks[0]).toBeGreaterThan(0.001);
  });

  it('plays keys of a track while the transport is stopped', () => {
    const bench = withPiano();
    bench.receive({ type: 'noteOn', trackId: 'piano', key: 64, velocity: 100 });
    bench.receive({ type: 'noteOn', trackId: 'nobody', key: 64, velocity: 100 });
    expect(peak(bench.render(9_600))).toBeGreaterThan(0.01);
    bench.receive({ type: 'noteOff', trackId: 'piano', key: 64 });
    expect(peak(bench.render(480_000).subarray(470_000))).toBeLessThan(1e-3);
  });

  it('plays external audio instead of the notes, then the notes again', () => {
    const bench = withPiano();
    const left = new Float32Array(48_000).fill(0.25);
    const right = new Float32Array(48_000).fill(-0.25);
    const silent = new Float32Array(48_000);
    bench.receive({ type: 'setTrackAudio', trackId: 'piano', audio: { left, right, reverb: silent, chorus: silent } });
    bench.receive({ type: 'play' });
    const output = bench.render(4_800);
    expect(output[100]).toBe(0.25);
    expect(output[4_799]).toBe(0.25);
    bench.receive({ type: 'setTrackAudio', trackId: 'piano', audio: { left: silent, right: silent, reverb: left, chorus: silent } });
    expect(peak(bench.render(9_600).subarray(4_800))).toBeGreaterThan(0.01);
    bench.receive({ type: 'setTrackAudio', trackId: 'piano', audio: null });
    const after = bench.render(4_800).subarray(200);
    expect(peak(after)).toBeGreaterThan(0.01);
    expect(new Set(after).size).toBeGreaterThan(1_000);
  });

  it('reports the defect of a damaged bank or session, and plays on', () => {
    const bench = withPiano();
    bench.receive({ type: 'play' });
    expect(bench.ask({ type: 'loadBank', bytes: new Uint8Array(16) })).toContain('not a SoundFont');
    bench.receive({ type: 'setSession', request: 99, bytes: new Uint8Array([255, 255]) });
    expect(bench.reports.find((report) => report.type === 'reply' && report.request === 99)).toHaveProperty('error');
    expect(peak(bench.render(24_000))).toBeGreaterThan(0.01);
  });

  it('reports an incomplete bank, and unloads a bank', () => {
    const bench = withPiano();
    const error = (request: number): string | undefined => bench.errorOf(request);
    bench.receive({ type: 'beginBank', request: 101, slot: 1, sizeBytes: 10 });
    bench.receive({ type: 'addToBank', slot: 1, piece: new Uint8Array(4) });
    bench.receive({ type: 'endBank', request: 102, slot: 1 });
    expect([error(101), error(102)]).toEqual([undefined, expect.stringContaining('ended after 4 of 10 bytes')]);
    bench.receive({ type: 'beginBank', request: 103, slot: 64, sizeBytes: 10 });
    expect(error(103)).toContain('at most 64');
    bench.receive({ type: 'noteOn', trackId: 'piano', key: 64, velocity: 100 });
    expect(peak(bench.render(9_600))).toBeGreaterThan(0.01);
    bench.receive({ type: 'dropBank', slot: 0 });
    bench.render(480_000);
    bench.receive({ type: 'noteOn', trackId: 'piano', key: 64, velocity: 100 });
    expect(peak(bench.render(9_600))).toBeLessThan(1e-6);
  });

  it('shows the same peaks while files arrive', () => {
    const peaks = (arriving: boolean): number[][] => {
      const bench = withPiano();
      bench.receive({ type: 'beginAudio', request: 91, slot: 0, sizeBytes: 1_000_000 });
      bench.receive({ type: 'play' });
      for (let quantum = 0; quantum < 96; quantum++) {
        bench.render(128);
        if (arriving) bench.receive({ type: 'addToAudio', slot: 0, piece: new Uint8Array(1_000) });
      }
      return bench.reports.flatMap((report) => (report.type === 'status' ? [[...report.peaks]] : []));
    };
    const still = peaks(false);
    expect(Math.max(...still.flat())).toBeGreaterThan(0.01);
    expect(peaks(true)).toEqual(still);
  });

  it('reports incomplete audio, and plays the audio that it replaces', () => {
    const bench = new Bench();
    const item = { type: 'audio' as const, id: 'take', start_tick: 0, source: { server_file_id: 'file' } };
    const clips: Project = { ...project, tracks: [{ id: 'voice', kind: 'audio', items: [item] }] };
    const { bytes } = compileSession(clips, {}, undefined, 48_000, { file: { slot: 3, frames: 48_000, fileRateHz: 48_000 } });
    bench.receive({ type: 'setSession', request: 90, bytes });
    expect(bench.loadAudio(3, new Float32Array(48_000).fill(0.125))).toBeUndefined();
    const arrive = (sizeBytes: number, pieces: number[], channels: number): string | undefined => {
      const request = bench.reports.length + 1_000;
      bench.receive({ type: 'beginAudio', request: -request, slot: 3, sizeBytes });
      for (const length of pieces) bench.receive({ type: 'addToAudio', slot: 3, piece: new Uint8Array(length) });
      bench.receive({ type: 'endAudio', request, slot: 3, channels });
      return bench.errorOf(request);
    };
    expect(arrive(10, [4], 1)).toContain('the audio ended after 4 of 10 bytes');
    // A file that is larger than announced is removed.
    expect(arrive(10, [8, 4], 1)).toContain('the audio was not begun for slot');
    expect(arrive(24, [24], 3)).toContain('3 channels');
    bench.receive({ type: 'endAudio', request: 95, slot: 3, channels: 1 });
    expect(bench.errorOf(95)).toContain('was not begun');
    bench.receive({ type: 'beginAudio', request: 96, slot: 4_096, sizeBytes: 8 });
    expect(bench.errorOf(96)).toContain('at most 4096');
    bench.receive({ type: 'beginAudio', request: 97, slot: 3, sizeBytes: 0xffff_fff0 });
    expect(bench.errorOf(97)).toContain('there is not enough memory for the audio of 4294967280 bytes');
    bench.receive({ type: 'play' });
    expect(peak(bench.render(4_800))).toBe(0.125);
  });

  it('changes effects while they play, and reports their gain reduction', () => {
    const bench = withPiano();
    const effects = [
      { id: 'squeeze', type: 'builtin' as const, name: 'compressor', params: { threshold_db: -60, ratio: 100, attack_ms: 1 } },
      { id: 'trim', type: 'builtin' as const, name: 'utility' },
    ];
    const [track] = project.tracks;
    if (!track) throw new Error('the project has no track');
    // Sends to the shared effects skip the track's insert effects.
    const settings = { reverb: { level_db: -144 }, chorus: { level_db: -144 } };
    expect(bench.ask({ type: 'setSession', project: { ...project, settings, tracks: [{ ...track, effects }] } })).toBeUndefined();
    const named = (effectId: string) => ({ trackId: 'piano', effectId });
    bench.receive({ type: 'watchReductions', effects: [named('squeeze'), named('trim'), named('none'), { trackId: null, effectId: 'none' }] });
    bench.receive({ type: 'play' });
    bench.render(9_600);
    const squeezed = peak(bench.render(2_400));
    const report = bench.reports.findLast((entry) => entry.type === 'reductions');
    if (report?.type !== 'reductions') throw new Error('no reductions');
    expect(report.db[0]).toBeGreaterThan(6);
    expect([...report.db].slice(1)).toEqual([NaN, NaN, NaN]);

    bench.receive({ type: 'setEffectBypass', ...named('squeeze'), bypass: true });
    bench.render(4_800);
    expect(peak(bench.render(4_800))).toBeGreaterThan(2 * squeezed);
    bench.receive({ type: 'setEffectParameter', ...named('trim'), parameter: 'gain_db', value: -144 });
    bench.render(4_800);
    expect(peak(bench.render(4_800))).toBeLessThan(1e-4);
    bench.receive({ type: 'watchReductions', effects: [] });
    const before = bench.reports.filter((entry) => entry.type === 'reductions').length;
    bench.render(9_600);
    expect(bench.reports.filter((entry) => entry.type === 'reductions')).toHaveLength(before);
  });

  it('keeps changes of the mix when a bank or audio arrives', () => {
    const bench = withPiano();
    const [track] = project.tracks;
    if (!track) throw new Error('the project has no track');
    const effects = [{ id: 'trim', type: 'builtin' as const, name: 'utility' }];
    // Sends to the shared effects skip the track's insert effects.
    const settings = { reverb: { level_db: -144 }, chorus: { level_db: -144 } };
    expect(bench.ask({ type: 'setSession', project: { ...project, settings, tracks: [{ ...track, effects }] } })).toBeUndefined();
    bench.receive({ type: 'play' });
    const loud = peak(bench.render(9_600));
    expect(loud).toBeGreaterThan(0.01);
    const arrivals = [
      () => expect(bench.ask({ type: 'loadBank', bytes: readFileSync(BANK) })).toBeUndefined(),
      () => expect(bench.loadAudio(3, new Float32Array(64))).toBeUndefined(),
    ];
    const mix = { gain: 1, pan: 0, mute: false, solo: false };
    const quiet: [EngineCommand, EngineCommand][] = [
      [{ type: 'setTrackMix', trackId: 'piano', ...mix, mute: true }, { type: 'setTrackMix', trackId: 'piano', ...mix }],
      [{ type: 'setTrackMix', trackId: 'piano', ...mix, gain: 0 }, { type: 'setTrackMix', trackId: 'piano', ...mix }],
      [{ type: 'setMasterGain', gain: 0 }, { type: 'setMasterGain', gain: 1 }],
      [
        { type: 'setEffectParameter', trackId: 'piano', effectId: 'trim', parameter: 'gain_db', value: -144 },
        { type: 'setEffectParameter', trackId: 'piano', effectId: 'trim', parameter: 'gain_db', value: 0 },
      ],
    ];
    for (const [moved, back] of quiet) {
      for (const arrive of arrivals) {
        bench.receive({ type: 'seek', frame: 0 });
        bench.receive(moved);
        bench.render(4_800);
        arrive();
        expect(peak(bench.render(4_800)), `${JSON.stringify(moved)} after something arrived`).toBeLessThan(1e-3 * loud);
        bench.receive(back);
      }
    }
  });

  it('measures the master ten times a second while meters are watched', () => {
    const bench = withPiano();
    const count = (): number => bench.reports.filter((report) => report.type === 'meters').length;
    const last = () => {
      const report = bench.reports.findLast((entry) => entry.type === 'meters');
      if (report?.type !== 'meters') throw new Error('no meters');
      return report;
    };
    const sine = Float32Array.from({ length: 144_000 }, (_, frame) => 10 ** (-23 / 20) * Math.sin((2 * Math.PI * frame) / 48));
    const silent = new Float32Array(sine.length);
    bench.receive({ type: 'setTrackAudio', trackId: 'piano', audio: { left: sine, right: sine, reverb: silent, chorus: silent } });
    bench.receive({ type: 'play' });
    bench.render(9_600);
    expect(count()).toBe(0);

    bench.receive({ type: 'watchMeters', watch: true });
    bench.render(96_000);
    expect(count()).toBeGreaterThanOrEqual(19);
    expect(count()).toBeLessThanOrEqual(21);
    const meters = last();
    expect(meters.momentaryLufs).toBeCloseTo(-23, 1);
    expect(meters.integratedLufs).toBeCloseTo(-23, 1);
    expect(meters.truePeakDbtp).toBeCloseTo(-23, 1);
    expect(meters.samplePeakDbfs).toBeCloseTo(-23, 1);
    expect(meters.correlation).toBeCloseTo(1, 5);
    expect(meters.rmsDb[0]).toBeCloseTo(-26.01, 1);
    expect(meters.rmsDb[1]).toBeCloseTo(-26.01, 1);
    expect(meters.spectrumDb).toHaveLength(31);
    expect(meters.spectrumDb[17]).toBeCloseTo(-23, 1);
    expect(meters.spectrumDb[10]).toBeLessThan(-80);

    bench.receive({ type: 'stop' });
    bench.render(48_000);
    expect(last().momentaryLufs).toBeLessThan(-70);
    expect(last().integratedLufs).toBeCloseTo(meters.integratedLufs, 4);
    bench.receive({ type: 'resetMeters' });
    bench.render(9_600);
    expect([last().integratedLufs, last().truePeakDbtp]).toEqual([-Infinity, -Infinity]);

    const half = sine.map((value) => value / 2);
    bench.receive({ type: 'setTrackAudio', trackId: 'piano', audio: { left: half, right: silent, reverb: silent, chorus: silent } });
    bench.receive({ type: 'play' });
    bench.render(24_000);
    // Half the amplitude, in one channel of two: 9 dB less.
    expect(last().integratedLufs).toBeCloseTo(-32.03, 1);
    expect([last().correlation, last().rmsDb[1]]).toEqual([0, -Infinity]);
    bench.receive({ type: 'setTrackAudio', trackId: 'piano', audio: { left: sine, right: sine, reverb: silent, chorus: silent } });
    bench.receive({ type: 'seek', frame: 0 });
    bench.render(48_000);
    expect(last().integratedLufs).toBeCloseTo(-23, 1);

    bench.receive({ type: 'watchMeters', watch: false });
    const before = count();
    bench.render(48_000);
    expect(count()).toBe(before);
  });

  it('mutes, solos and moves effects by their ids', () => {
    const bench = new Bench();
    expect(bench.ask({ type: 'loadBank', bytes: readFileSync(BANK) })).toBeUndefined();
    const piano = project.tracks[0];
    if (!piano) throw new Error('no track');
    const utility = { id: 'level', type: 'builtin' as const, name: 'utility' };
    const tracks = [{ ...piano, effects: [utility] }, { id: 'bus', kind: 'bus' as const }];
    expect(bench.ask({ type: 'setSession', project: { ...project, tracks, master: { effects: [utility] } } })).toBeUndefined();
    const strike = (): number => {
      bench.receive({ type: 'noteOn', trackId: 'piano', key: 60, velocity: 100 });
      const outputPeak = peak(bench.render(9_600));
      bench.receive({ type: 'allNotesOff' });
      bench.render(96_000);
      return outputPeak;
    };
    const loud = strike();
    expect(loud).toBeGreaterThan(0.01);
    const mix = { gain: 1, pan: 0, mute: false, solo: false };
    bench.receive({ type: 'setTrackMix', trackId: 'bus', ...mix, solo: true });
    bench.render(4_800);
    expect(strike()).toBeLessThan(1e-4);
    bench.receive({ type: 'setTrackMix', trackId: 'bus', ...mix });
    for (const trackId of ['piano', null]) {
      const name = { trackId, effectId: 'level' };
      bench.receive({ type: 'setEffectParameter', ...name, parameter: 'gain_db', value: -60 });
      bench.render(4_800);
      // Sends to the shared effects skip the track's insert effects.
      expect(strike()).toBeLessThan(trackId === null ? loud / 500 : loud / 2);
      bench.receive({ type: 'setEffectBypass', ...name, bypass: true });
      bench.render(4_800);
      expect(strike()).toBeGreaterThan(loud * 0.9);
    }
    bench.receive({ type: 'setEffectParameter', trackId: 'nobody', effectId: 'level', parameter: 'gain_db', value: -60 });
    bench.receive({ type: 'setBypass', trackId: null, bypass: false });
  });

  it('requests the audio of clips, and plays it', () => {
    const bench = new Bench();
    expect(bench.ask({ type: 'loadBank', bytes: readFileSync(BANK) })).toBeUndefined();
    const item = { type: 'audio' as const, id: 'take', start_tick: 0, source: { server_file_id: 'file' } };
    const clips: Project = { ...project, tracks: [{ id: 'voice', kind: 'audio', items: [item] }] };
    const audio = { file: { slot: 3, frames: 48_000, fileRateHz: 48_000 } };
    const session = compileSession(clips, {}, undefined, 48_000, audio);
    expect([session.lengthFrames, session.leftOut]).toEqual([48_000, []]);
    bench.receive({ type: 'setSession', request: 90, bytes: session.bytes });
    bench.receive({ type: 'streamAudio', request: 91, slot: 3, frames: 48_000 });
    bench.receive({ type: 'play' });
    bench.render(1_536);
    const wantedReport = bench.reports.filter((report) => report.type === 'wanted').at(-1);
    if (wantedReport?.type !== 'wanted') throw new Error('nothing is wanted');
    const [wanted] = wantedReport.wanted;
    expect(wanted).toMatchObject({ trackId: 'voice', clip: 0, slot: 3 });
    if (!wanted) throw new Error('nothing is wanted');
    const half = new Float32Array(wanted.frames).fill(0.25);
    bench.receive({ type: 'fillAudio', slot: 3, sourceFrame: wanted.sourceFrame, left: half, right: half });
    expect(peak(bench.render(4_800))).toBe(0.25);
    expect(bench.loadAudio(3, new Float32Array(48_000).fill(0.125))).toBeUndefined();
    expect(peak(bench.render(4_800).subarray(2_400))).toBe(0.125);
    bench.receive({ type: 'dropAudio', slot: 3 });
    expect(peak(bench.render(4_800).subarray(2_400))).toBe(0);
    expect(bench.reports.filter((report) => report.type === 'reply').every((report) => report.error === undefined)).toBe(true);
  });

  it('does not play audio requested before an edit in another clip', () => {
    const bench = new Bench();
    const take = (id: string) => ({ type: 'audio' as const, id, start_tick: 0, source: { server_file_id: id } });
    const audio = { one: { slot: 3, frames: 48_000, fileRateHz: 48_000 }, two: { slot: 4, frames: 48_000, fileRateHz: 48_000 } };
    const set = (ids: string[]): void => {
      const clips: Project = { ...project, tracks: [{ id: 'voice', kind: 'audio', items: ids.map(take) }] };
      const { bytes } = compileSession(clips, {}, undefined, 48_000, audio);
      bench.receive({ type: 'setSession', request: 90, bytes });
    };
    for (const { slot, frames } of Object.values(audio)) bench.receive({ type: 'streamAudio', request: 91, slot, frames });
    set(['one', 'two']);
    bench.render(1_536);
    const wantedReport = bench.reports.filter((report) => report.type === 'wanted').at(-1);
    if (wantedReport?.type !== 'wanted') throw new Error('nothing is wanted');
    expect(wantedReport.wanted.map(({ clip, slot }) => [clip, slot])).toEqual([[0, 3], [1, 4]]);
    set(['two']);
    for (const { slot, sourceFrame, frames } of wantedReport.wanted) {
      const piece = new Float32Array(frames).fill(slot === 4 ? 0.25 : 0.5);
      bench.receive({ type: 'fillAudio', slot, sourceFrame, left: piece, right: piece });
    }
    bench.receive({ type: 'play' });
    expect(peak(bench.render(9_600))).toBe(0.25);
    expect(bench.reports.filter((report) => report.type === 'reply').every((report) => report.error === undefined)).toBe(true);
  });
});
