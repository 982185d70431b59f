/**
 * Copies of unsaved work in this browser (IndexedDB), one for each window. A copy exists while the
 * service lacks the newest edits of the window, and outlives a crash of the window.
 */
import type { Project } from '../../project/model';
import { changesOf, copiesOf, trackKeyPrefix, tracksById, type CopyRecord, type KeptTracks } from './copy-records';

/** Unsaved work of a window. */
export type LocalCopy = {
  windowId: string;
  /** The account that made the edits. */
  userId: string;
  project: Project;
  /** The revision on which the work is based; null if the song was never saved. */
  baseRevision: number | null;
  /** Number of the edit in the window, which orders this copy and the window's autosaves. */
  editNumber: number;
  /** Time of writing, in milliseconds since 1970. */
  atMs: number;
};

/** Where copies are kept. */
export interface CopyStore {
  put(copy: LocalCopy): Promise<void>;
  remove(windowId: string): Promise<void>;
  all(): Promise<LocalCopy[]>;
}

const DATABASE = 'songfoundry';
const COPIES = 'unsaved-work';

function settled<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error('the browser refused storage'));
  });
}

/** Waits until a transaction is stored. A browser without room refuses it only at its end. */
function completed(transaction: IDBTransaction): Promise<void> {
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error ?? new Error('the browser refused storage'));
  });
}

function removeTracks(records: IDBObjectStore, windowId: string): void {
  const prefix = trackKeyPrefix(windowId);
  records.delete(IDBKeyRange.bound(prefix, `${prefix}\uffff`));
}

/** Keeps copies in IndexedDB. Every method rejects if the browser refuses storage. */
export class IndexedDbCopies implements CopyStore {
  #database: Promise<IDBDatabase> | null = null;
  /** The tracks of the window whose copy this page wrote last; null if they are not known. */
  #kept: { windowId: string; tracks: KeptTracks } | null = null;
  /** The last change. The next one must know whether it was stored. */
  #changing: Promise<unknown> = Promise.resolve();

  put(copy: LocalCopy): Promise<void> {
    return this.#change(copy.windowId, async (records) => {
      // Another window may have removed the copy, or the user the storage of the browser.
      const hasCopy = (await settled(records.getKey(copy.windowId))) !== undefined;
      const keptTracks = hasCopy && this.#kept?.windowId === copy.windowId ? this.#kept.tracks : null;
      if (!keptTracks) removeTracks(records, copy.windowId);
      const { put, remove } = changesOf(copy, keptTracks ?? new Map<string, never>());
      for (const record of put) records.put(record);
      for (const key of remove) records.delete(key);
      return tracksById(copy.project);
    });
  }

  remove(windowId: string): Promise<void> {
    return this.#change(windowId, (records) => {
      records.delete(windowId);
      removeTracks(records, windowId);
      return null;
    });
  }

  async all(): Promise<LocalCopy[]> {
    return copiesOf((await settled((await this.#copies('readonly')).getAll())) as CopyRecord[]);
  }

  /**
   * Changes the records of a window: all of them, or none if a step fails. `change` waits only for
   * requests to `records`, and returns the tracks that are then kept.
   */
  #change(windowId: string, change: (records: IDBObjectStore) => Promise<KeptTracks> | null): Promise<void> {
    const changePromise = this.#changing.then(async () => {
      const records = await this.#copies('readwrite');
      const { transaction } = records;
      const storing = completed(transaction);
      const tracks = await Promise.resolve(change(records)).catch((error: unknown) => {
        storing.catch(() => undefined);
        // The request that failed may have ended the transaction.
        if (transaction.error === null) transaction.abort();
        throw error;
      });
      if (this.#kept?.windowId === windowId) this.#kept = null;
      await storing;
      if (tracks) this.#kept = { windowId, tracks };
    });
    this.#changing = changePromise.catch(() => undefined);
    return changePromise;
  }

  async #copies(mode: IDBTransactionMode): Promise<IDBObjectStore> {
    this.#database ??= this.#open();
    return (await this.#database).transaction(COPIES, mode, { durability: 'relaxed' }).objectStore(COPIES);
  }

  #open(): Promise<IDBDatabase> {
    const request = indexedDB.open(DATABASE, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(COPIES, { keyPath: 'windowId' });
    const opening = settled(request).then((database) => {
      // The browser closes the database when the user removes the storage of the page.
      database.onclose = () => (this.#database = null);
      return database;
    });
    // A later call tries again after a failure.
    opening.catch(() => (this.#database = null));
    return opening;
  }
}
