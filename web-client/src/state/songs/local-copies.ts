/**
 * Copies of unsaved work in this browser (IndexedDB), one for each window. A copy exists while the
 * service lacks the newest edits of the window, and outlives a crash of the window.
 */
import type { Project } from '../../project/model';

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

/** Keeps copies in IndexedDB. Every method rejects if the browser refuses storage. */
export class IndexedDbCopies implements CopyStore {
  #database: Promise<IDBDatabase> | null = null;

  async put(copy: LocalCopy): Promise<void> {
    const copies = await this.#copies('readwrite');
    copies.put(copy);
    await completed(copies.transaction);
  }

  async remove(windowId: string): Promise<void> {
    const copies = await this.#copies('readwrite');
    copies.delete(windowId);
    await completed(copies.transaction);
  }

  async all(): Promise<LocalCopy[]> {
    return (await settled((await this.#copies('readonly')).getAll())) as LocalCopy[];
  }

  async #copies(mode: IDBTransactionMode): Promise<IDBObjectStore> {
    this.#database ??= this.#open();
    return (await this.#database).transaction(COPIES, mode, { durability: 'relaxed' }).objectStore(COPIES);
  }

  #open(): Promise<IDBDatabase> {
    const request = indexedDB.open(DATABASE, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(COPIES, { keyPath: 'windowId' });
    const opening = settled(request);
    // A later call tries again after a failure.
    opening.catch(() => (this.#database = null));
    return opening;
  }
}
