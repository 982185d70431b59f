/** Tests that load and stream audio files into a fake engine. */
import type { EngineClient } from '@songfoundry/web-worklet';
import { describe, expect, it, vi } from 'vitest';

import type { Api } from '../src/api/client';
import { downloadAudioSamples } from '../src/api/endpoints';
import { ClipAudio } from '../src/engine/clip-audio';
import { fileIdOfSound } from '../src/engine/plugin-sounds.svelte';
import type { Project } from '../src/project/model';

vi.mock('../src/api/plugins', () => ({
  downloadPluginSound: (api: Api, id: string, range: [number, number]) => downloadAudioSamples(api, `sound ${id}`, 48_000, range),
}));
vi.mock('../src/api/endpoints', () => ({ audioFile: () => Promise.resolve({ sample_rate_hz: 48_000 }), downloadAudioSamples: vi.fn() }));

type Listener = Parameters<EngineClient['onWantedAudio']>[0];

const MIB = 1024 * 1024;
/** Size of a file that is too large to be loaded whole. */
const LONG_FILE_BYTES = 80 * MIB;

/** Returns the header of a mono WAV file whose samples have `dataBytes` bytes. */
function wavHeader(dataBytes: number): ArrayBuffer {
  const bytes = new ArrayBuffer(44);
  const view = new DataView(bytes);
  const tag = (offset: number, text: string): void => [...text].forEach((character, i) => view.setUint8(offset + i, character.charCodeAt(0)));
  ['RIFF', 'WAVE', 'fmt ', 'data'].forEach((text, i) => tag([0, 8, 12, 36][i] ?? 0, text));
  view.setUint32(16, 16, true);
  view.setUint16(20, 3, true);
  view.setUint16(22, 1, true);
  view.setUint32(24, 48_000, true);
  view.setUint16(34, 32, true);
  view.setUint32(40, dataBytes, true);
  return bytes;
}

function project(fileId: string): Project {
  const item = { type: 'audio', id: 'take', start_tick: 0, source: { server_file_id: fileId } } as const;
  return { schema_version: 1, project_id: 'test', tracks: [{ id: 'voice', kind: 'audio', items: [item] }], master: {} } as unknown as Project;
}

