/** Tests of the tracks that the service renders for the page. */
import { KEPT_BLOCKS_MAX, type EngineClient, type TrackAudio, type TrackBlock } from '@songfoundry/web-worklet';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { Api } from '../src/api/client';
import type { SoundFontRenderRequest } from '../src/api/types';
import { blockFramesFor, planRenders, STORED_MAX_BYTES, STREAMED_MAX_BYTES } from '../src/engine/render-plan';
import { renderRequestOf } from '../src/engine/render-requests';
import { ServerSound } from '../src/engine/server-sound.svelte';
import type { MidiItem, Project, SynthEngine, Track } from '../src/project/model';
import { normalizeProject } from '../src/project/normalize';
import { updateTrack } from '../src/project/update-track';

const PIANO: SynthEngine = { type: 'soundfont', soundfont_id: 'gm', bank: 0, program: 3 };
const NEKOBI: SynthEngine = { type: 'vst2', plugin_id: '444E656B' };

const ITEM = {
  type: 'midi',
  id: 'i',
  start_tick: 1000,
  length_ticks: 960,
  notes: [{ tick: 5, length_ticks: 10, pitch: 60, velocity: 1 }],
  controls: [{ tick: 7, type: 'bend', value: 1 }],
} satisfies MidiItem;

function track(id: string, engine: SynthEngine, fields: object = {}): object {
  return { id, kind: 'instrument', synth_engine: engine, items: [{ ...ITEM, ...fields }] };
}

function songOf(...tracks: object[]): Project {
  return normalizeProject({ project_id: 'p', tempo_map: [{ tick: 0, bpm: 90 }], tracks });
}

function requestOf(engine: SynthEngine, fields: object = {}): SoundFontRenderRequest | null {
  const song = songOf(track('a', engine, fields));
  return renderRequestOf(song, song.tracks[0] as Track);
}

describe('a render request', () => {
  it('places notes and controls in the song', () => {
    expect(requestOf(PIANO)).toMatchObject({
      notes: [{ tick: 1005, length_ticks: 10 }],
      controls: [{ tick: 1007, type: 'bend' }],
      soundfont_id: 'gm',
      program: 3,
      time_base: 'ticks',
      sample_rate_hz: 48000,
      sends: true,
    });
  });

  it('omits events outside the clip, as the engine does', () => {
    const fields = {
      length_ticks: 100,
      notes: [
        { tick: 90, length_ticks: 50, pitch: 60, velocity: 1 },
        { tick: 100, length_ticks: 5, pitch: 62, velocity: 1 },
      ],
      controls: [{ tick: 101, type: 'bend', value: 1 }],
    };
    expect(requestOf(PIANO, fields)).toMatchObject({ notes: [{ tick: 1090, length_ticks: 10, pitch: 60 }], controls: [] });
  });

  it('is not made for tracks without notes, with a plugin, or with clips that select a program', () => {
    expect(requestOf(PIANO, { notes: [] })).toBeNull();
    expect(requestOf(NEKOBI)).toBeNull();
    expect(requestOf(PIANO, { soundfont_program: 4 })).toBeNull();
  });
});

describe('the plan of renders', () => {
  const plannedIds = (song: Project, lengthFrames: number): string[] => planRenders(song, lengthFrames).map((planned) => planned.track.id);

  it('has only as many SoundFont tracks as fit into the limit of the disk', () => {
    const song = songOf(track('piano', PIANO), track('bass', NEKOBI));
    expect(plannedIds(song, 48000)).toEqual(['piano']);
    expect(plannedIds(song, 0)).toEqual([]);
    const tenMinutes = 600 * 48000;
    const pianos = ['a', 'b', 'c'].map((id) => track(id, PIANO));
    expect(plannedIds(songOf(...pianos), tenMinutes)).toEqual(['a', 'b']);
    expect(2 * tenMinutes * 16).toBeLessThanOrEqual(STORED_MAX_BYTES);
  });

  it('makes blocks shorter with more tracks, so that all fit into the page', () => {
    expect([1, 24, 256].map(blockFramesFor)).toEqual([32_768, 8_192, 1_024]);
    for (let tracks = 1; tracks <= 256; tracks++) {
      expect(tracks * KEPT_BLOCKS_MAX * blockFramesFor(tracks) * 16).toBeLessThanOrEqual(STREAMED_MAX_BYTES);
    }
  });
});

/** A WAV file of 32-bit float samples with one frame, whose samples are all 0.5. */
function wavOf(channels: number): ArrayBuffer {
  const bytes = new ArrayBuffer(44 + 4 * channels);
  const view = new DataView(bytes);
  const tag = (offset: number, text: string): void => [...text].forEach((character, i) => view.setUint8(offset + i, character.charCodeAt(0)));
  tag(0, 'RIFF');
  tag(8, 'WAVE');
  tag(12, 'fmt ');
  view.setUint32(16, 16, true);
  view.setUint16(20, 3, true);
  view.setUint16(22, channels, true);
  view.setUint32(24, 48000, true);
  view.setUint16(34, 32, true);
  tag(36, 'data');
  view.setUint32(40, 4 * channels, true);
  for (let channel = 0; channel < channels; channel++) view.setFloat32(44 + 4 * channel, 0.5, true);
  return bytes;
}

