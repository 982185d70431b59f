import { expect, it } from 'vitest';

import { findTrack } from '../src/project/find-track';
import { normalizeProject } from '../src/project/normalize';
import { updateTrack } from '../src/project/update-track';

it('finds the tracks of each version of a song, and the first of several with one id', () => {
  const song = normalizeProject({ project_id: 'p', tracks: ['a', 'b', 'a'].map((id, index) => ({ id, name: String(index), kind: 'instrument', items: [] })) });
  expect(findTrack(song, 'a')?.name).toBe('0');
  expect(findTrack(song, 'c')).toBeUndefined();
  const changedSong = updateTrack(song, 'b', (track) => ({ ...track, name: 'B' }));
  expect([findTrack(song, 'b')?.name, findTrack(changedSong, 'b')?.name]).toEqual(['1', 'B']);
});
