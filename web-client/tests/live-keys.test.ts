/** Tests of live keys that are pressed while their sound is being loaded. */
import { expect, it, vi } from 'vitest';

import { LiveKeys } from '../src/engine/live-keys.svelte';
import type { Player } from '../src/engine/player.svelte';

/**
 * Makes keys of a track whose sound is loaded when `loaded` is called, and records their notes and
 * the hints about plugins.
 */
function keysOfATrack(isPlugin = false): { keys: LiveKeys; notes: string[]; loaded: () => void } {
  const notes: string[] = [];
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((resolvePromise) => (resolve = resolvePromise));
  const player = {
    waitForSoundOf: () => promise,
    noteOn: (trackId: string, key: number) => notes.push(`on ${trackId} ${key}`),
    noteOff: (trackId: string, key: number) => notes.push(`off ${trackId} ${key}`),
  };
  return { keys: new LiveKeys(player as unknown as Player, () => ({ trackId: 'piano', isPlugin }), () => notes.push('hint')), notes, loaded: resolve };
}

it('starts the note of a pressed key when its sound is loaded', async () => {
  const { keys, notes, loaded } = keysOfATrack();
  keys.press(60);
  expect(keys.down.has(60)).toBe(true);
  expect(notes).toEqual([]);
  loaded();
  await vi.waitFor(() => expect(notes).toEqual(['on piano 60']));
  keys.release(60);
  expect(notes).toEqual(['on piano 60', 'off piano 60']);
});

it('starts no note for a key that is released before its sound is loaded, and one note for a key that is pressed twice', async () => {
  const { keys, notes, loaded } = keysOfATrack();
  keys.press(60);
  keys.release(60);
  keys.press(62);
  keys.release(62);
  keys.press(62);
  loaded();
  await vi.waitFor(() => expect(notes).toContain('on piano 62'));
  await Promise.resolve();
  expect(notes.filter((note) => note.startsWith('on'))).toEqual(['on piano 62']);
});

it('reports keys of a track with a plugin, which makes no sound', () => {
  const { keys, notes } = keysOfATrack(true);
  keys.press(60);
  expect(keys.down.has(60)).toBe(true);
  expect(notes).toEqual(['hint']);
  const soundFontKeys = keysOfATrack();
  soundFontKeys.keys.press(60);
  expect(soundFontKeys.notes).toEqual([]);
});

it('auditions a sound without ending a held key of the same number, and without reporting a key', async () => {
  vi.useFakeTimers();
  try {
    const notes: string[] = [];
    const player = {
      waitForSoundOf: () => Promise.resolve(),
      audition: (sound: unknown) => {
        notes.push(sound === null ? 'remove' : 'load');
        return Promise.resolve();
      },
      noteOn: (trackId: string, key: number) => notes.push(`on ${trackId} ${key}`),
      noteOff: (trackId: string, key: number) => notes.push(`off ${trackId} ${key}`),
    };
    const keys = new LiveKeys(player as unknown as Player, () => ({ trackId: 'piano', isPlugin: false }), () => undefined);
    const events: string[] = [];
    keys.onEvent = ({ kind }) => events.push(kind);
    await keys.audition({ type: 'soundfont', bank: 0, program: 5 }, 60);
    expect(keys.down.size).toBe(0);
    keys.press(60);
    await vi.advanceTimersByTimeAsync(600);
    const audition = 'songfoundry-audition';
    expect(notes.map((note) => note.replace(/(on|off) (?!piano)\S+/, `$1 ${audition}`))).toEqual(['load', `on ${audition} 60`, 'on piano 60', `off ${audition} 60`]);
    expect(keys.down.has(60)).toBe(true);
    expect(events).toEqual(['press']);
    await vi.advanceTimersByTimeAsync(5000);
    expect(notes.at(-1)).toBe('remove');
  } finally {
    vi.useRealTimers();
  }
});