describe('audio from the service', () => {
  const LENGTH_FRAMES = 48000;
  /** Requests that have no answer yet, the oldest first. */
  let requests: { path: string; range: string | null; signal: AbortSignal; answer: (response: Response) => void }[];
  /** The last audio of each track in the engine. */
  let audio: Map<string, TrackAudio | null>;
  /** Blocks that the engine received. */
  let filled: { block: TrackBlock; samples: number[] }[];
  let ask: (wanted: TrackBlock[]) => void;
  let failures: unknown[];
  let sound: ServerSound;
  const engine = {
    setTrackAudio: (id: string, value: TrackAudio | null) => audio.set(id, value),
    fillTrackAudio: (block: TrackBlock, channels: Float32Array[]) => filled.push({ block, samples: channels.map((channel) => channel[0] ?? NaN) }),
    onWantedTrackAudio: (listener: typeof ask) => (ask = listener),
  } as unknown as EngineClient;

  beforeEach(() => {
    vi.useFakeTimers();
    [requests, audio, failures, filled] = [[], new Map(), [], []];
    vi.stubGlobal('fetch', (request: Request) => {
      return new Promise<Response>((answer, reject) => {
        request.signal.addEventListener('abort', () => reject(new DOMException('cancelled', 'AbortError')));
        requests.push({ path: new URL(request.url).pathname, range: request.headers.get('range'), signal: request.signal, answer });
      });
    });
    sound = new ServerSound(new Api('http://songs.test'), (error) => failures.push(error));
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  const update = async (song: Project): Promise<void> => {
    sound.update(engine, song, LENGTH_FRAMES);
    await vi.advanceTimersByTimeAsync(0);
  };
  const answer = async (response: Response): Promise<void> => {
    requests.shift()?.answer(response);
    await vi.advanceTimersByTimeAsync(0);
  };
  /** Answers that the sound is stored, and then with the start of its file. */
  const render = async (channels = 4): Promise<void> => {
    await answer(Response.json({ sound_id: 'sound', frames: 1, channels }));
    expect(requests.map(({ path, range }) => [path, range])).toEqual([['/api/v1/plugins/sounds/sound', 'bytes=0-4095']]);
    await answer(new Response(wavOf(channels)));
  };
  const problem = (status: number, detail: string): Response => new Response(JSON.stringify({ detail }), { status });
  const editedSong = (song: Project): Project => updateTrack(song, 'piano', (piano) => ({ ...piano, items: [{ ...ITEM }] }));
  const piano = songOf(track('piano', PIANO));

  it('plays when it has arrived', async () => {
    await update(piano);
    expect(requests.map(({ path }) => path)).toEqual(['/api/v1/plugins/soundfont-sounds']);
    expect(sound.count).toEqual({ requested: 1, ready: 0 });
    await render();
    expect(sound.count, 'the first block is missing').toEqual({ requested: 1, ready: 0 });
    expect(audio.get('piano')).toEqual({ version: 1, frames: 1, blockFrames: 32_768 });
    await update({ ...piano, name: 'Renamed' });
    expect(requests, 'the notes are unchanged').toHaveLength(0);
  });

  it('ends after an edit, and is rendered again when the edit has settled', async () => {
    await update(piano);
    await render();
    await update(editedSong(piano));
    expect(audio.get('piano')).toBeNull();
    expect(requests).toHaveLength(0);
    await vi.advanceTimersByTimeAsync(700);
    expect(requests).toHaveLength(1);
    await update(editedSong(editedSong(piano)));
    expect(requests[0]?.signal.aborted, 'another edit cancels the render').toBe(true);
    requests.shift();
    await vi.advanceTimersByTimeAsync(700);
    await render();
    await update(updateTrack(piano, 'piano', (old) => ({ ...old, items: [] })));
    expect(audio.get('piano')).toBeNull();
    expect(failures).toEqual([]);
  });

  it('is fetched in the blocks that the engine asks for, one at a time for each track', async () => {
    await update(piano);
    await render();
    const block = { trackId: 'piano', version: 1, startFrame: 0 };
    ask([block, { ...block, startFrame: 32_768 }]);
    ask([block, { ...block, version: 7 }]);
    await vi.advanceTimersByTimeAsync(0);
    expect(requests.map(({ path, range }) => [path, range])).toEqual([['/api/v1/plugins/sounds/sound', 'bytes=44-59']]);
    await answer(new Response(Float32Array.of(0.5, 0.25, 0.125, 0).buffer));
    expect(filled).toEqual([{ block, samples: [0.5, 0.25, 0.125, 0] }]);
    expect(sound.count).toEqual({ requested: 1, ready: 1 });
    ask([block]);
    await vi.advanceTimersByTimeAsync(0);
    expect(requests, 'the engine may ask again').toHaveLength(1);
  });

  it('is rendered again if the service has deleted the sound', async () => {
    await update(piano);
    await render();
    ask([{ trackId: 'piano', version: 1, startFrame: 0 }]);
    await vi.advanceTimersByTimeAsync(0);
    await answer(problem(404, 'There is no such sound.'));
    expect(audio.get('piano')).toBeNull();
    expect(sound.count).toEqual({ requested: 1, ready: 0 });
    await render();
    expect(audio.get('piano')).toMatchObject({ version: 2 });
    expect(failures).toEqual([]);
  });

  it('is left to the engine if the service fails or sends another file', async () => {
    for (const respond of [() => answer(problem(503, 'The service is busy.')), () => render(2)]) {
      await update(piano);
      await respond();
      expect(sound.count).toEqual({ requested: 0, ready: 0 });
      sound.stop(engine);
    }
    expect(failures.map((error) => (error as Error).message)).toEqual([
      'The service is busy.',
      'the service rendered 2 channels instead of 4',
    ]);
  });
});
