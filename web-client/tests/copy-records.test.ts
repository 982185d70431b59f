/** Tests of the records in which the browser keeps unsaved work. */
import { describe, expect, it } from 'vitest';

import type { Project } from '../src/project/model';
import { normalizeProject } from '../src/project/normalize';
import { changesOf, copiesOf, tracksById, type CopyRecord, type KeptTracks } from '../src/state/songs/copy-records';
import type { LocalCopy } from '../src/state/songs/local-copies';

const copyOf = (project: Project): LocalCopy => ({ windowId: 'w', userId: 'u', project, baseRevision: 3, editNumber: 1, atMs: 5 });
const songOf = (...ids: string[]): Project => normalizeProject({ project_id: 'p', tracks: ids.map((id) => ({ id, name: id, kind: 'instrument', items: [] })) });

/** Keeps records as the browser does. */
class Records {
  readonly #records = new Map<string, CopyRecord>();
  #kept: KeptTracks = new Map();

  /** Stores a copy, and returns the number of tracks that were written. */
  put(copy: LocalCopy): number {
    const { put, remove } = changesOf(copy, this.#kept);
    for (const record of put) this.#records.set(record.windowId, structuredClone(record));
    for (const key of remove) this.#records.delete(key);
    this.#kept = tracksById(copy.project);
    return put.length - 1;
  }

  get all(): CopyRecord[] {
    return [...this.#records.values()];
  }
}

describe('the records of unsaved work', () => {
  it('are written again only for changed tracks, and restore the whole work', () => {
    const records = new Records();
    const song = songOf('a', 'b', 'c');
    expect(records.put(copyOf(song))).toBe(3);
    expect(copiesOf(records.all)).toEqual([copyOf(song)]);
    const [a, b, c] = song.tracks as [Project['tracks'][number], Project['tracks'][number], Project['tracks'][number]];
    const renamed = { ...song, name: 'Other', tracks: [c, { ...b, name: 'B' }, a] };
    expect(records.put(copyOf(renamed))).toBe(1);
    expect(copiesOf(records.all)).toEqual([copyOf(renamed)]);
    const shorter = { ...renamed, tracks: renamed.tracks.slice(0, 1) };
    expect(records.put(copyOf(shorter))).toBe(0);
    expect(copiesOf(records.all)).toEqual([copyOf(shorter)]);
    expect(records.all).toHaveLength(2);
  });

  it('of windows with the same tracks do not mix, and those of earlier versions are read', () => {
    const song = songOf('a');
    const renamed = { ...song, tracks: song.tracks.map((track) => ({ ...track, name: 'A' })) };
    const otherCopy = { ...copyOf(renamed), windowId: 'w2' };
    const earlierCopy = { ...copyOf(song), windowId: 'w3' };
    const records = [...changesOf(copyOf(song), new Map()).put, ...changesOf(otherCopy, new Map()).put, earlierCopy];
    expect(copiesOf(records)).toEqual([copyOf(song), otherCopy, earlierCopy]);
  });
});
