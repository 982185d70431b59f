import { describe, expect, it } from 'vitest';

import { filesOf } from '../src/project/files';
import { addEffect, builtInEffect, setEffectBypass, setEffectParameter, setSideChain } from '../src/project/edit-effects';
import type { EffectKind } from '../src/project/effect-kinds';
import { liveChanges } from '../src/project/live-changes';
import { MASTER_ID, type Project } from '../src/project/model';
import { normalizeProject } from '../src/project/normalize';
import { changeSend } from '../src/project/routing';
import { updateTrack } from '../src/project/update-track';

const KIND: EffectKind = {
  id: 'utility',
  name: 'Utility',
  group: 'utility',
  has_side_chain: false,
  impulse_max_secs: null,
  parameters: [
    { id: 'balance', name: 'Balance', unit: 'number', min: -1, max: 1, default: 0, scale: 'linear', choices: [] },
    { id: 'mono', name: 'Mono', unit: 'number', min: 0, max: 1, default: 0, scale: 'switch', choices: [] },
  ],
};

function song(): Project {
  const effect = (id: string) => ({ id, type: 'builtin', name: 'utility' });
  return normalizeProject({
    schema_version: 1,
    project_id: 'p',
    tracks: [
      {
        id: 'a',
        kind: 'audio',
        effects: [effect('one'), { ...effect('two'), impulse: 'room' }],
        sends: [{ to: 'r' }],
        items: [{ type: 'audio', id: 'take', start_tick: 0, source: { server_file_id: 'file' } }],
      },
      { id: 'r', kind: 'bus' },
    ],
    master: { effects: [effect('three')] },
  });
}

const BEFORE = song();
const live = (projectAfter: Project) => liveChanges(BEFORE, projectAfter, () => KIND);

describe('edits that the engine applies immediately', () => {
  it('are changes of parameters, bypasses and send levels', () => {
    let projectAfter = setEffectParameter(BEFORE, 'a', 'two', 'mono', true);
    projectAfter = setEffectParameter(projectAfter, MASTER_ID, 'three', 'balance', -0.5);
    projectAfter = setEffectBypass(projectAfter, 'a', 'one', true);
    projectAfter = changeSend(projectAfter, 'a', 'r', { level_db: -9 });
    projectAfter = updateTrack(projectAfter, 'a', (track) => ({ ...track, bypass: true, volume_db: -3, mute: true }));
    expect(live(projectAfter)).toEqual([
      { kind: 'parameter', channelId: MASTER_ID, effectId: 'three', parameter: 'balance', value: -0.5 },
      { kind: 'effect-bypass', channelId: 'a', effectId: 'one', bypass: true },
      { kind: 'parameter', channelId: 'a', effectId: 'two', parameter: 'mono', value: 1 },
      { kind: 'send', trackId: 'a', send: 0, levelDb: -9 },
      { kind: 'bypass', channelId: 'a', bypass: true },
    ]);
  });

  it('are none without an audible change', () => {
    expect(live(updateTrack(BEFORE, 'a', (track) => ({ ...track, name: 'Other' })))).toEqual([]);
  });

  it('exclude all other edits', () => {
    expect(live(addEffect(BEFORE, 'a', builtInEffect(KIND)).project)).toBeNull();
    expect(live(setSideChain(BEFORE, 'a', 'one', 'r'))).toBeNull();
    expect(live(changeSend(BEFORE, 'a', 'r', { pre_fader: true }))).toBeNull();
    expect(live(updateTrack(BEFORE, 'a', (track) => ({ ...track, automation: [] })))).toBeNull();
    expect(live({ ...BEFORE, tracks: BEFORE.tracks.slice(1) })).toBeNull();
    expect(liveChanges(BEFORE, setEffectBypass(BEFORE, 'a', 'one', true), () => null)).toBeNull();
  });
});

describe('the files of a song', () => {
  it('are the files of its clips and the impulse responses of its effects', () => {
    expect(filesOf(BEFORE)).toEqual({ clips: new Set(['file']), takes: new Set(), impulses: new Set(['room']) });
  });
});
