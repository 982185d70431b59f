/** Tests of the tracks that the service renders for the page. */
import type { EngineClient } from '@songfoundry/web-worklet';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { Api } from '../src/api/client';
import { AUDIO_MAX_BYTES, planRenders } from '../src/engine/render-plan';
import { renderRequestOf, type RenderRequest } from '../src/engine/render-requests';
import { ServerSound } from '../src/engine/server-sound.svelte';
import type { MidiItem, Project, SynthEngine, Track } from '../src/project/model';
import { normaliseProject } from '../src/project/normalise';
import { updateTrack } from '../src/project/update-track';

const PIANO: SynthEngine = { type: 'soundfont', soundfont_id: 'gm', bank: 0, program: 3 };
const NEKOBI: SynthEngine = { type: 'vst2', plugin_id: '444E656B', state: 'c3RhdGU=' };

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
  return normaliseProject({ project_id: 'p', tempo_map: [{ tick: 0, bpm: 90 }], tracks });
}

function requestOf(engine: SynthEngine, fields: object = {}): RenderRequest | null {
  const song = songOf(track('a', engine, fields));
  return renderRequestOf(song, song.tracks[0] as Track);
}

describe('a render request', () => {
  it('places notes and controls in the song', () => {
    expect(requestOf(PIANO)).toMatchObject({
      renderer: 'soundfont',
      body: {
        notes: [{ tick: 1005, length_ticks: 10 }],
        controls: [{ tick: 1007, type: 'bend' }],
        soundfont_id: 'gm',
        program: 3,
        time_base: 'ticks',
        sample_rate_hz: 48000,
        sends: true,
      },
    });
  });

  it('has the plugin of a track, its state, and the notes and tempo of the song', () => {
    expect(requestOf(NEKOBI)).toEqual({
      renderer: 'plugin',
      body: {
        plugin_id: '444E656B',
        state: 'c3RhdGU=',
        notes: [{ tick: 1005, length_ticks: 10, pitch: 60, velocity: 1 }],
        controls: [{ tick: 1007, type: 'bend', value: 1 }],
        tempo_map: [{ tick: 0, bpm: 90 }],
        time_base: 'ticks',
        sample_rate_hz: 48000,
      },
    });
    expect(requestOf({ type: 'vst3', plugin_id: 'x' })?.body).not.toHaveProperty('state');
  });

  it('sets and automates the parameters of a plugin as an export does', () => {
    const lane = (target: string, values: number[]): object => ({ target, points: values.map((value, index) => ({ tick: 960 - index, value })) });
    const automation = [lane('pan', [0]), lane('instrument/7', [0.5, 2]), lane('instrument/7', [1]), lane('instrument/x', [1])];
    const engine = { type: 'vst2', plugin_id: 'x', params: { 7: 0.25 } } as const;
    const song = songOf({ ...track('a', engine), automation });
    expect(renderRequestOf(song, song.tracks[0] as Track)?.body).toMatchObject({
      params: { 7: 0.25 },
      automation: [{ param: '7', points: [{ tick: 959, value: 1, curve: 'linear' }, { tick: 960, value: 0.5, curve: 'linear' }] }],
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
    for (const engine of [PIANO, NEKOBI]) {
      expect(requestOf(engine, fields)?.body).toMatchObject({ notes: [{ tick: 1090, length_ticks: 10, pitch: 60 }], controls: [] });
    }
  });

  it('is not made for tracks without notes, nor for SoundFont tracks with clips that select a program', () => {
    expect(requestOf(PIANO, { notes: [] })).toBeNull();
    expect(requestOf(NEKOBI, { notes: [] })).toBeNull();
    expect(requestOf(PIANO, { soundfont_program: 4 })).toBeNull();
    expect(requestOf(NEKOBI, { soundfont_program: 4 })?.renderer).toBe('plugin');
  });
});

describe('the plan of renders', () => {
  const plannedIds = (song: Project, lengthFrames: number, rendersSoundFonts = true): string[] =>
    planRenders(song, lengthFrames, rendersSoundFonts).renders.map((planned) => planned.track.id);

  it('has plugin tracks always, and SoundFont tracks on request', () => {
    const song = songOf(track('piano', PIANO), track('bass', NEKOBI));
    expect(plannedIds(song, 48000)).toEqual(['bass', 'piano']);
    expect(plannedIds(song, 48000, false)).toEqual(['bass']);
    expect(plannedIds(song, 0)).toEqual([]);
  });

  it('has only as many tracks as fit into the memory limit, plugin tracks first', () => {
    const tenMinutes = 600 * 48000;
    const pianos = ['a', 'b', 'c'].map((id) => track(id, PIANO));
    expect(plannedIds(songOf(...pianos), tenMinutes)).toEqual(['a', 'b']);
    expect(2 * tenMinutes * 16).toBeLessThanOrEqual(AUDIO_MAX_BYTES);
    // A plugin track needs half the memory of a SoundFont track.
    expect(plannedIds(songOf(...pianos, track('bass', NEKOBI)), tenMinutes)).toEqual(['bass', 'a']);
    const basses = ['a', 'b', 'c', 'd', 'e'].map((id) => track(id, NEKOBI));
    const { renders, oversized } = planRenders(songOf(...basses), tenMinutes, true);
    expect(renders).toHaveLength(4);
    expect(oversized.map((planned) => planned.track.id)).toEqual(['e']);
  });
});

/** A WAV file of 32-bit float samples with one frame, whose samples are all 0.5. */
function wavOf(channels: number): ArrayBuffer {
  const bytes = new ArrayBuffer(44 + 4 * channels);
  const view = new DataView(bytes);
  const tag = (offset: number, text: string): void => [...text].forEach((letter, i) => view.setUint8(offset + i, letter.charCodeAt(0)));
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

type TrackAudio = Parameters<EngineClient['setTrackAudio']>[1];

describe('audio from the service', () => {
  const LENGTH_FRAMES = 48000;
  /** Requests that have no answer yet, the oldest first. */
  let requests: { path: string; signal: AbortSignal; answer: (response: Response) => void }[];
  /** The last audio of each track in the engine. */
  let audio: Map<string, TrackAudio>;
  let failures: unknown[];
  let sound: ServerSound;
  const engine = { setTrackAudio: (id: string, value: TrackAudio) => audio.set(id, value) } as unknown as EngineClient;

  beforeEach(() => {
    vi.useFakeTimers();
    [requests, audio, failures] = [[], new Map(), []];
    vi.stubGlobal('fetch', (request: Request) => {
      return new Promise<Response>((answer, reject) => {
        request.signal.addEventListener('abort', () => reject(new DOMException('cancelled', 'AbortError')));
        requests.push({ path: new URL(request.url).pathname, signal: request.signal, answer });
      });
    });
    sound = new ServerSound(new Api('http://songs.test'), (error) => failures.push(error));
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  const update = async (song: Project, rendersSoundFonts = false): Promise<void> => {
    sound.update(engine, song, LENGTH_FRAMES, rendersSoundFonts);
    await vi.advanceTimersByTimeAsync(0);
  };
  const answer = async (response: Response): Promise<void> => {
    requests.shift()?.answer(response);
    await vi.advanceTimersByTimeAsync(0);
  };
  const wav = (channels: number, headers: Record<string, string> = {}): Response => new Response(wavOf(channels), { headers });
  const problem = (status: number, detail: string): Response => new Response(JSON.stringify({ detail }), { status });
  const edited = (song: Project): Project => updateTrack(song, 'bass', (bass) => ({ ...bass, items: [{ ...ITEM }] }));
  const bass = songOf(track('bass', NEKOBI));

  it('plays on a plugin track when it is rendered, without sends', async () => {
    await update(bass);
    expect(requests.map(({ path }) => path)).toEqual(['/api/v1/plugins/midi-render']);
    expect(sound.stateOf('bass')).toEqual({ kind: 'rendering' });
    expect(sound.countOf('plugin')).toEqual({ requested: 1, ready: 0 });
    await answer(wav(2));
    expect(sound.stateOf('bass')).toEqual({ kind: 'ready', isSilent: false });
    expect(sound.countOf('plugin')).toEqual({ requested: 1, ready: 1 });
    expect(audio.get('bass')).toEqual({
      left: Float32Array.of(0.5),
      right: Float32Array.of(0.5),
      reverb: new Float32Array(),
      chorus: new Float32Array(),
    });
    await update({ ...bass, name: 'Renamed' });
    expect(requests, 'the notes are unchanged').toHaveLength(0);
  });

  it('is rendered again after an edit has settled, and the earlier audio plays until then', async () => {
    await update(bass);
    await answer(wav(2));
    const first = audio.get('bass');
    await update(edited(bass));
    expect(sound.stateOf('bass')).toEqual({ kind: 'rendering' });
    expect(requests).toHaveLength(0);
    await vi.advanceTimersByTimeAsync(700);
    expect(requests).toHaveLength(1);
    expect(audio.get('bass')).toBe(first);
    await update(edited(edited(bass)));
    expect(requests[0]?.signal.aborted, 'another edit cancels the render').toBe(true);
    requests.shift();
    await vi.advanceTimersByTimeAsync(700);
    await answer(wav(2));
    expect(sound.stateOf('bass')).toEqual({ kind: 'ready', isSilent: false });
    expect(audio.get('bass')).not.toBe(first);
    expect(failures).toEqual([]);
  });

  it('is rendered again after a change of the plugin, and the earlier audio plays until then', async () => {
    await update(bass);
    await answer(wav(2));
    const first = audio.get('bass');
    const automated = updateTrack(bass, 'bass', (old) => ({ ...old, automation: [{ target: 'instrument/7', points: [{ tick: 0, value: 1 }] }] }));
    for (const changed of [songOf(track('bass', { ...NEKOBI, params: { 7: 1 } })), automated]) {
      await update({ ...changed, tempo_map: bass.tempo_map });
      expect(sound.stateOf('bass')).toEqual({ kind: 'rendering' });
      expect(audio.get('bass')).toBe(first);
    }
    await vi.advanceTimersByTimeAsync(700);
    expect(requests).toHaveLength(1);
    await answer(wav(2));
    await update({ ...updateTrack(automated, 'bass', (old) => ({ ...old, automation: [...(old.automation ?? []), { target: 'pan', points: [] }] })) });
    expect(requests, 'the pan is not part of the plugin').toHaveLength(0);
    await update(songOf(track('bass', { type: 'vst2', plugin_id: 'another' })));
    expect(audio.get('bass'), 'another plugin').toBeNull();
  });

  it('ends at once if the tempo, the plugin or the notes of a plugin track are gone', async () => {
    await update(bass);
    await answer(wav(2));
    await update({ ...bass, tempo_map: [{ tick: 0, bpm: 60 }] });
    expect(audio.get('bass')).toBeNull();
    await vi.advanceTimersByTimeAsync(700);
    await answer(wav(2));
    await update(updateTrack(bass, 'bass', (old) => ({ ...old, items: [] })));
    expect(audio.get('bass')).toBeNull();
    expect(sound.stateOf('bass')).toBeNull();
  });

  it('fails with the reason of the service, and is rendered again on request', async () => {
    await update(bass);
    await answer(problem(502, 'The plugin crashed twice.'));
    expect(sound.stateOf('bass')).toEqual({ kind: 'failed', reason: 'The plugin crashed twice.' });
    expect(sound.countOf('plugin')).toEqual({ requested: 0, ready: 0 });
    await update({ ...bass, name: 'Renamed' });
    expect(requests).toHaveLength(0);
    sound.forget(engine, 'bass');
    await update(bass);
    await answer(wav(2, { 'X-Plugin-Warnings': 'silent' }));
    expect(sound.stateOf('bass')).toEqual({ kind: 'ready', isSilent: true });
  });

  it('is missing if the service does not have the plugin', async () => {
    await update(bass);
    await answer(problem(404, 'There is no plugin 444E656B.'));
    expect(sound.stateOf('bass')).toEqual({ kind: 'missing' });
    expect(failures, 'the track shows its state itself').toEqual([]);
  });

  it('fails for a file with other channels than requested', async () => {
    await update(bass);
    await answer(wav(4));
    expect(sound.stateOf('bass')).toEqual({ kind: 'failed', reason: 'the service rendered 4 channels instead of 2.' });
  });

  it('of SoundFont tracks does not wait for plugins, and failures are reported', async () => {
    const song = songOf(track('bass', NEKOBI), track('piano', PIANO), track('organ', { ...PIANO, program: 16 }));
    await update(song, true);
    expect(requests.map(({ path }) => path).sort()).toEqual(['/api/v1/plugins/midi-render', '/api/v1/plugins/soundfont-render']);
    requests.sort((a, b) => b.path.localeCompare(a.path));
    await answer(wav(4));
    expect(sound.stateOf('piano')).toEqual({ kind: 'ready', isSilent: false });
    requests.sort((a, b) => b.path.localeCompare(a.path));
    await answer(problem(503, 'The service is busy.'));
    expect(failures).toHaveLength(1);
    await update(song, false);
    expect(audio.get('piano')).toBeNull();
    expect(sound.stateOf('bass')).toEqual({ kind: 'rendering' });
    sound.stop(engine);
    expect(requests[0]?.signal.aborted).toBe(true);
    expect(sound.stateOf('bass')).toBeNull();
  });
});
