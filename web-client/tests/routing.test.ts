import { describe, expect, it } from 'vitest';

import { setSideChain } from '../src/project/edit-effects';
import { removeTrack } from '../src/project/edit-tracks';
import type { Project, Track } from '../src/project/model';
import { normalizeProject } from '../src/project/normalize';
import {
  addSend,
  audibleTracks,
  changeSend,
  possibleSideChains,
  possibleTargets,
  removeSend,
  setOutput,
} from '../src/project/routing';
import { updateTrack } from '../src/project/update-track';

/** A song in which the output of a is g, b has a send to r, and g has a send to r. */
function song(): Project {
  const effects = [{ id: 'duck', type: 'builtin', name: 'compressor', side_chain: 'a' }];
  return normalizeProject({
    schema_version: 1,
    project_id: 'p',
    tracks: [
      { id: 'a', kind: 'instrument', output: 'g' },
      { id: 'b', kind: 'audio', sends: [{ to: 'r', level_db: -6 }], effects, automation: [{ target: 'send/r', points: [] }] },
      { id: 'c', kind: 'instrument' },
      { id: 'g', kind: 'group', sends: [{ to: 'r' }] },
      { id: 'r', kind: 'bus' },
    ],
  });
}

const idsOf = (tracks: readonly Track[]): string[] => tracks.map((track) => track.id);
const track = (project: Project, id: string): Track | undefined => project.tracks.find((candidate) => candidate.id === id);
const audibleIds = (project: Project): string[] => [...audibleTracks(project)].filter(([, audible]) => audible).map(([id]) => id);
const solo = (project: Project, id: string): Project => updateTrack(project, id, (target) => ({ ...target, solo: true }));

describe('the possible targets of a track', () => {
  it('are the buses and groups that do not feed the track', () => {
    expect(idsOf(possibleTargets(song(), 'c'))).toEqual(['g', 'r']);
    expect(idsOf(possibleTargets(song(), 'g'))).toEqual(['r']);
    expect(idsOf(possibleTargets(song(), 'r'))).toEqual([]);
  });

  it('exclude buses and groups that feed the track through a side-chain', () => {
    const withGate = updateTrack(setOutput(song(), 'b', null), 'g', (group) => ({
      ...group,
      effects: [{ id: 'gate', type: 'builtin', name: 'gate' }],
    }));
    const withSideChain = setSideChain(withGate, 'g', 'gate', 'r');
    expect(idsOf(possibleTargets(withSideChain, 'g')), 'r feeds g, so g must not feed r').toEqual([]);
    expect(idsOf(possibleSideChains(song(), 'g'))).toEqual(['a', 'b', 'c']);
    expect(idsOf(possibleSideChains(song(), 'a'))).toEqual(['c']);
  });
});

describe('sends and outputs', () => {
  it('are set, changed and removed', () => {
    expect(track(setOutput(song(), 'c', 'g'), 'c')?.output).toBe('g');
    expect(track(setOutput(song(), 'a', null), 'a')).not.toHaveProperty('output');
    const withSend = changeSend(addSend(song(), 'c', 'r'), 'c', 'r', { pre_fader: true });
    expect(track(withSend, 'c')?.sends).toEqual([{ to: 'r', level_db: -12, pre_fader: true }]);
    const withoutSend = track(removeSend(song(), 'b', 'r'), 'b');
    expect([withoutSend?.sends, withoutSend?.automation]).toEqual([[], []]);
  });

  it('are removed with their target', () => {
    const project = removeTrack(removeTrack(song(), 'r'), 'g');
    expect(track(project, 'a')).not.toHaveProperty('output');
    expect([track(project, 'b')?.sends, track(project, 'b')?.automation]).toEqual([[], []]);
    const withoutA = removeTrack(song(), 'a');
    expect(track(withoutA, 'b')?.effects?.[0]).not.toHaveProperty('side_chain');
    expect(track(withoutA, 'c'), 'unrelated tracks stay unchanged').toEqual(track(song(), 'c'));
  });
});

describe('solo', () => {
  it('of a track keeps the groups and buses that it feeds audible', () => {
    expect(audibleIds(song())).toEqual(['a', 'b', 'c', 'g', 'r']);
    expect(audibleIds(solo(song(), 'a'))).toEqual(['a', 'g', 'r']);
    expect(audibleIds(solo(song(), 'c'))).toEqual(['c']);
  });

  it('of a bus or group keeps the tracks that feed it audible', () => {
    expect(audibleIds(solo(song(), 'g'))).toEqual(['a', 'g', 'r']);
    expect(audibleIds(solo(song(), 'r'))).toEqual(['a', 'b', 'g', 'r']);
  });

  it('does not make muted tracks audible', () => {
    const muted = updateTrack(solo(song(), 'a'), 'g', (target) => ({ ...target, mute: true }));
    expect(audibleIds(muted)).toEqual(['a', 'r']);
  });
});
