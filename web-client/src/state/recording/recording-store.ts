/**
 * Keeps recordings in this browser (IndexedDB) until the service has their samples: a description
 * of each recording, and the pieces of its file that the service has not acknowledged.
 */

/** A recording that has not become a clip. */
export type StoredRecording = {
  id: string;
  /** The window that records; see `open-windows.ts`. */
  windowId: string;
  userId: string;
  projectId: string;
  trackId: string;
  /** Name of the clip and the file. */
  name: string;
  rateHz: number;
  channelCount: number;
  /** Path of the upload in the API; null until the service has made one. */
  uploadPath: string | null;
  /** Frame of the song at which the first sample was played. */
  songFrame: number;
  /** The loop that was played, in frames of the song; null for none. */
  loop: { startFrame: number; endFrame: number } | null;
};

/** A part of the file of a recording, which starts at byte `offset` of the file. */
export type Piece = { recordingId: string; offset: number; bytes: Uint8Array<ArrayBuffer> };

export interface RecordingStore {
  put(recording: StoredRecording): Promise<void>;
  all(): Promise<StoredRecording[]>;
  /** Removes a recording and its pieces. */
  remove(id: string): Promise<void>;
  putPiece(piece: Piece): Promise<void>;
  /** Returns the first piece of a recording; null if it has none. */
  firstPiece(recordingId: string): Promise<Piece | null>;
  /** Returns the last piece of a recording; null if it has none. */
  lastPiece(recordingId: string): Promise<Piece | null>;
  removePiece(recordingId: string, offset: number): Promise<void>;
}

const DATABASE = 'songfoundry-recordings';
const RECORDINGS = 'recordings';
const PIECES = 'pieces';

function settled<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error('the browser refused storage'));
  });
}

const piecesOf = (id: string): IDBKeyRange => IDBKeyRange.bound([id, 0], [id, Number.MAX_SAFE_INTEGER]);

export class IndexedDbRecordings implements RecordingStore {
  #database: Promise<IDBDatabase> | null = null;

  put(recording: StoredRecording): Promise<void> {
    return this.#change((stores) => stores.recordings.put(recording));
  }

  async all(): Promise<StoredRecording[]> {
    const transaction = (await this.#opened()).transaction(RECORDINGS, 'readonly');
    return (await settled(transaction.objectStore(RECORDINGS).getAll())) as StoredRecording[];
  }

  remove(id: string): Promise<void> {
    return this.#change((stores) => {
      stores.recordings.delete(id);
      stores.pieces.delete(piecesOf(id));
    });
  }

  putPiece(piece: Piece): Promise<void> {
    return this.#change((stores) => stores.pieces.put(piece));
  }

  async firstPiece(recordingId: string): Promise<Piece | null> {
    const transaction = (await this.#opened()).transaction(PIECES, 'readonly');
    const [piece] = (await settled(transaction.objectStore(PIECES).getAll(piecesOf(recordingId), 1))) as Piece[];
    return piece ?? null;
  }

  async lastPiece(recordingId: string): Promise<Piece | null> {
    const transaction = (await this.#opened()).transaction(PIECES, 'readonly');
    const cursor = await settled(transaction.objectStore(PIECES).openCursor(piecesOf(recordingId), 'prev'));
    return (cursor?.value as Piece | undefined) ?? null;
  }

  removePiece(recordingId: string, offset: number): Promise<void> {
    return this.#change((stores) => stores.pieces.delete([recordingId, offset]));
  }

  /** Changes the stores. Rejects if the browser has no room, which it says only at the end. */
  async #change(change: (stores: { recordings: IDBObjectStore; pieces: IDBObjectStore }) => void): Promise<void> {
    const transaction = (await this.#opened()).transaction([RECORDINGS, PIECES], 'readwrite');
    change({ recordings: transaction.objectStore(RECORDINGS), pieces: transaction.objectStore(PIECES) });
    await new Promise<void>((resolve, reject) => {
      transaction.oncomplete = () => resolve();
      transaction.onabort = () => reject(transaction.error ?? new Error('the browser refused storage'));
    });
  }

  #opened(): Promise<IDBDatabase> {
    this.#database ??= this.#open();
    return this.#database;
  }

  #open(): Promise<IDBDatabase> {
    const request = indexedDB.open(DATABASE, 1);
    request.onupgradeneeded = () => {
      request.result.createObjectStore(RECORDINGS, { keyPath: 'id' });
      request.result.createObjectStore(PIECES, { keyPath: ['recordingId', 'offset'] });
    };
    const opening = settled(request);
    // A later call tries again after a failure.
    opening.catch(() => (this.#database = null));
    return opening;
  }
}
