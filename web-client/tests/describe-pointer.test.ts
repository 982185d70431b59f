import { describe, expect, it } from 'vitest';

import { normalizeProject } from '../src/project/normalize';
import { describePointer } from '../src/project/describe-pointer';

const project = normalizeProject({
  schema_version: 1,
  project_id: 'p',
  tracks: [
    {
      id: 'd',
      name: 'Drums',
      kind: 'instrument',
      effects: [{ id: 'c', type: 'builtin', name: 'compressor' }],
      automation: [{ target: 'effect/c/ratio', points: [] }],
    },
  ],
  master: { effects: [{ id: 'l', type: 'builtin', name: 'limiter' }] },
});

const descriptionOf = (pointer: string): string => describePointer(project, pointer, (effect) => effect.name ?? 'plugin');

describe('descriptions of JSON pointers', () => {
  it('name the track or the master, and the part of it', () => {
    expect(descriptionOf('/tracks/0/effects/0')).toBe('Drums, compressor');
    expect(descriptionOf('/tracks/0/effects/0/side_chain')).toBe('Drums, compressor, side-chain');
    expect(descriptionOf('/tracks/0/effects/0/params/a~1b')).toBe('Drums, compressor, a/b');
    expect(descriptionOf('/tracks/0/items/2')).toBe('Drums, clip 3');
    expect(descriptionOf('/tracks/0/automation/0/points/3/value')).toBe('Drums, automation of effect/c/ratio');
    expect(descriptionOf('/tracks/0/sends/1/to')).toBe('Drums, send');
    expect(descriptionOf('/tracks/0/synth_engine')).toBe('Drums, instrument');
    expect(descriptionOf('/master/effects/0')).toBe('Master, limiter');
  });

  it('are the pointers themselves if the song has no such part', () => {
    expect(descriptionOf('/tracks/7/effects/0')).toBe('/tracks/7/effects/0');
    expect(descriptionOf('/elsewhere')).toBe('/elsewhere');
  });
});
