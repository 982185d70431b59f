/**
 * Sends the file of a recording to the service while it grows. Pieces are kept in this browser
 * until the service has acknowledged them. While the service does not answer, the sender tries
 * again, so that an outage only delays the file.
 */
import { ApiError, type Api } from '../../api/client';
import { appendToUpload, beginGrowingUpload, deleteUpload, readUpload, uploadOffset } from '../../api/recording-upload';
import type { Piece, RecordingStore, StoredRecording } from './recording-store';

/** Pause before the next attempt, and between two questions whether the file is decoded. */
const RETRY_MS = 1000;
const POLL_MS = 300;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Answers 409 that pass: the service has another offset, or another request holds the upload,
 * or its storage changed meanwhile.
 */
const PASSING_CONFLICTS = ['wrong_offset', 'upload_busy', 'try_again'];

/** Whether a later attempt may succeed: no answer, a busy service, or an ended log-in. */
function isPassing(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false;
  const { status, code } = error;
  if (status === 409) return PASSING_CONFLICTS.includes(code);
  return status === 0 || [401, 408, 429].includes(status) || (status >= 500 && status !== 507);
}

export class RecordingSender {
  readonly #api: Api;
  readonly #store: RecordingStore;
  #recording: StoredRecording;
  /** Pieces that the browser refused to store, by offset. */
  readonly #unstored = new Map<number, Piece>();
  /** Number of bytes of the file so far. */
  #fileBytes = 0;
  #serverBytes = 0;
  #isComplete = false;
  #wake: (() => void) | null = null;
  /** Ends when all pieces of a complete file were sent. Rejects if the service refuses the file. */
  readonly #sending: Promise<void>;
  #storing: Promise<void> = Promise.resolve();
  /** Called once when the browser has no room, and once for each outage of the service. */
  onTrouble: (problem: 'unstored' | 'unreachable') => void = () => undefined;

  constructor(api: Api, store: RecordingStore, recording: StoredRecording) {
    this.#api = api;
    this.#store = store;
    this.#recording = recording;
    this.#storing = store.put(recording).catch(() => this.onTrouble('unstored'));
    this.#sending = this.#send();
    // `finish` reports the error.
    this.#sending.catch(() => undefined);
  }

  /** Number of bytes of the file so far. */
  get fileBytes(): number {
    return this.#fileBytes;
  }

  /** Adds bytes to the file. */
  add(bytes: Uint8Array<ArrayBuffer>): void {
    const piece = { recordingId: this.#recording.id, offset: this.#fileBytes, bytes };
    this.#fileBytes += bytes.length;
    this.#storing = this.#storing
      .then(() => this.#store.putPiece(piece))
      .catch(() => {
        if (this.#unstored.size === 0) this.onTrouble('unstored');
        this.#unstored.set(piece.offset, piece);
      })
      .then(() => this.#wake?.());
  }

  /**
   * Ends the file and resolves to the id of the audio file that the service has made of it. The
   * recording stays in this browser until {@link RecordingStore.remove}.
   */
  async finish(): Promise<string> {
    await this.#storing;
    this.#isComplete = true;
    this.#wake?.();
    await this.#sending;
    return this.#waitForFile();
  }

  /** Sends what is left of a recording whose window has closed; then like {@link finish}. */
  async recover(): Promise<string> {
    const path = this.#recording.uploadPath;
    if (path !== null) {
      const upload = await readUpload(this.#api, path);
      if (upload.state !== 'receiving') {
        this.#isComplete = true;
        this.#fileBytes = Infinity;
        this.#wake?.();
        await this.#sending;
        return this.#waitForFile();
      }
      this.#serverBytes = await uploadOffset(this.#api, path);
    }
    this.#fileBytes = await this.#storedBytes();
    return this.finish();
  }

  /** Deletes what the service has of the file. */
  async discard(): Promise<void> {
    const path = this.#recording.uploadPath;
    if (path !== null) await deleteUpload(this.#api, path).catch(() => undefined);
  }

  /** Returns the length of the file, from what the service and this browser have. */
  async #storedBytes(): Promise<number> {
    const last = await this.#store.lastPiece(this.#recording.id);
    return Math.max(this.#serverBytes, last ? last.offset + last.bytes.length : 0);
  }

  async #firstPiece(): Promise<Piece | null> {
    const stored = await this.#store.firstPiece(this.#recording.id).catch(() => null);
    const unstored = this.#unstored.get(Math.min(...this.#unstored.keys())) ?? null;
    return stored && unstored ? (stored.offset < unstored.offset ? stored : unstored) : (stored ?? unstored);
  }

  async #send(): Promise<void> {
    // The first piece comes later than the end of the constructor.
    await Promise.resolve();
    let isTroubled = false;
    for (;;) {
      try {
        if (this.#isComplete && this.#fileBytes === Infinity) return;
        const piece = await this.#firstPiece();
        if (piece) await this.#sendPiece(piece);
        else if (this.#isComplete) return await this.#announceLength();
        else await new Promise<void>((resolve) => (this.#wake = resolve));
        isTroubled = false;
      } catch (error) {
        if (!isPassing(error)) throw error;
        if (!isTroubled) this.onTrouble('unreachable');
        isTroubled = true;
        await pause(RETRY_MS);
        await this.#readOffset();
      }
    }
  }

  async #sendPiece({ offset, bytes }: Piece): Promise<void> {
    const path = await this.#path();
    // A recovered recording continues an upload that already has bytes.
    if (offset > this.#serverBytes) this.#serverBytes = await uploadOffset(this.#api, path);
    if (offset > this.#serverBytes) throw new Error(`the service lacks the bytes ${this.#serverBytes} to ${offset} of the recording`);
    const unsent = bytes.subarray(this.#serverBytes - offset);
    if (unsent.length > 0) await appendToUpload(this.#api, path, this.#serverBytes, unsent);
    this.#serverBytes = Math.max(this.#serverBytes, offset + bytes.length);
    if (!this.#unstored.delete(offset)) await this.#store.removePiece(this.#recording.id, offset);
  }

  async #announceLength(): Promise<void> {
    const path = await this.#path();
    if ((await readUpload(this.#api, path)).state !== 'receiving') return;
    await appendToUpload(this.#api, path, this.#serverBytes, new Uint8Array(0), this.#serverBytes);
  }

  async #path(): Promise<string> {
    if (this.#recording.uploadPath === null) {
      const uploadPath = await beginGrowingUpload(this.#api, `${this.#recording.name}.wav`);
      this.#recording = { ...this.#recording, uploadPath };
      await this.#store.put(this.#recording).catch(() => undefined);
      return uploadPath;
    }
    return this.#recording.uploadPath;
  }

  /** Asks how many bytes the service has, because the answer to a request may have been lost. */
  async #readOffset(): Promise<void> {
    const { uploadPath } = this.#recording;
    if (uploadPath === null) return;
    this.#serverBytes = await uploadOffset(this.#api, uploadPath).catch(() => this.#serverBytes);
  }

  async #waitForFile(): Promise<string> {
    const path = await this.#path();
    for (;;) {
      const upload = await readUpload(this.#api, path).catch((error: unknown) => {
        if (!isPassing(error)) throw error;
        return null;
      });
      if (upload?.state === 'done' && upload.audio_id) return upload.audio_id;
      if (upload?.state === 'refused') throw new Error('the service cannot read the file of the recording');
      await pause(POLL_MS);
    }
  }
}
