/** Tests `EngineHost` with the real engine and a real bank. */
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Project } from '@songfoundry/schemas';
import { compileSession, initSync } from '../pkg/dsp_wasm.js';
import { EngineHost } from '../src/engine-host';
import type { ToAudioThread, ToWorker } from '../src/live/messages';
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

class TestHost {
  readonly reports: EngineReport[] = [];
  readonly host = new EngineHost(module, 48_000, (report) => this.reports.push(structuredClone(report)));
  #request = 0;

  receive(command: EngineCommand): void {
    this.host.receive(command);
  }

  /** Lets a track play audio, which arrives as one block. */
  giveTrackAudio(trackId: string, channels: readonly [left: Float32Array, ...others: Float32Array[]]): void {
    const version = ++this.#request;
    const frames = channels[0].length;
    this.receive({ type: 'setTrackAudio', trackId, audio: { version, frames, blockFrames: frames } });
    this.receive({ type: 'fillTrackAudio', block: { trackId, version, startFrame: 0 }, channels });
  }

  /** Loads a bank in pieces or sets a session, and returns the error in the reply. */
  request(command: { type: 'loadBank'; bytes: Uint8Array } | { type: 'setSession'; project: Project }): string | undefined {
    const request = ++this.#request;
    if (command.type === 'loadBank') {
      this.receive({ type: 'beginBank', request: -request, slot: 0, sizeBytes: command.bytes.length });
      for (let start = 0; start < command.bytes.length; start += 50_000) {
        this.receive({ type: 'addToBank', slot: 0, piece: command.bytes.subarray(start, start + 50_000) });
      }
      this.receive({ type: 'endBank', request, slot: 0 });
    } else {
      const { bytes } = compileSession(command.project, { bank: 0 }, undefined, 48_000, undefined, undefined);
      this.receive({ type: 'setSession', request, bytes });
    }
    return this.errorOf(request);
  }

  /** Loads mono audio in pieces that cut samples in two, and returns the error in the reply. */
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

