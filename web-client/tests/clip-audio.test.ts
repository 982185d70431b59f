/** Long recordings, fetched piece by piece for an engine that is a stand-in. */
import type { SongEngine } from '@songfoundry/web-worklet';
import { describe, expect, it, vi } from 'vitest';

import type { Api } from '../src/api/client';
import { audioSamples } from '../src/api/endpoints';
import { ClipAudio } from '../src/engine/clip-audio';
import type { Project } from '../src/project/model';

vi.mock('../src/api/endpoints', () => ({ audioFile: () => Promise.resolve({ sample_rate_hz: 48_000 }), audioSamples: vi.fn() }));

type Listener = Parameters<SongEngine['onWantedAudio']>[0];

/** The head of a mono WAV file of more samples than the engine takes whole. */
function head(): ArrayBuffer {
  const bytes = new ArrayBuffer(44);
  const view = new DataView(bytes);
  const tag = (at: number, text: string): void => [...text].forEach((letter, i) => view.setUint8(at + i, letter.charCodeAt(0)));
  ['RIFF', 'WAVE', 'fmt ', 'data'].forEach((text, i) => tag([0, 8, 12, 36][i] ?? 0, text));
  view.setUint32(16, 16, true);
  view.setUint16(20, 3, true);
  view.setUint16(22, 1, true);
  view.setUint32(24, 48_000, true);
  view.setUint16(34, 32, true);
  view.setUint32(40, 80_000_000, true);
  return bytes;
}

function project(fileId: string): Project {
  const item = { type: 'audio', id: 'take', start_tick: 0, source: { server_file_id: fileId } } as const;
  return { schema_version: 1, project_id: 'test', tracks: [{ id: 'voice', kind: 'audio', items: [item] }], master: {} } as unknown as Project;
}

describe('audio of clips', () => {
  it.each([['one', 1], ['another', 0]])('brings a piece of file one while its slot holds %s', async (held, times) => {
    let ask: Listener = () => undefined;
    const fillAudio = vi.fn();
    const audioIn = vi.fn(() => 'one');
    const engine = {
      context: { sampleRate: 48_000 },
      streamAudio: () => Promise.resolve(),
      onWantedAudio: (listener: Listener) => (ask = listener),
      audioIn,
      fillAudio,
    } as unknown as SongEngine;
    const audio = new ClipAudio({} as Api, () => undefined, (id, error) => expect.fail(`${id}: ${String(error)}`));
    vi.mocked(audioSamples).mockResolvedValueOnce(head());
    audio.assign(engine, project('one'));
    await audio.settled();
    let bring: (bytes: ArrayBuffer) => void = () => undefined;
    vi.mocked(audioSamples).mockReturnValueOnce(new Promise((resolve) => (bring = resolve)));
    ask([{ trackId: 'voice', clip: 0, slot: 0, sourceFrame: 100, frames: 2, aheadFrames: 0 }]);
    audioIn.mockReturnValue(held);
    bring(new Float32Array([0.5, 0.25]).buffer);
    await new Promise((resolve) => setTimeout(resolve));
    expect(fillAudio).toHaveBeenCalledTimes(times);
  });
});
