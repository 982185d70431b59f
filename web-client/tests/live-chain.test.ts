import { describe, expect, it } from 'vitest';

import { hasPlugins, liveChainOf, liveEdits, liveLanesOf, liveProblem, withoutEffectsOf, withoutUnneededEffects } from '../src/project/live-chain';
import { MASTER_ID, type Effect, type Project, type Track } from '../src/project/model';

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

const MASTER = new Set([MASTER_ID]);

describe('the live chain of the master', () => {
  it('exists only with plugins, and not with side-chains', () => {
    expect([songWith([]), songWith([EQ]), songWith([EQ, VERB])].map(({ master }) => hasPlugins(master))).toEqual([false, false, true]);
    expect(liveProblem(songWith([EQ, VERB]).master)).toBeNull();
    expect(liveProblem(songWith([{ ...EQ, side_chain: 'kick' } as Effect, VERB]).master)).toContain('equalizer has a side-chain');
  });

  it('contains the effects as the service takes them', () => {
    expect(liveChainOf(songWith([EQ, VERB]), MASTER_ID)).toEqual({
      sampleRateHz: 48_000,
      seed: 7,
      trackId: '',
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
    expect(liveLanesOf(song, song.master)).toEqual([
      { effect: 'v', param: '1', points: [{ frame: 0, value: 0.25, curve: 'linear' }, { frame: 96_000, value: 1, curve: 'step' }] },
    ]);
    const forEngine = withoutEffectsOf(song, MASTER);
    expect(forEngine.master).toMatchObject({ volume_db: -3, effects: [], automation: [{ target: 'volume_db' }] });
    // The player compares the lists by reference.
    const afterFader = withoutEffectsOf({ ...song, master: { ...song.master, volume_db: 0 } }, MASTER);
    expect([afterFader.master.effects, afterFader.master.automation]).toEqual([forEngine.master.effects, forEngine.master.automation]);
    expect(afterFader.master.automation).toBe(forEngine.master.automation);
    expect(afterFader.master.effects).toBe(forEngine.master.effects);
  });

  it('tells values and bypasses as edits, and everything else as a new chain', () => {
    const before = liveChainOf(songWith([EQ, VERB]), MASTER_ID);
    const edited = liveChainOf(songWith([{ ...EQ, bypass: true }, { ...VERB, params: { 1: 0.75 } } as Effect]), MASTER_ID);
    expect(liveEdits(before, before)).toEqual([]);
    expect(liveEdits(before, edited)).toEqual([{ effect: 'eq', bypass: true }, { effect: 'v', param: '1', value: 0.75 }]);
    for (const effects of [[VERB, EQ], [VERB], [EQ, { ...VERB, state: 'BBBB' } as Effect]]) {
      expect(liveEdits(before, liveChainOf(songWith(effects), MASTER_ID))).toBeNull();
    }
  });
});

const trackWith = (id: string, effects: Effect[], more: Partial<Track> = {}): Track => ({ id, kind: 'instrument', effects, items: [], ...more }) as unknown as Track;

describe('the live chain of a track', () => {
  const lanes = [{ target: 'v/1', points: [] }, { target: 'send/hall', points: [] }, { target: 'pan', points: [] }];
  const lead = trackWith('lead', [EQ, VERB], { bypass: true, automation: lanes });
  const song = (tracks: Track[], master: Effect[] = []): Project => ({ ...songWith(master), tracks });

  it('names its track, and bypasses what the track bypasses', () => {
    const chain = liveChainOf(song([lead]), 'lead');
    expect(chain).toMatchObject({ trackId: 'lead', seed: 7, effects: [{ id: 'eq', bypass: true }, { id: 'v', bypass: true }] });
    const unbypassed = liveChainOf(song([{ ...lead, bypass: false }]), 'lead');
    expect(liveEdits(chain, unbypassed)).toEqual([{ effect: 'eq', bypass: false }, { effect: 'v', bypass: false }]);
  });

  it('leaves the fader, the pan and the sends to the engine', () => {
    const other = trackWith('other', [VERB]);
    const first = withoutEffectsOf(song([lead, other]), new Set(['lead']));
    expect(first.tracks[0]).toMatchObject({ id: 'lead', effects: [], automation: [{ target: 'send/hall' }, { target: 'pan' }] });
    // The engine compiles only tracks that are other objects than before.
    expect(first.tracks[1]).toBe(other);
    expect(withoutEffectsOf(song([lead, other]), new Set(['lead'])).tracks[0]).toBe(first.tracks[0]);
    expect(liveLanesOf(song([lead]), lead)).toEqual([{ effect: 'v', param: '1', points: [] }]);
  });

  it('stays in the song for the service only if a rendered plugin processes its sound', () => {
    const [live, hall] = [new Set(['lead']), trackWith('hall', [VERB], { kind: 'bus' })];
    const kept = (tracks: Track[], master: Effect[] = [], ids: ReadonlySet<string> = live): number =>
      withoutUnneededEffects(song(tracks, master), ids).tracks[0]?.effects?.length ?? 0;
    const sending = { ...lead, sends: [{ to: 'hall' }] };
    expect([kept([lead]), kept([lead, trackWith('other', [VERB])]), kept([lead], [EQ])]).toEqual([0, 0, 0]);
    expect([kept([lead], [VERB]), kept([sending, hall]), kept([{ ...lead, output: 'hall' }, hall])]).toEqual([2, 2, 2]);
    expect(kept([lead], [VERB], new Set(['lead', MASTER_ID]))).toBe(0);
    const keyed = { ...EQ, side_chain: 'lead' } as Effect;
    expect(kept([lead, trackWith('bass', [keyed], { output: 'hall' }), hall])).toBe(2);
  });
});