  /** Returns the error in the reply to a request. */
  errorOf(request: number): string | undefined {
    const reply = this.reports.find((report) => report.type === 'reply' && report.request === request);
    if (reply?.type !== 'reply') throw new Error(`request ${request} has no reply`);
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

function hostWithPiano(): TestHost {
  const host = new TestHost();
  expect(host.request({ type: 'loadBank', bytes: readFileSync(BANK) })).toBeUndefined();
  expect(host.request({ type: 'setSession', project })).toBeUndefined();
  return host;
}

describe('EngineHost', () => {
  it('plays the same samples again after a stop and a seek to the start', () => {
    const host = hostWithPiano();
    expect(peak(host.render(4_800))).toBe(0);
    host.receive({ type: 'play' });
    const firstBlock = host.render(24_000);
    expect(peak(firstBlock)).toBeGreaterThan(0.01);
    host.receive({ type: 'stop' });
    host.receive({ type: 'seek', frame: 0 });
    host.receive({ type: 'play' });
    expect(host.render(24_000, 384)).toEqual(firstBlock);
  });

  it('passes the master through a live chain, after its latency, and waits with Play until it is clear', () => {
    const [dryHost, live] = [hostWithPiano(), hostWithPiano()];
    dryHost.receive({ type: 'play' });
    const expected = dryHost.render(24_000);

    const sentMessages: ToWorker[] = [];
    const port = { onmessage: null as ((event: { data: ToAudioThread }) => void) | null, postMessage: (message: ToWorker) => sentMessages.push(message) };
    const tell = (message: ToAudioThread): void => port.onmessage?.({ data: message });
    live.receive({ type: 'setLiveChain', trackId: null, chain: { port: port as unknown as MessagePort, rings: null, bufferBlocks: null } });
    tell({ type: 'latency', chainFrames: 0 });
    live.receive({ type: 'play' });
    expect(sentMessages.at(-1)).toMatchObject({ type: 'prepare', songFrame: 0 });
    expect(peak(live.render(4_800))).toBe(0);
    tell({ type: 'prepared', songFrame: 0 });
    const output: number[] = [];
    while (output.length < 24_000) {
      output.push(...live.render(128));
      for (const message of sentMessages.splice(0)) {
        if (message.type !== 'blocks') continue;
        message.headers.forEach(({ number }, index) => tell({ type: 'block', number, values: message.values.slice(512 * index, 512 * (index + 1)) }));
      }
    }
    const latency = 12 * 256;
    expect(peak(Float32Array.from(output.slice(0, latency)))).toBe(0);
    expect(output.slice(latency, 24_000)).toEqual([...expected.slice(0, 24_000 - latency)]);

    // Without an answer, Play begins after half a second.
    live.receive({ type: 'stop' });
    live.receive({ type: 'seek', frame: 0 });
    live.receive({ type: 'play' });
    live.render(24_000 + 256);
    live.render(24_000);
    expect(live.reports.filter((report) => report.type === 'status').at(-1)).toMatchObject({ playing: true });

    live.receive({ type: 'setLiveChain', trackId: null, chain: null });
    live.receive({ type: 'stop' });
    live.render(48_000);
    live.receive({ type: 'seek', frame: 0 });
    live.receive({ type: 'play' });
    expect(live.render(24_000)).toEqual(expected);
  });

  it('passes a track and the master through live chains, aligned with the other tracks', () => {
    const [piano] = project.tracks;
    const opposite = { ...piano, id: 'second', kind: 'instrument' as const };
    const [dry, live] = [hostWithPiano(), hostWithPiano()];
    const two = { ...project, tracks: [piano, opposite] } as Project;
    dry.request({ type: 'setSession', project: two });
    dry.receive({ type: 'play' });
    const expected = dry.render(24_000);

    const sent = new Map<string | null, ToWorker[]>();
    const tellers: ((message: ToAudioThread) => void)[] = [];
    // The session gets the second track after its live chain.
    for (const trackId of ['second', null]) {
      const messages: ToWorker[] = [];
      sent.set(trackId, messages);
      const port = { onmessage: null as ((event: { data: ToAudioThread }) => void) | null, postMessage: (message: ToWorker) => messages.push(message) };
      tellers.push((data) => port.onmessage?.({ data }));
      live.receive({ type: 'setLiveChain', trackId, chain: { port: port as unknown as MessagePort, rings: null, bufferBlocks: null } });
    }
    live.request({ type: 'setSession', project: two });
    for (const tell of tellers) tell({ type: 'latency', chainFrames: 0 });
    live.receive({ type: 'play' });
    for (const messages of sent.values()) expect(messages.at(-1)).toMatchObject({ type: 'prepare', songFrame: 0 });
    tellers[0]?.({ type: 'prepared', songFrame: 0 });
    expect(peak(live.render(4_800)), 'both chains must be clear').toBe(0);
    tellers[1]?.({ type: 'prepared', songFrame: 0 });
    const output: number[] = [];
    while (output.length < 24_000) {
      output.push(...live.render(128));
      [...sent.values()].forEach((messages, index) => {
        for (const message of messages.splice(0)) {
          if (message.type !== 'blocks') continue;
          message.headers.forEach(({ number }, block) => {
            tellers[index]?.({ type: 'block', number, values: message.values.slice(512 * block, 512 * (block + 1)) });
          });
        }
      });
    }
    const latency = 2 * 12 * 256;
    expect(peak(Float32Array.from(output.slice(0, latency)))).toBe(0);
    expect(output.slice(latency, 24_000)).toEqual([...expected.slice(0, 24_000 - latency)]);
    live.render(2_000);
    const status = live.reports.filter((report) => report.type === 'status').at(-1);
    expect(status).toMatchObject({
      live: [
        { trackId: 'second', latencyFrames: latency / 2, lateBlocks: 0 },
        { trackId: null, latencyFrames: latency / 2 },
      ],
    });

    // A track that the session loses ends nothing else.
    live.request({ type: 'setSession', project });
    live.receive({ type: 'setLiveChain', trackId: 'second', chain: null });
    live.receive({ type: 'setLiveChain', trackId: null, chain: null });
    live.receive({ type: 'stop' });
    live.render(96_000);
    live.request({ type: 'setSession', project: two });
    live.receive({ type: 'seek', frame: 0 });
    live.receive({ type: 'play' });
    expect(live.render(24_000)).toEqual(expected);
  });

  it('carries out only the last of several seeks, before the next render', () => {
    const [draggedHost, host] = [hostWithPiano(), hostWithPiano()];
    for (const playing of [draggedHost, host]) {
      playing.receive({ type: 'play' });
      playing.render(4_800);
    }
    for (const frame of [90_000, 40, 12_000]) draggedHost.receive({ type: 'seek', frame });
    host.receive({ type: 'seek', frame: 12_000 });
    expect(draggedHost.render(4_800)).toEqual(host.render(4_800));
    // A seek ends earlier notes, but not notes that start after the seek.
    draggedHost.receive({ type: 'seek', frame: 200_000 });
    draggedHost.receive({ type: 'noteOn', trackId: 'piano', key: 60, velocity: 100 });
    expect(peak(draggedHost.render(9_600))).toBeGreaterThan(0.01);
  });

  it('reports position, playing and peaks', () => {
    const host = hostWithPiano();
    host.receive({ type: 'play' });
    host.render(12_000);
    const status = host.reports.filter((report) => report.type === 'status').at(-1);
    if (status?.type !== 'status') throw new Error('no status');
    expect(status.playing).toBe(true);
    expect(status.frame).toBeGreaterThan(9_000);
    expect(status.peaks.length).toBe(4);
    expect(status.peaks[0]).toBeGreaterThan(0.001);
  });

  it('plays live keys while playback is stopped', () => {
    const host = hostWithPiano();
    host.receive({ type: 'noteOn', trackId: 'piano', key: 64, velocity: 100 });
    host.receive({ type: 'noteOn', trackId: 'nobody', key: 64, velocity: 100 });
    expect(peak(host.render(9_600))).toBeGreaterThan(0.01);
    host.receive({ type: 'noteOff', trackId: 'piano', key: 64 });
    expect(peak(host.render(480_000).subarray(470_000))).toBeLessThan(1e-3);
  });

  it('plays external audio instead of the notes, then the notes again', () => {
    const host = hostWithPiano();
    const left = new Float32Array(48_000).fill(0.25);
    const right = new Float32Array(48_000).fill(-0.25);
    const silent = new Float32Array(48_000);
    host.giveTrackAudio('piano', [left, right, silent, silent]);
    host.receive({ type: 'play' });
    const output = host.render(4_800);
    expect(output[100]).toBe(0.25);
    expect(output[4_799]).toBe(0.25);
    host.giveTrackAudio('piano', [silent, silent, left, silent]);
    expect(peak(host.render(9_600).subarray(4_800))).toBeGreaterThan(0.01);
    host.receive({ type: 'setTrackAudio', trackId: 'piano', audio: null });
    const outputAfter = host.render(4_800).subarray(200);
    expect(peak(outputAfter)).toBeGreaterThan(0.01);
    expect(new Set(outputAfter).size).toBeGreaterThan(1_000);
  });

  it('plays the notes until the next blocks of audio have arrived, then asks for the blocks that follow', () => {
    const host = hostWithPiano();
    const block = (value: number) => Array.from({ length: 4 }, (_, channel) => new Float32Array(4_096).fill(channel < 2 ? value : 0));
    const wanted = (): number[] => {
      host.reports.length = 0;
      host.render(3_072);
      return host.reports.findLast((report) => report.type === 'wantedTrackAudio')?.wanted.map(({ startFrame }) => startFrame) ?? [];
    };
    host.receive({ type: 'setTrackAudio', trackId: 'piano', audio: { version: 1, frames: 40_000, blockFrames: 4_096 } });
    expect(wanted()).toEqual([0, 4_096, 8_192]);
    host.receive({ type: 'play' });
    expect(new Set(host.render(2_048)).size, 'the notes sound').toBeGreaterThan(100);
    // Blocks of earlier audio and of other places are ignored.
    host.receive({ type: 'fillTrackAudio', block: { trackId: 'piano', version: 0, startFrame: 0 }, channels: block(0.5) });
    host.receive({ type: 'fillTrackAudio', block: { trackId: 'piano', version: 1, startFrame: 36_864 }, channels: block(0.5) });
    host.receive({ type: 'seek', frame: 0 });
    for (const [index, value] of [0.25, 0.125, 0.0625].entries()) {
      host.receive({ type: 'fillTrackAudio', block: { trackId: 'piano', version: 1, startFrame: index * 4_096 }, channels: block(value) });
    }
    const output = host.render(8_192);
    expect([output[2_000], output[4_000]]).toEqual([0.25, 0.25]);
    expect(output[8_000]).toBe(0.125);
    expect(wanted()).toEqual([12_288, 16_384]);
    // The missing block is silent, and counts as one interruption.
    const silent = host.render(2_048);
    expect(peak(silent.subarray(1_500))).toBeLessThan(1e-3);
    host.render(3_072);
    expect(host.reports.findLast((report) => report.type === 'status')?.underruns).toBe(1);
  });

  it('repeats a loop of external audio exactly, for any quantum, and reports positions within it', () => {
    for (const quantum of [100, 128, 384]) {
      const host = hostWithPiano();
      const ramp = Float32Array.from({ length: 20_000 }, (_, frame) => frame / 65_536);
      const silent = new Float32Array(ramp.length);
      host.giveTrackAudio('piano', [ramp, ramp, silent, silent]);
      host.receive({ type: 'setLoop', region: { startFrame: 5_003, endFrame: 12_007 } });
      host.receive({ type: 'play' });
      const output = host.render(30_000, quantum);
      const lag = output.findIndex((value) => value > 0) - 1;
      expect(lag).toBeGreaterThan(0);
      // After a jump, the step between both signals decays within 1,000 frames.
      for (const [frame, expected] of [[12_006, 12_006], [13_500, 5_003 + 1_493], [19_010, 12_006], [20_511, 5_003 + 1_500]] as const) {
        expect(output[lag + frame], `frame ${frame}`).toBeCloseTo(expected / 65_536, 4);
      }
      const largestStep = output.reduce((largestSoFar, value, frame) => Math.max(largestSoFar, Math.abs(value - (output[frame - 1] ?? 0))), 0);
      expect(largestStep).toBeLessThan(0.002);
      const frames = host.reports.flatMap((report) => (report.type === 'status' ? [report.frame] : []));
      expect(Math.max(...frames)).toBeLessThan(12_007);
      expect(frames.slice(10).every((frame) => frame >= 5_003)).toBe(true);
    }
  });

  it('counts in with clicks, then plays, and keeps the notes of held keys', () => {
    const host = hostWithPiano();
    host.receive({ type: 'seek', frame: 48_000 });
    host.receive({ type: 'setBeats', tempo: [{ tick: 0, bpm: 120 }], signatures: [{ tick: 0, numerator: 2, denominator: 4 }] });
    host.receive({ type: 'play', countInBars: 1 });
    const status = () => {
      const report = host.reports.findLast((candidate) => candidate.type === 'status');
      if (report?.type !== 'status') throw new Error('no status');
      return report;
    };
    const clicks = host.render(24_000);
    expect(peak(clicks.subarray(0, 2_400))).toBeGreaterThan(0.1);
    expect(peak(clicks.subarray(4_800))).toBe(0);
    expect([status().playing, status().frame]).toEqual([false, 48_000]);
    expect(status().countInFrames).toBeGreaterThan(24_000);
    host.receive({ type: 'noteOn', trackId: 'piano', key: 60, velocity: 100 });
    host.render(24_000);
    const playedBlock = host.render(9_600);
    expect(peak(playedBlock.subarray(4_800))).toBeGreaterThan(0.01);
    expect([status().playing, status().countInFrames]).toEqual([true, 0]);
  });

  it('reports the defect of a damaged bank or session, and continues playing', () => {
    const host = hostWithPiano();
    host.receive({ type: 'play' });
    expect(host.request({ type: 'loadBank', bytes: new Uint8Array(16) })).toContain('not a SoundFont');
    host.receive({ type: 'setSession', request: 99, bytes: new Uint8Array([255, 255]) });
    expect(host.reports.find((report) => report.type === 'reply' && report.request === 99)).toHaveProperty('error');
    expect(peak(host.render(24_000))).toBeGreaterThan(0.01);
  });

  it('reports a refused command that has no request number', () => {
    const host = new TestHost();
    host.receive({ type: 'setLoop', region: { startFrame: 'here' } } as unknown as EngineCommand);
    expect(host.reports).toEqual([{ type: 'refused', command: 'setLoop', detail: expect.stringContaining('invalid') as string }]);
    // The reply to `endBank` reports errors in pieces.
    host.receive({ type: 'addToBank', slot: 1, piece: new Uint8Array(4) });
    expect(host.reports).toHaveLength(1);
  });

  it('reports an incomplete bank and a slot that does not exist, and silences a removed bank', () => {
    const host = hostWithPiano();
    const error = (request: number): string | undefined => host.errorOf(request);
    host.receive({ type: 'beginBank', request: 101, slot: 1, sizeBytes: 10 });
    host.receive({ type: 'addToBank', slot: 1, piece: new Uint8Array(4) });
    host.receive({ type: 'endBank', request: 102, slot: 1 });
    expect([error(101), error(102)]).toEqual([undefined, expect.stringContaining('ended after 4 of 10 bytes')]);
    host.receive({ type: 'beginBank', request: 103, slot: 64, sizeBytes: 10 });
    expect(error(103)).toContain('the engine has 64 bank slots');
    host.receive({ type: 'noteOn', trackId: 'piano', key: 64, velocity: 100 });
    expect(peak(host.render(9_600))).toBeGreaterThan(0.01);
    host.receive({ type: 'dropBank', slot: 0 });
    host.render(480_000);
    host.receive({ type: 'noteOn', trackId: 'piano', key: 64, velocity: 100 });
    expect(peak(host.render(9_600))).toBeLessThan(1e-6);
  });

  it('reports the same peaks while files arrive', () => {
    const peaks = (arriving: boolean): number[][] => {
      const host = hostWithPiano();
      host.receive({ type: 'beginAudio', request: 91, slot: 0, sizeBytes: 1_000_000 });
      host.receive({ type: 'play' });
      for (let quantum = 0; quantum < 96; quantum++) {
        host.render(128);
        if (arriving) host.receive({ type: 'addToAudio', slot: 0, piece: new Uint8Array(1_000) });
      }
      return host.reports.flatMap((report) => (report.type === 'status' ? [[...report.peaks]] : []));
    };
    const expectedPeaks = peaks(false);
    expect(Math.max(...expectedPeaks.flat())).toBeGreaterThan(0.01);
    expect(peaks(true)).toEqual(expectedPeaks);
  });

  it('reports incomplete audio, and continues to play the previous audio of the slot', () => {
    const host = new TestHost();
    const item = { type: 'audio' as const, id: 'take', start_tick: 0, source: { server_file_id: 'file' } };
    const clips: Project = { ...project, tracks: [{ id: 'voice', kind: 'audio', items: [item] }] };
    const { bytes } = compileSession(clips, {}, undefined, 48_000, { file: { slot: 3, frames: 48_000, fileRateHz: 48_000 } }, undefined);
    host.receive({ type: 'setSession', request: 90, bytes });
    expect(host.loadAudio(3, new Float32Array(48_000).fill(0.125))).toBeUndefined();
    const arrive = (sizeBytes: number, pieces: number[], channels: number): string | undefined => {
      const request = host.reports.length + 1_000;
      host.receive({ type: 'beginAudio', request: -request, slot: 3, sizeBytes });
      for (const length of pieces) host.receive({ type: 'addToAudio', slot: 3, piece: new Uint8Array(length) });
      host.receive({ type: 'endAudio', request, slot: 3, channels });
      return host.errorOf(request);
    };
    expect(arrive(10, [4], 1)).toContain('ended after 4 of 10 bytes');
    // The second piece exceeds the announced size, so the engine has removed the unfinished file.
    expect(arrive(10, [8, 4], 1)).toContain('was not announced');
    expect(arrive(24, [24], 3)).toContain('3 channels');
    host.receive({ type: 'endAudio', request: 95, slot: 3, channels: 1 });
    expect(host.errorOf(95)).toContain('the audio for slot 3 was not announced');
    host.receive({ type: 'beginAudio', request: 96, slot: 4_096, sizeBytes: 8 });
    expect(host.errorOf(96)).toContain('the engine has 4096 audio slots');
    host.receive({ type: 'beginAudio', request: 97, slot: 3, sizeBytes: 0xffff_fff0 });
    expect(host.errorOf(97)).toContain('there is not enough memory for the audio of 4294967280 bytes');
    host.receive({ type: 'play' });
    expect(peak(host.render(4_800))).toBe(0.125);
  });

  it('changes effects during playback, and reports their gain reduction', () => {
    const host = hostWithPiano();
    const effects = [
      { id: 'squeeze', type: 'builtin' as const, name: 'compressor', params: { threshold_db: -60, ratio: 100, attack_ms: 1 } },
      { id: 'trim', type: 'builtin' as const, name: 'utility' },
    ];
    const [track] = project.tracks;
    if (!track) throw new Error('the project has no track');
    // Sends to the shared effects skip the track's insert effects.
    const settings = { reverb: { level_db: -144 }, chorus: { level_db: -144 } };
    expect(host.request({ type: 'setSession', project: { ...project, settings, tracks: [{ ...track, effects }] } })).toBeUndefined();
    const named = (effectId: string) => ({ trackId: 'piano', effectId });
    host.receive({ type: 'watchReductions', effects: [named('squeeze'), named('trim'), named('none'), { trackId: null, effectId: 'none' }] });
    host.receive({ type: 'play' });
    host.render(9_600);
    const squeezed = peak(host.render(2_400));
    const report = host.reports.findLast((entry) => entry.type === 'reductions');
    if (report?.type !== 'reductions') throw new Error('no reductions');
    expect(report.db[0]).toBeGreaterThan(6);
    expect([...report.db].slice(1)).toEqual([NaN, NaN, NaN]);

    host.receive({ type: 'setEffectBypass', ...named('squeeze'), bypass: true });
    host.render(4_800);
    expect(peak(host.render(4_800))).toBeGreaterThan(2 * squeezed);
    host.receive({ type: 'setEffectParameter', ...named('trim'), parameter: 'gain_db', value: -144 });
    host.render(4_800);
    expect(peak(host.render(4_800))).toBeLessThan(1e-4);
    host.receive({ type: 'watchReductions', effects: [] });
    const countBefore = host.reports.filter((entry) => entry.type === 'reductions').length;
    host.render(9_600);
    expect(host.reports.filter((entry) => entry.type === 'reductions')).toHaveLength(countBefore);
  });

  it('keeps fader, mute and effect changes when a bank or audio arrives', () => {
    const host = hostWithPiano();
    const [track] = project.tracks;
    if (!track) throw new Error('the project has no track');
    const effects = [{ id: 'trim', type: 'builtin' as const, name: 'utility' }];
    // Sends to the shared effects skip the track's insert effects.
    const settings = { reverb: { level_db: -144 }, chorus: { level_db: -144 } };
    expect(host.request({ type: 'setSession', project: { ...project, settings, tracks: [{ ...track, effects }] } })).toBeUndefined();
    host.receive({ type: 'play' });
    const initialPeak = peak(host.render(9_600));
    expect(initialPeak).toBeGreaterThan(0.01);
    const arrivals = [
      () => expect(host.request({ type: 'loadBank', bytes: readFileSync(BANK) })).toBeUndefined(),
      () => expect(host.loadAudio(3, new Float32Array(64))).toBeUndefined(),
    ];
    const mix = { gain: 1, pan: 0, mute: false, solo: false };
    const changes: [silence: EngineCommand, restore: EngineCommand][] = [
      [{ type: 'setTrackMix', trackId: 'piano', ...mix, mute: true }, { type: 'setTrackMix', trackId: 'piano', ...mix }],
      [{ type: 'setTrackMix', trackId: 'piano', ...mix, gain: 0 }, { type: 'setTrackMix', trackId: 'piano', ...mix }],
      [{ type: 'setMasterGain', gain: 0 }, { type: 'setMasterGain', gain: 1 }],
      [
        { type: 'setEffectParameter', trackId: 'piano', effectId: 'trim', parameter: 'gain_db', value: -144 },
        { type: 'setEffectParameter', trackId: 'piano', effectId: 'trim', parameter: 'gain_db', value: 0 },
      ],
    ];
    for (const [silence, restore] of changes) {
      for (const arrive of arrivals) {
        host.receive({ type: 'seek', frame: 0 });
        host.receive(silence);
        host.render(4_800);
        arrive();
        expect(peak(host.render(4_800)), `peak after ${JSON.stringify(silence)} and a new file`).toBeLessThan(1e-3 * initialPeak);
        host.receive(restore);
      }
    }
  });

  it('measures the master ten times a second while meters are watched', () => {
    const host = hostWithPiano();
    const count = (): number => host.reports.filter((report) => report.type === 'meters').length;
    const last = () => {
      const report = host.reports.findLast((entry) => entry.type === 'meters');
      if (report?.type !== 'meters') throw new Error('the engine has reported no meters');
      return report;
    };
    const sine = Float32Array.from({ length: 144_000 }, (_, frame) => 10 ** (-23 / 20) * Math.sin((2 * Math.PI * frame) / 48));
    const silent = new Float32Array(sine.length);
    host.giveTrackAudio('piano', [sine, sine, silent, silent]);
    host.receive({ type: 'play' });
    host.render(9_600);
    expect(count()).toBe(0);

    host.receive({ type: 'watchMeters', watch: true });
    host.render(96_000);
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

    host.receive({ type: 'stop' });
    host.render(48_000);
    expect(last().momentaryLufs).toBeLessThan(-70);
    expect(last().integratedLufs).toBeCloseTo(meters.integratedLufs, 4);
    host.receive({ type: 'resetMeters' });
    host.render(9_600);
    expect([last().integratedLufs, last().truePeakDbtp]).toEqual([-Infinity, -Infinity]);

    const half = sine.map((value) => value / 2);
    host.giveTrackAudio('piano', [half, silent, silent, silent]);
    host.receive({ type: 'play' });
    host.render(24_000);
    // Half the amplitude is 6 dB less, and one channel instead of two another 3 dB.
    expect(last().integratedLufs).toBeCloseTo(-32.03, 1);
    expect([last().correlation, last().rmsDb[1]]).toEqual([0, -Infinity]);
    host.giveTrackAudio('piano', [sine, sine, silent, silent]);
    host.receive({ type: 'seek', frame: 0 });
    host.render(48_000);
    expect(last().integratedLufs).toBeCloseTo(-23, 1);

    host.receive({ type: 'watchMeters', watch: false });
    const countBefore = count();
    host.render(48_000);
    expect(count()).toBe(countBefore);
  });

  it('solos a bus, and sets and bypasses effects of a track and of the master', () => {
    const host = new TestHost();
    expect(host.request({ type: 'loadBank', bytes: readFileSync(BANK) })).toBeUndefined();
    const piano = project.tracks[0];
    if (!piano) throw new Error('no track');
    const utility = { id: 'level', type: 'builtin' as const, name: 'utility' };
    const tracks = [{ ...piano, effects: [utility] }, { id: 'bus', kind: 'bus' as const }];
    expect(host.request({ type: 'setSession', project: { ...project, tracks, master: { effects: [utility] } } })).toBeUndefined();
    const strike = (): number => {
      host.receive({ type: 'noteOn', trackId: 'piano', key: 60, velocity: 100 });
      const outputPeak = peak(host.render(9_600));
      host.receive({ type: 'allNotesOff' });
      host.render(96_000);
      return outputPeak;
    };
    const loud = strike();
    expect(loud).toBeGreaterThan(0.01);
    const mix = { gain: 1, pan: 0, mute: false, solo: false };
    host.receive({ type: 'setTrackMix', trackId: 'bus', ...mix, solo: true });
    host.render(4_800);
    expect(strike()).toBeLessThan(1e-4);
    host.receive({ type: 'setTrackMix', trackId: 'bus', ...mix });
    for (const trackId of ['piano', null]) {
      const name = { trackId, effectId: 'level' };
      host.receive({ type: 'setEffectParameter', ...name, parameter: 'gain_db', value: -60 });
      host.render(4_800);
      // Sends to the shared effects skip the track's insert effects.
      expect(strike()).toBeLessThan(trackId === null ? loud / 500 : loud / 2);
      host.receive({ type: 'setEffectBypass', ...name, bypass: true });
      host.render(4_800);
      expect(strike()).toBeGreaterThan(loud * 0.9);
    }
    host.receive({ type: 'setEffectParameter', trackId: 'nobody', effectId: 'level', parameter: 'gain_db', value: -60 });
    host.receive({ type: 'setBypass', trackId: null, bypass: false });
  });

  it('requests the streamed audio of clips, and plays it', () => {
    const host = new TestHost();
    expect(host.request({ type: 'loadBank', bytes: readFileSync(BANK) })).toBeUndefined();
    const item = { type: 'audio' as const, id: 'take', start_tick: 0, source: { server_file_id: 'file' } };
    const clips: Project = { ...project, tracks: [{ id: 'voice', kind: 'audio', items: [item] }] };
    const audio = { file: { slot: 3, frames: 48_000, fileRateHz: 48_000 } };
    const session = compileSession(clips, {}, undefined, 48_000, audio, undefined);
    expect([session.lengthFrames, session.leftOut]).toEqual([48_000, []]);
    host.receive({ type: 'setSession', request: 90, bytes: session.bytes });
    host.receive({ type: 'streamAudio', request: 91, slot: 3, frames: 48_000 });
    host.receive({ type: 'play' });
    host.render(1_536);
    const wantedReport = host.reports.filter((report) => report.type === 'wanted').at(-1);
    if (wantedReport?.type !== 'wanted') throw new Error('nothing is wanted');
    const [wantedBlock] = wantedReport.wanted;
    expect(wantedBlock).toMatchObject({ trackId: 'voice', clip: 0, slot: 3 });
    if (!wantedBlock) throw new Error('nothing is wanted');
    const half = new Float32Array(wantedBlock.frames).fill(0.25);
    host.receive({ type: 'fillAudio', slot: 3, sourceFrame: wantedBlock.sourceFrame, left: half, right: half });
    expect(peak(host.render(4_800))).toBe(0.25);
    expect(host.loadAudio(3, new Float32Array(48_000).fill(0.125))).toBeUndefined();
    expect(peak(host.render(4_800).subarray(2_400))).toBe(0.125);
    host.receive({ type: 'dropAudio', slot: 3 });
    expect(peak(host.render(4_800).subarray(2_400))).toBe(0);
    expect(host.reports.filter((report) => report.type === 'reply').every((report) => report.error === undefined)).toBe(true);
  });

  it('does not play audio that was requested for a clip that an edit removed', () => {
    const host = new TestHost();
    const take = (id: string) => ({ type: 'audio' as const, id, start_tick: 0, source: { server_file_id: id } });
    const audio = { one: { slot: 3, frames: 48_000, fileRateHz: 48_000 }, two: { slot: 4, frames: 48_000, fileRateHz: 48_000 } };
    const set = (ids: string[]): void => {
      const clips: Project = { ...project, tracks: [{ id: 'voice', kind: 'audio', items: ids.map(take) }] };
      const { bytes } = compileSession(clips, {}, undefined, 48_000, audio, undefined);
      host.receive({ type: 'setSession', request: 90, bytes });
    };
    for (const { slot, frames } of Object.values(audio)) host.receive({ type: 'streamAudio', request: 91, slot, frames });
    set(['one', 'two']);
    host.render(1_536);
    const wantedReport = host.reports.filter((report) => report.type === 'wanted').at(-1);
    if (wantedReport?.type !== 'wanted') throw new Error('nothing is wanted');
    expect(wantedReport.wanted.map(({ clip, slot }) => [clip, slot])).toEqual([[0, 3], [1, 4]]);
    set(['two']);
    for (const { slot, sourceFrame, frames } of wantedReport.wanted) {
      const piece = new Float32Array(frames).fill(slot === 4 ? 0.25 : 0.5);
      host.receive({ type: 'fillAudio', slot, sourceFrame, left: piece, right: piece });
    }
    host.receive({ type: 'play' });
    expect(peak(host.render(9_600))).toBe(0.25);
    expect(host.reports.filter((report) => report.type === 'reply').every((report) => report.error === undefined)).toBe(true);
  });
});
