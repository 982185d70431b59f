import { describe, expect, it } from 'vitest';

import { BANKS_PER_SOUNDFONT, planBanks, type BankPlan, type PlannedBank, type TrackNeeds } from '../src/engine/bank-plan';

const track = (trackId: string, soundfontId: string, ...presets: string[]): TrackNeeds => ({ trackId, soundfontId, presets });
const bank = (id: string, soundfontId: string, ...presets: string[]): PlannedBank => ({ id, soundfontId, presets: new Set(presets) });

function plan(tracks: TrackNeeds[], banks: PlannedBank[] = [], previousBankIds: Record<string, string> = {}): BankPlan {
  let count = 0;
  return planBanks(tracks, banks, new Map(Object.entries(previousBankIds)), (id) => `${id}-new-${++count}`);
}

describe('the banks of a song', () => {
  it('are at first one for each SoundFont, which all its tracks share', () => {
    const { bankIds, newBanks } = plan([track('a', 'gm', '0:0', '0:5'), track('b', 'gm', '128:0', '0:5'), track('c', 'other', '0:0')]);
    expect(newBanks).toEqual([bank('gm-new-1', 'gm', '0:0', '0:5', '128:0'), bank('other-new-2', 'other', '0:0')]);
    expect([...bankIds]).toEqual([['a', 'gm-new-1'], ['b', 'gm-new-1'], ['c', 'other-new-2']]);
  });

  it('stay when another track needs more presets', () => {
    const banks = [bank('one', 'gm', '0:0', '0:5')];
    const { bankIds, newBanks } = plan([track('a', 'gm', '0:0'), track('b', 'gm', '0:9')], banks, { a: 'one', b: 'one' });
    expect(newBanks).toEqual([bank('gm-new-1', 'gm', '0:9')]);
    expect([...bankIds]).toEqual([['a', 'one'], ['b', 'gm-new-1']]);
  });

  it('stay with their tracks, and new tracks use them, too', () => {
    const banks = [bank('one', 'gm', '0:0'), bank('two', 'gm', '0:0', '0:9'), bank('strange', 'other', '0:7')];
    const { bankIds, newBanks } = plan([track('a', 'gm', '0:0'), track('b', 'gm', '0:9')], banks, { a: 'two' });
    expect(newBanks).toEqual([]);
    expect([...bankIds]).toEqual([['a', 'two'], ['b', 'two']]);
    expect(plan([track('a', 'gm', '0:7')], banks).newBanks).toHaveLength(1);
  });

  it('are replaced with one bank when a SoundFont would get too many banks', () => {
    const ids = Array.from({ length: BANKS_PER_SOUNDFONT }, (_, index) => `t${index}`);
    const banks = ids.map((id, index) => bank(id, 'gm', `0:${index}`));
    const tracks = ids.map((id, index) => track(id, 'gm', `0:${index}`));
    const { bankIds, newBanks } = plan([...tracks, track('new', 'gm', '0:99')], banks, Object.fromEntries(ids.map((id) => [id, id])));
    expect(newBanks).toHaveLength(1);
    expect(newBanks[0]?.presets.size).toBe(BANKS_PER_SOUNDFONT + 1);
    expect(new Set(bankIds.values())).toEqual(new Set(['gm-new-1']));
  });
});
