/** Tests of unsaved work in the browser: after many edits, failures, and beside other windows. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import type { Project } from '../src/project/model';
import { normalizeProject } from '../src/project/normalize';
import { IndexedDbCopies, type LocalCopy } from '../src/state/songs/local-copies';

type Range = { lower: string; upper: string };
type Request = { result: unknown; error: Error | null; onsuccess?: () => void; onerror?: () => void; onupgradeneeded?: () => void };

/** Storage of a browser with one store: transactions run one after the other, as a whole or not. */
class Storage {
  records = new Map<string, unknown>();
  /** Keys whose writing the browser refuses when the transaction ends. */
  refuses = (_key: string): boolean => false;
  #last: Promise<void> = Promise.resolve();

  open(): Request {
    const request: Request = { result: { createObjectStore: () => undefined, transaction: () => this.#transaction() }, error: null };
    void Promise.resolve().then(() => request.onsuccess?.());
    return request;
  }

  #transaction(): unknown {
    const steps: (() => void)[] = [];
    let changed = new Map<string, unknown>();
    let error: Error | null = null;
    let isAborted = false;
    const transaction: { oncomplete?: () => void; onabort?: () => void; readonly error: Error | null; abort: () => void; objectStore: () => unknown } = {
      get error() {
        return error;
      },
      abort: () => (isAborted = true),
      objectStore: () => ({ transaction, put, delete: remove, getKey, getAll }),
    };
    const request = (run: () => unknown): Request => {
      const addedRequest: Request = { result: undefined, error: null };
      steps.push(() => {
        addedRequest.result = run();
        addedRequest.onsuccess?.();
      });
      return addedRequest;
    };
    const put = (record: { windowId: string }): Request => {
      const copy = structuredClone(record);
      return request(() => {
        if (this.refuses(copy.windowId)) error = new Error('no room');
        changed.set(copy.windowId, copy);
      });
    };
    const remove = (key: string | Range): Request =>
      request(() => {
        const isIn = (id: string): boolean => (typeof key === 'string' ? id === key : id >= key.lower && id <= key.upper);
        for (const id of [...changed.keys()].filter(isIn)) changed.delete(id);
      });
    const getKey = (key: string): Request => request(() => (changed.has(key) ? key : undefined));
    const getAll = (): Request => request(() => structuredClone([...changed.values()]));
    this.#last = this.#last.then(async () => {
      await new Promise((resolve) => setTimeout(resolve));
      changed = new Map(this.records);
      for (let step = steps.shift(); step && !isAborted; step = steps.shift()) {
        step();
        // Promises that a request settles go on before the next request.
        await new Promise((resolve) => setTimeout(resolve));
      }
      if (isAborted || error) return transaction.onabort?.();
      this.records = changed;
      transaction.oncomplete?.();
    });
    return transaction;
  }
}

const songOf = (...ids: string[]): Project => normalizeProject({ project_id: 'p', tracks: ids.map((id) => ({ id, name: id, kind: 'instrument', items: [] })) });
const copyOf = (project: Project, editNumber = 1, windowId = 'w'): LocalCopy => ({ windowId, userId: 'u', project, baseRevision: 3, editNumber, atMs: 5 });
const renamed = (project: Project, id: string, name: string): Project => ({
  ...project,
  tracks: project.tracks.map((track) => (track.id === id ? { ...track, name } : track)),
});

describe('the unsaved work in the browser', () => {
  let storage: Storage;
  beforeEach(() => {
    storage = new Storage();
    vi.stubGlobal('indexedDB', { open: () => storage.open() });
    vi.stubGlobal('IDBKeyRange', { bound: (lower: string, upper: string) => ({ lower, upper }) });
  });
  afterEach(() => vi.unstubAllGlobals());

  it('is whole after many edits, which come faster than they are stored', async () => {
    const copies = new IndexedDbCopies();
    let project = songOf('a', 'b', 'c', 'd');
    const writes: Promise<void>[] = [];
    for (let edit = 1; edit <= 60; edit += 1) {
      const id = project.tracks[(edit * 7) % project.tracks.length]?.id ?? '';
      if (edit % 5 === 0) project = { ...project, tracks: project.tracks.filter((track) => track.id !== id) };
      else if (edit % 5 === 1) project = { ...project, tracks: [...songOf(`n${edit % 3}-${edit}`).tracks, ...project.tracks] };
      else if (edit % 5 === 2) project = { ...project, tracks: [...project.tracks].reverse() };
      else project = renamed(project, id, `edit ${edit}`);
      writes.push(copies.put(copyOf(project, edit)));
      if (edit % 4 === 0) await writes.at(-1);
      if (edit % 20 === 0) expect(await new IndexedDbCopies().all()).toEqual([copyOf(project, edit)]);
    }
    await Promise.all(writes);
    expect(await new IndexedDbCopies().all()).toEqual([copyOf(project, 60)]);
    expect(storage.records.size).toBe(project.tracks.length + 1);
  });

  it('is whole after another window has removed the copy of this window', async () => {
    const copies = new IndexedDbCopies();
    const song = songOf('a', 'b');
    await copies.put(copyOf(song));
    await new IndexedDbCopies().remove('w');
    expect(storage.records.size).toBe(0);
    const editedSong = renamed(song, 'a', 'A');
    await copies.put(copyOf(editedSong, 2));
    expect(await new IndexedDbCopies().all()).toEqual([copyOf(editedSong, 2)]);
  });

  it('is that before an edit which the browser cannot store, and then that after the next one', async () => {
    const copies = new IndexedDbCopies();
    const song = songOf('a', 'b', 'c');
    await copies.put(copyOf(song));
    const editedSong = renamed(renamed(song, 'a', 'A'), 'b', 'B');
    storage.refuses = (key) => key === 'w/b';
    await expect(copies.put(copyOf(editedSong, 2))).rejects.toThrow('no room');
    expect(await copies.all()).toEqual([copyOf(song)]);
    // The failure comes while the records are passed to the browser, after some of them.
    const brokenSong = { ...editedSong, tracks: editedSong.tracks.map((track) => (track.id === 'c' ? { ...track, broken: () => undefined } : track)) };
    storage.refuses = () => false;
    await expect(copies.put(copyOf(brokenSong as Project, 3))).rejects.toThrow();
    expect(await copies.all()).toEqual([copyOf(song)]);
    await copies.put(copyOf(editedSong, 4));
    expect(await copies.all()).toEqual([copyOf(editedSong, 4)]);
  });

  it('of one window is not changed by the other', async () => {
    const [first, second] = [new IndexedDbCopies(), new IndexedDbCopies()];
    const song = songOf('a', 'b');
    await Promise.all([first.put(copyOf(song)), second.put(copyOf(song, 1, 'w2'))]);
    const editedSong = renamed(song, 'b', 'B');
    await second.put(copyOf(editedSong, 2, 'w2'));
    await first.put(copyOf({ ...song, tracks: song.tracks.slice(1) }, 2));
    expect(await first.all()).toEqual([copyOf({ ...song, tracks: song.tracks.slice(1) }, 2), copyOf(editedSong, 2, 'w2')]);
    await second.remove('w2');
    expect(await first.all()).toHaveLength(1);
  });
});
