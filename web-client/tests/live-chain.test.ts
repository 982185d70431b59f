import { describe, expect, it } from 'vitest';

import { hasMasterPlugins, liveChainOf, liveEdits, liveLanesOf, liveProblem, withoutMasterEffects } from '../src/project/live-chain';
import type { Effect, Project } from '../src/project/model';

const EQ = { id: 'eq', type: 'builtin', name: 'equalizer', params: { low_db: 3 } } as Effect;
const VERB = { id: 'v', type: 'vst2', plugin_id: 'zamverb', state: 'AAAA', params: { 1: 0.5 } } as unknown as Effect;

function songWith(effects: Effect[], extraFields: Partial<Project['master']> = {}): Project {
  return {
    schema_version: 1,
    project_id: 'p',
    name: '',
    sample_rate_hz: 48_000,
    tempo_map: [{ tick: 0, bpm: 120 }, { tick: 1920, bpm: 60 }],
    time_signatures: [],
    markers: [],
    tracks: [],
    settings: { seed: 7 },
    master: { volume_db: -3, effects, ...extraFields },
  } as unknown as Project;
}

describe('the live chain of the master', () => {
  it('exists only with plugins, and not with side-chains', () => {
    expect([songWith([]), songWith([EQ]), songWith([EQ, VERB])].map(hasMasterPlugins)).toEqual([false, false, true]);
    expect(liveProblem(songWith([EQ, VERB]))).toBeNull();
    expect(liveProblem(songWith([{ ...EQ, side_chain: 'kick' } as Effect, VERB]))).toContain('equalizer has a side-chain');
  });

  it('contains the effects as the service takes them', () => {
    expect(liveChainOf(songWith([EQ, VERB]))).toEqual({
      sampleRateHz: 48_000,
      seed: 7,
      bpm: 120,
      effects: [
        { id: 'eq', type: 'builtin', name: 'equalizer', params: { low_db: 3 } },
        { id: 'v', type: 'vst2', plugin_id: 'zamverb', state: 'AAAA', params: { 1: 0.5 } },
      ],
    });
  });

  it('has the automation of effects in frames, and leaves that of the fader to the engine', () => {
    const points = [{ tick: 0, value: 0.25 }, { tick: 2880, value: 1, curve: 'step' as const }];
    const song = songWith([VERB], { automation: [{ target: 'volume_db', points }, { target: 'v/1', points }] });
    expect(liveLanesOf(song)).toEqual([
      { effect: 'v', param: '1', points: [{ frame: 0, value: 0.25, curve: 'linear' }, { frame: 96_000, value: 1, curve: 'step' }] },
    ]);
    const forEngine = withoutMasterEffects(song);
    expect(forEngine.master).toMatchObject({ volume_db: -3, effects: [], automation: [{ target: 'volume_db' }] });
    // The player compares the lists by reference.
    const afterFader = withoutMasterEffects({ ...song, master: { ...song.master, volume_db: 0 } });
    expect([afterFader.master.effects, afterFader.master.automation]).toEqual([forEngine.master.effects, forEngine.master.automation]);
    expect(afterFader.master.automation).toBe(forEngine.master.automation);
    expect(afterFader.master.effects).toBe(forEngine.master.effects);
  });

  it('tells values and bypasses as edits, and everything else as a new chain', () => {
    const chainBefore = liveChainOf(songWith([EQ, VERB]));
    const editedChain = liveChainOf(songWith([{ ...EQ, bypass: true }, { ...VERB, params: { 1: 0.75 } } as Effect]));
    expect(liveEdits(chainBefore, chainBefore)).toEqual([]);
    expect(liveEdits(chainBefore, editedChain)).toEqual([{ effect: 'eq', bypass: true }, { effect: 'v', param: '1', value: 0.75 }]);
    for (const effects of [[VERB, EQ], [VERB], [EQ, { ...VERB, state: 'BBBB' } as Effect]]) {
      expect(liveEdits(chainBefore, liveChainOf(songWith(effects)))).toBeNull();
    }
  });
});
