import { expect, it } from 'vitest';

import type { Project } from '../src/project/model';
import { normalizeProject } from '../src/project/normalize';
import { lanesOf, scaleOf, setLanes, setScale, storedRollOf } from '../src/rooms/editor/stored-roll';

const song = (client?: unknown): Project => normalizeProject({ schema_version: 1, project_id: 'p', tracks: [], ...(client === undefined ? {} : { client }) } as never);

it('a song stores the scale and the lanes of the piano roll beside its loop', () => {
  const storedRoll = setLanes(setScale(song({ loop: 1 }), { root: 9, scaleId: 'minor' }), ['cc64', 'velocity']);
  expect(storedRoll.client).toEqual({ loop: 1, piano_roll: { scale: { root: 9, scale_id: 'minor' }, lanes: ['cc64', 'velocity'] } });
  expect(scaleOf(storedRollOf(storedRoll))).toEqual({ root: 9, scaleId: 'minor' });
  expect(lanesOf(storedRollOf(storedRoll))).toEqual(['cc64', 'velocity']);
});

it('invalid scales and lanes are ignored', () => {
  const check = (storedRoll: unknown): unknown[] => {
    const pianoRoll = storedRollOf(song({ piano_roll: storedRoll }));
    return [scaleOf(pianoRoll), lanesOf(pianoRoll)];
  };
  const none = { root: 0, scaleId: null };
  for (const storedRoll of [undefined, null, 3, [], { scale: 5, lanes: 'cc1' }, { scale: { root: 12, scale_id: 'minor' }, lanes: ['cc128', 4, 'cc01'] }]) {
    expect(check(storedRoll)).toEqual([none, ['velocity']]);
  }
  expect(check({ scale: { root: 2, scale_id: 'unknown' }, lanes: ['bend', 'bend', 'cc0', 'cc7', 'cc127', 'pressure'] })).toEqual([{ root: 2, scaleId: null }, ['bend', 'cc0', 'cc7', 'cc127']]);
  expect([scaleOf(storedRollOf(song())), lanesOf(storedRollOf(song()))]).toEqual([none, ['velocity']]);
});
