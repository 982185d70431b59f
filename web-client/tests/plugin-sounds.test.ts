/** Tests of the sounds of plugins that the service renders for the page. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { Api } from '../src/api/client';
import { fileIdOfSound, PluginSounds, soundIdOf } from '../src/engine/plugin-sounds.svelte';
import type { Project } from '../src/project/model';
import { normalizeProject } from '../src/project/normalize';
import { updateTrack } from '../src/project/update-track';

const ITEM = {
  type: 'midi',
  id: 'i',
  start_tick: 0,
  length_ticks: 960,
  notes: [{ tick: 5, length_ticks: 10, pitch: 60, velocity: 1 }],
  controls: [],
};
const BASS = { id: 'bass', kind: 'instrument', synth_engine: { type: 'vst2', plugin_id: '444E656B' }, items: [ITEM] };
const VERB = { id: 'verb', type: 'vst2', plugin_id: '5A56' };

function songOf(...tracks: object[]): Project {
  return normalizeProject({ project_id: 'p', tempo_map: [{ tick: 0, bpm: 90 }], tracks, master: { effects: [VERB] } });
}

const ready = (trackId: string | null, effectId: string | null, soundId: string, isSilent = false, warnings: readonly string[] = []): object => ({
  track_id: trackId,
  effect_id: effectId,
  state: 'ready',
  sound_id: soundId,
  frames: 100,
  is_silent: isSilent,
  warnings,
});

describe('the sounds of plugins', () => {
  /** Requests that have no answer yet, the oldest first. */
  let requests: { path: string; signal: AbortSignal; answer: (response: Response) => void }[];
  let changes: number;
  let sounds: PluginSounds;
  /** Ids of the audio files that the engine has loaded. */
  let loaded: Set<string>;

  beforeEach(() => {
    vi.useFakeTimers();
    [requests, changes, loaded] = [[], 0, new Set()];
    vi.stubGlobal('fetch', (request: Request) => {
      return new Promise<Response>((answer, reject) => {
        request.signal.addEventListener('abort', () => reject(new DOMException('cancelled', 'AbortError')));
        requests.push({ path: new URL(request.url).pathname, signal: request.signal, answer });
      });
    });
    sounds = new PluginSounds(new Api('http://songs.test'), () => (changes += 1));
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  const update = async (song: Project): Promise<void> => {
    sounds.update(song);
    await vi.advanceTimersByTimeAsync(0);
  };
  const answer = async (...outcomes: object[]): Promise<void> => {
    const body = JSON.stringify({ sounds: outcomes });
    requests.shift()?.answer(new Response(body, { headers: { 'Content-Type': 'application/json' } }));
    await vi.advanceTimersByTimeAsync(0);
  };
  /** Loads the files that the engine needs, and returns the outputs that it plays. */
  const loadedOutputs = (): unknown[] => {
    sounds.fileIds.forEach((id) => loaded.add(id));
    return outputs();
  };
  const outputs = (): unknown[] => sounds.takeOutputs((id) => loaded.has(id)).map(({ trackId, effectId, audioId }) => [trackId, effectId, audioId]);
  const editedSong = (song: Project): Project => updateTrack(song, 'bass', (bass) => ({ ...bass, items: [] }));

  it('are played when they are rendered and loaded', async () => {
    await update(songOf(BASS));
    expect(requests.map(({ path }) => path)).toEqual(['/api/v1/plugins/sounds']);
    expect([sounds.stateOf('bass', null), sounds.stateOf(null, 'verb')]).toEqual([{ kind: 'rendering' }, { kind: 'rendering' }]);
    await answer(ready('bass', null, 'a', true, ['No parameter 7.']), ready(null, 'verb', 'b', true));
    expect(changes).toBe(1);
    expect(outputs()).toEqual([]);
    expect(sounds.count).toEqual({ requested: 2, ready: 0 });
    expect(loadedOutputs()).toEqual([
      ['bass', null, fileIdOfSound('a')],
      [null, 'verb', fileIdOfSound('b')],
    ]);
    expect(sounds.count).toEqual({ requested: 2, ready: 2 });
    expect(sounds.stateOf(null, 'verb'), 'an effect may be silent').toEqual({ kind: 'ready', isSilent: false, warnings: [] });
    expect(sounds.stateOf('bass', null)).toEqual({ kind: 'ready', isSilent: true, warnings: ['No parameter 7.'] });
    expect(['x', fileIdOfSound('a')].map(soundIdOf)).toEqual([null, 'a']);
  });

  it('are rendered again after a change of the time signature', async () => {
    const song = songOf(BASS);
    await update(song);
    await answer(ready('bass', null, 'a'), ready(null, 'verb', 'b'));
    await update({ ...song, time_signatures: [{ tick: 0, numerator: 3, denominator: 4 }] });
    await vi.advanceTimersByTimeAsync(700);
    expect(requests.map(({ path }) => path)).toEqual(['/api/v1/plugins/sounds']);
  });

  it('play on after an edit until the new sounds are loaded', async () => {
    const song = songOf(BASS);
    await update(song);
    await answer(ready('bass', null, 'a'), ready(null, 'verb', 'b'));
    loadedOutputs();
    await update({ ...song, name: 'Renamed' });
    await vi.advanceTimersByTimeAsync(700);
    expect(requests, 'a new name changes no sound').toHaveLength(0);
    const louder = updateTrack(song, 'bass', (bass) => ({ ...bass, volume_db: -6 }));
    await update(louder);
    expect(requests).toHaveLength(0);
    await vi.advanceTimersByTimeAsync(700);
    expect(requests).toHaveLength(1);
    expect(sounds.stateOf('bass', null)?.kind, 'the notes are the same, and the service may answer at once').toBe('ready');
    await vi.advanceTimersByTimeAsync(300);
    expect(sounds.stateOf('bass', null)?.kind).toBe('rendering');
    await answer(ready('bass', null, 'a'), ready(null, 'verb', 'c'));
    expect(sounds.fileIds).toEqual(['a', 'c', 'b'].map(fileIdOfSound));
    expect(outputs()).toEqual([
      ['bass', null, fileIdOfSound('a')],
      [null, 'verb', fileIdOfSound('b')],
    ]);
    expect(loadedOutputs()[1]).toEqual([null, 'verb', fileIdOfSound('c')]);
    expect(sounds.fileIds).toEqual(['a', 'c'].map(fileIdOfSound));
  });

  it('are outdated at once if the plugin, its notes or its automation change', async () => {
    const song = songOf(BASS);
    await update(song);
    await answer(ready('bass', null, 'a'), ready(null, 'verb', 'b'));
    loadedOutputs();
    const changedSong = { ...song, master: { ...song.master, effects: [{ ...VERB, type: 'vst2' as const, params: { '1': 0.5 } }] } };
    await update(changedSong);
    outputs();
    expect([sounds.stateOf('bass', null)?.kind, sounds.stateOf(null, 'verb')?.kind]).toEqual(['ready', 'rendering']);
    await update(song);
    await vi.advanceTimersByTimeAsync(700);
    expect(requests, 'the change was undone').toHaveLength(0);
    outputs();
    expect(sounds.stateOf(null, 'verb')?.kind).toBe('ready');
  });

  it('end at once if the tempo or the plugin changes, or the notes are gone', async () => {
    const song = songOf(BASS);
    await update(song);
    await answer(ready('bass', null, 'a'), ready(null, 'verb', 'b'));
    loadedOutputs();
    await update(editedSong(song));
    expect(outputs()).toEqual([[null, 'verb', fileIdOfSound('b')]]);
    expect(sounds.stateOf('bass', null)).toBeNull();
    await update({ ...song, tempo_map: [{ tick: 0, bpm: 60 }] });
    expect(outputs()).toEqual([]);
    await vi.advanceTimersByTimeAsync(700);
    await answer(ready('bass', null, 'c'), ready(null, 'verb', 'd'));
    expect(loadedOutputs()).toHaveLength(2);
    sounds.stop();
    expect([sounds.fileIds, sounds.count]).toEqual([[], { requested: 0, ready: 0 }]);
  });

  it('that are superseded by another edit are not waited for', async () => {
    const song = songOf(BASS);
    await update(song);
    await update(editedSong(song));
    await vi.advanceTimersByTimeAsync(700);
    expect(requests.map(({ signal }) => signal.aborted)).toEqual([true, false]);
    requests.shift();
    await answer(ready(null, 'verb', 'b'));
    expect(sounds.stateOf('bass', null)).toBeNull();
    expect(loadedOutputs()).toHaveLength(1);
  });

  it('are missing or fail with a reason, and are rendered again on request', async () => {
    await update(songOf(BASS));
    await answer(
      { track_id: 'bass', effect_id: null, state: 'failed', reason: 'The plugin crashed twice.' },
      { track_id: null, effect_id: 'verb', state: 'missing', reason: 'no scan found it' },
    );
    expect(sounds.stateOf('bass', null)).toEqual({ kind: 'failed', reason: 'The plugin crashed twice.', playsLastSound: false });
    expect(sounds.stateOf(null, 'verb')).toEqual({ kind: 'missing', reason: 'no scan found it' });
    expect(sounds.count).toEqual({ requested: 0, ready: 0 });
    sounds.renderAgain();
    await vi.advanceTimersByTimeAsync(0);
    requests.shift()?.answer(new Response(JSON.stringify({ detail: 'The service is busy.' }), { status: 503 }));
    await vi.advanceTimersByTimeAsync(0);
    expect(sounds.stateOf('bass', null)).toEqual({ kind: 'failed', reason: 'The service is busy.', playsLastSound: false });
  });

  it('of an earlier plugin or tempo are not taken from a late answer', async () => {
    const song = songOf(BASS);
    await update(song);
    await update({ ...song, tempo_map: [{ tick: 0, bpm: 60 }] });
    await answer(ready('bass', null, 'a'), ready(null, 'verb', 'b'));
    expect([sounds.fileIds, sounds.stateOf('bass', null)]).toEqual([[], { kind: 'rendering' }]);
    const changedSong = updateTrack(song, 'bass', (bass) => ({ ...bass, items: bass.items.map((item) => ({ ...item })) }));
    await update(changedSong);
    await vi.advanceTimersByTimeAsync(700);
    expect(requests, 'the first tempo is back').toHaveLength(0);
    expect(loadedOutputs()).toHaveLength(2);
    await update(updateTrack(changedSong, 'bass', (bass) => ({ ...bass, items: [...bass.items, { ...ITEM, id: 'j', type: 'midi' as const }] })));
    await vi.advanceTimersByTimeAsync(700);
    await update(updateTrack(changedSong, 'bass', (bass) => ({ ...bass, items: [...bass.items, { ...ITEM, id: 'k', type: 'midi' as const }] })));
    await answer(ready('bass', null, 'c'), ready(null, 'verb', 'd'));
    loadedOutputs();
    expect(sounds.stateOf('bass', null)?.kind, 'the answer is older than the last edit').toBe('rendering');
    expect(sounds.stateOf(null, 'verb')?.kind).toBe('ready');
  });

  it('keep a failure if an edit is undone, and play on if a request fails', async () => {
    const song = songOf(BASS);
    await update(song);
    await answer({ track_id: 'bass', effect_id: null, state: 'failed', reason: 'It crashed.' }, ready(null, 'verb', 'b'));
    loadedOutputs();
    await update(updateTrack(song, 'bass', (bass) => ({ ...bass, items: [...bass.items] })));
    expect(sounds.stateOf('bass', null)?.kind).toBe('rendering');
    await vi.advanceTimersByTimeAsync(700);
    expect(sounds.stateOf('bass', null)).toEqual({ kind: 'failed', reason: 'It crashed.', playsLastSound: false });
    sounds.renderAgain();
    await vi.advanceTimersByTimeAsync(0);
    requests.shift()?.answer(new Response(JSON.stringify({ detail: 'Busy.' }), { status: 503 }));
    await vi.advanceTimersByTimeAsync(0);
    expect(sounds.stateOf(null, 'verb')).toEqual({ kind: 'failed', reason: 'Busy.', playsLastSound: true });
    expect(outputs()).toHaveLength(1);
  });

  it('are ready after an edit that is undone while they are rendered', async () => {
    const song = songOf(BASS);
    await update(song);
    const withItems = (...items: (typeof ITEM)[]): Project => updateTrack(song, 'bass', (bass) => ({ ...bass, items: items.map((item) => ({ ...item, type: 'midi' as const })) }));
    await update(withItems(ITEM, { ...ITEM, id: 'j' }));
    await update(withItems(ITEM));
    await vi.advanceTimersByTimeAsync(700);
    expect(requests).toHaveLength(1);
    await answer(ready('bass', null, 'a'), ready(null, 'verb', 'b'));
    loadedOutputs();
    expect([sounds.stateOf('bass', null)?.kind, sounds.stateOf(null, 'verb')?.kind]).toEqual(['ready', 'ready']);
  });

  it('that the service has deleted are rendered again, but only once', async () => {
    await update(songOf(BASS));
    const outcomes = [ready('bass', null, 'a'), ready(null, 'verb', 'b')];
    await answer(...outcomes);
    loadedOutputs();
    sounds.loadFailed(fileIdOfSound('a'), new Error('gone'));
    expect(sounds.fileIds).toEqual([fileIdOfSound('b')]);
    await vi.advanceTimersByTimeAsync(0);
    expect(requests).toHaveLength(1);
    await answer(...outcomes);
    sounds.loadFailed(fileIdOfSound('a'), new Error('gone'));
    await vi.advanceTimersByTimeAsync(0);
    expect(requests).toHaveLength(0);
    expect(sounds.stateOf('bass', null)).toEqual({ kind: 'failed', reason: 'gone.', playsLastSound: false });
  });
});