describe('audio of clips', () => {
  it.each([['one', 1], ['another', 0]])('fills a block of file "one" only if its slot still has this file: %s', async (fileInSlot, fillCount) => {
    let requestBlocks: Listener = () => undefined;
    const fillAudio = vi.fn();
    const audioIn = vi.fn(() => 'one');
    const engine = {
      context: { sampleRate: 48_000 },
      hasEnded: false,
      streamAudio: () => Promise.resolve(),
      onWantedAudio: (listener: Listener) => (requestBlocks = listener),
      audioIn,
      fillAudio,
    } as unknown as EngineClient;
    const audio = new ClipAudio({} as Api, () => undefined, (id, error) => expect.fail(`${id}: ${String(error)}`));
    vi.mocked(downloadAudioSamples).mockResolvedValueOnce(wavHeader(LONG_FILE_BYTES));
    audio.assign(engine, project('one'));
    await audio.settled();
    let answer: (bytes: ArrayBuffer) => void = () => undefined;
    vi.mocked(downloadAudioSamples).mockReturnValueOnce(new Promise((resolve) => (answer = resolve)));
    requestBlocks([{ trackId: 'voice', clip: 0, slot: 0, sourceFrame: 100, frames: 2, aheadFrames: 0 }]);
    audioIn.mockReturnValue(fileInSlot);
    answer(new Float32Array([0.5, 0.25]).buffer);
    await new Promise((resolve) => setTimeout(resolve));
    expect(fillAudio).toHaveBeenCalledTimes(fillCount);
  });

  /**
   * Makes a fake engine that records the files that it receives: for a whole file the number of
   * bytes of its samples, for a streamed file its number of frames. `sizes` are in bytes.
   */
  function recordingEngine(sizes: Record<string, number>): { engine: EngineClient; received: [string, string, number][]; audio: ClipAudio } {
    const received: [string, string, number][] = [];
    const engine = {
      context: { sampleRate: 48_000 },
      hasEnded: false,
      streamAudio: (id: string, frames: number) => Promise.resolve(received.push([id, 'streamed', frames])),
      async loadAudio(this: EngineClient, id: string, _layout: object, _rate: number, chunks: AsyncIterable<Uint8Array>) {
        let bytes = 0;
        for await (const chunk of chunks) bytes += chunk.length;
        if (this.hasEnded) throw new Error('it was closed');
        received.push([id, 'whole', bytes]);
      },
      dropAudio: (id: string) => received.push([id, 'dropped', 0]),
      onWantedAudio: () => undefined,
    } as unknown as EngineClient;
    vi.mocked(downloadAudioSamples).mockImplementation((_api, id, _rate, range) => {
      const size = sizes[id];
      if (size === undefined || !range) return Promise.reject(new Error(`there is no ${id}`));
      const [from, to] = range;
      return Promise.resolve(from === 0 ? wavHeader(size) : new ArrayBuffer(Math.min(to, 44 + size) - from));
    });
    return { engine, received, audio: new ClipAudio({} as Api, () => undefined, (id) => received.push([id, 'failed', 0])) };
  }

  function song(clips: string[], impulses: string[] = []): Project {
    const tracks = clips.map((id) => ({ ...project(id).tracks[0], id }));
    const effects = impulses.map((impulse) => ({ id: impulse, type: 'builtin', name: 'convolution', impulse }));
    return { ...project(''), tracks, master: { effects } } as unknown as Project;
  }

  it('loads short files whole, and streams long ones', async () => {
    const { engine, received, audio } = recordingEngine({ short: 5 * MIB + 4, long: LONG_FILE_BYTES, none: 0 });
    audio.assign(engine, song(['short', 'long', 'none', 'gone']));
    await audio.settled();
    const expected = [['short', 'whole', 5 * MIB + 4], ['long', 'streamed', LONG_FILE_BYTES / 4], ['none', 'whole', 0], ['gone', 'failed', 0]];
    expect(received).toEqual(expected);
    audio.assign(engine, song(['short', 'long']));
    await audio.settled();
    expect(received.slice(4)).toEqual([['none', 'dropped', 0], ['gone', 'dropped', 0]]);
  });

  it('loads at most 16 MiB of the sounds of plugins whole, whatever the recordings need', async () => {
    const { engine, received, audio } = recordingEngine({ take: 30 * MIB, 'sound a': 9 * MIB, 'sound b': 9 * MIB, 'sound c': 7 * MIB });
    audio.assign(engine, song(['take']), ['a', 'b', 'c'].map(fileIdOfSound));
    await audio.settled();
    expect(received.map(([id, kind]) => [id, kind])).toEqual([
      ['take', 'whole'],
      [fileIdOfSound('a'), 'whole'],
      [fileIdOfSound('b'), 'streamed'],
      [fileIdOfSound('c'), 'whole'],
    ]);
  });

  it('loads at most half a gibibyte whole, except impulse responses', async () => {
    const names = Array.from({ length: 11 }, (_, index) => `take ${index}`);
    const { engine, received, audio } = recordingEngine(Object.fromEntries(names.map((name) => [name, 50 * MIB])));
    audio.assign(engine, song(names));
    await audio.settled();
    expect(received.map(([, how]) => how)).toEqual([...names.slice(1).map(() => 'whole'), 'streamed']);
    // A streamed file that becomes an impulse response is loaded whole; a whole file stays.
    audio.assign(engine, song(names, ['take 10', 'take 3']));
    await audio.settled();
    expect(received.slice(11)).toEqual([['take 10', 'whole', 50 * MIB]]);
    // The memory of dropped files is free for the streamed files.
    audio.assign(engine, song(names.slice(5), []));
    await audio.settled();
    expect(received.slice(12).every(([, how]) => how === 'dropped')).toBe(true);
  });

  it('keeps streaming a file that fails to load whole, and retries on request', async () => {
    const names = Array.from({ length: 9 }, (_, index) => `take ${index}`);
    const { engine, received, audio } = recordingEngine(Object.fromEntries(names.map((name) => [name, 60 * MIB])));
    audio.assign(engine, song(names));
    await audio.settled();
    expect(received.at(-1)).toEqual(['take 8', 'streamed', 15 * MIB]);
    const serve = vi.mocked(downloadAudioSamples).getMockImplementation();
    if (!serve) throw new Error('recordingEngine must mock downloadAudioSamples first');
    vi.mocked(downloadAudioSamples).mockImplementation((...args) => {
      const [, , , [from] = [0]] = args;
      return from > 30 * MIB ? Promise.reject(new Error('the connection was lost')) : serve(...args);
    });
    audio.assign(engine, song(names, ['take 8']));
    await audio.settled();
    expect(received.slice(9)).toEqual([['take 8', 'failed', 0]]);
    audio.retryFailed();
    await audio.settled();
    expect(received.slice(10)).toEqual([['take 8', 'failed', 0]]);
    vi.mocked(downloadAudioSamples).mockImplementation(serve);
    audio.retryFailed();
    await audio.settled();
    expect(received.slice(11)).toEqual([['take 8', 'whole', 60 * MIB]]);
    audio.retryFailed();
    await audio.settled();
    expect(received).toHaveLength(12);
  });

  it('loads all files into a new engine after the first engine has failed, without an error', async () => {
    const { engine, received, audio } = recordingEngine({ one: MIB, two: MIB });
    audio.assign(engine, song(['one', 'two']));
    Object.assign(engine, { hasEnded: true });
    await audio.settled();
    expect(received).toEqual([]);
    const newEngine = { ...engine, hasEnded: false } as EngineClient;
    audio.assign(newEngine, song(['one', 'two']));
    await audio.settled();
    expect(received).toEqual([['one', 'whole', MIB], ['two', 'whole', MIB]]);
  });

  it('streams an impulse response that is too long to be loaded whole, and only once', async () => {
    const { engine, received, audio } = recordingEngine({ hour: LONG_FILE_BYTES });
    audio.assign(engine, song(['hour']));
    audio.assign(engine, song(['hour'], ['hour']));
    await audio.settled();
    expect(received).toEqual([['hour', 'streamed', LONG_FILE_BYTES / 4]]);
  });
});
