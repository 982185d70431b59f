import { describe, expect, it, vi } from 'vitest';
import type { Api } from '../src/api/client';
import { LIVE_CHANNELS_MAX, LiveChannels } from '../src/engine/live-channels.svelte';
import { MASTER_ID, type Effect, type Project } from '../src/project/model';

vi.mock('../src/engine/build-urls', () => ({ LIVE_WORKER_URL: '' }));

const VERB = { id: 'v', type: 'vst2', plugin_id: 'zamverb' } as Effect;

function songWith(count: number, masterEffects: Effect[] = []): Project {
  const tracks = Array.from({ length: count }, (_, index) => ({ id: `t${index}`, kind: 'instrument', effects: [VERB], items: [] }));
  return { project_id: 'p', tracks, master: { effects: masterEffects } } as unknown as Project;
}

describe('LiveChannels', () => {
  it('plays live what the user chose and the service can process', () => {
    const live = new LiveChannels({} as Api, () => undefined);
    const song = songWith(2, [VERB]);
    live.setMode(song, 't1', 'live');
    expect([MASTER_ID, 't0', 't1'].map((id) => live.processes(song, id))).toEqual([false, false, true]);
    expect(live.projectForEngine(song).tracks.map(({ effects }) => effects?.length)).toEqual([1, 0]);
    // The plugin of the master is rendered, for which the service needs that of the track.
    expect(live.projectForSounds(song)).toMatchObject({ project: song, liveIds: new Set(['t1']) });
    // The choice for a track belongs to its song, that for the master to all songs.
    live.setMode(song, MASTER_ID, 'live');
    const other = { ...song, project_id: 'other' };
    expect([MASTER_ID, 't1'].map((id) => live.modeOf(other, id))).toEqual(['live', 'cached']);
    live.setMode(song, 't1', 'cached');
    expect(live.processes(song, 't1')).toBe(false);
  });

  it('has a limit, which the channels that were chosen first keep', () => {
    const live = new LiveChannels({} as Api, () => undefined);
    const song = songWith(LIVE_CHANNELS_MAX + 1);
    const ids = song.tracks.map(({ id }) => id).reverse();
    ids.forEach((id) => live.setMode(song, id, 'live'));
    expect(ids.filter((id) => live.processes(song, id))).toEqual(ids.slice(0, LIVE_CHANNELS_MAX));
    expect(live.problemOf(song, 't1')).toBeNull();
    expect(live.problemOf(song, 't0')).toContain(`${LIVE_CHANNELS_MAX} channels are live, the maximum`);
  });
});
