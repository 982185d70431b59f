import { describe, expect, it } from 'vitest';

import { BANKS_PER_SOUNDFONT, planBanks, type BankPlan, type PlannedBank, type TrackNeeds } from '../src/engine/bank-plan';

const track = (trackId: string, soundfontId: string, ...presets: string[]): TrackNeeds => ({ trackId, soundfontId, presets });
const bank = (id: string, soundfontId: string, ...presets: string[]): PlannedBank => ({ id, soundfontId, presets: new Set(presets) });

function plan(tracks: TrackNeeds[], known: PlannedBank[] = [], before: Record<string, string> = {}): BankPlan {
  let count = 0;
  return planBanks(tracks, known, new Map(Object.entries(before)), (id) => `${id}-fresh-${++count}`);
}

describe('banks for a song', () => {
  it('are shared by all tracks of a SoundFont at first', () => {
    const { assigned, fresh } = plan([track('a', 'gm', '0:0', '0:5'), track('b', 'gm', '128:0', '0:5'), track('c', 'other', '0:0')]);
    expect(fresh).toEqual([bank('gm-fresh-1', 'gm', '0:0', '0:5', '128:0'), bank('other-fresh-2', 'other', '0:0')]);
    expect([...assigned]).toEqual([['a', 'gm-fresh-1'], ['b', 'gm-fresh-1'], ['c', 'other-fresh-2']]);
  });

  it('stay when another track needs more presets', () => {
    const known = [bank('one', 'gm', '0:0', '0:5')];
    const { assigned, fresh } = plan([track('a', 'gm', '0:0'), track('b', 'gm', '0:9')], known, { a: 'one', b: 'one' });
    expect(fresh).toEqual([bank('gm-fresh-1', 'gm', '0:9')]);
    expect([...assigned]).toEqual([['a', 'one'], ['b', 'gm-fresh-1']]);
  });

  it('stay with their tracks, and are reused by new tracks', () => {
    const known = [bank('one', 'gm', '0:0'), bank('two', 'gm', '0:0', '0:9'), bank('strange', 'other', '0:7')];
    const { assigned, fresh } = plan([track('a', 'gm', '0:0'), track('b', 'gm', '0:9')], known, { a: 'two' });
    expect(fresh).toEqual([]);
    expect([...assigned]).toEqual([['a', 'two'], ['b', 'two']]);
    expect(plan([track('a', 'gm', '0:7')], known).fresh).toHaveLength(1);
  });

  it('are joined before they become too many', () => {
    const ids = Array.from({ length: BANKS_PER_SOUNDFONT }, (_, index) => `t${index}`);
    const known = ids.map((id, index) => bank(id, 'gm', `0:${index}`));
    const tracks = ids.map((id, index) => track(id, 'gm', `0:${index}`));
    const { assigned, fresh } = plan([...tracks, track('new', 'gm', '0:99')], known, Object.fromEntries(ids.map((id) => [id, id])));
    expect(fresh).toHaveLength(1);
    expect(fresh[0]?.presets.size).toBe(BANKS_PER_SOUNDFONT + 1);
    expect(new Set(assigned.values())).toEqual(new Set(['gm-fresh-1']));
  });
});
