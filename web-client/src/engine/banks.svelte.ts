/** Loads SoundFonts, reduced to the presets of the song, from the service into the engine. */
import { MAX_BANKS, type EngineClient } from '@songfoundry/web-worklet';
import type { Api } from '../api/client';
import { downloadSoundFont } from '../api/endpoints';
import { AUDITION_TRACK_ID } from '../project/engine-project';
import { planBanks, type PlannedBank, type TrackNeeds } from './bank-plan';

/** A bank that is being loaded. `fraction` of its bytes, 0..1, has arrived; null if unknown. */
export type BankDownload = { soundfontId: string; fraction: number | null };

/**
 * Total size of all banks, in bytes, up to which unused banks stay in the engine. They stay because
 * an undo may need them.
 */
const UNUSED_BANKS_MAX_BYTES = 256 * 1024 * 1024;
/** Number of the engine's bank slots that unused banks must leave free. */
const FREE_SLOTS = 16;

type Bank = PlannedBank & { sizeBytes: number; hasFailed: boolean; isOutdated: boolean };

export class Banks {
  /** The bank that is being loaded, for the status line; null if none is. */
  download = $state.raw<BankDownload | null>(null);
  readonly #api: Api;
  readonly #onFailure: (soundfontId: string, error: unknown) => void;
  #engine: EngineClient | null = null;
  /** Banks by id, the oldest first. */
  #banks = new Map<string, Bank>();
  /** Id of each track's bank, by the id of the track. */
  #bankIds: ReadonlyMap<string, string> = new Map();
  /** Banks to load. `done` resolves the promise that {@link #loadEnds} has for the bank. */
  #queue: { bank: Bank; onLoaded: () => void }[] = [];
  /** By bank id, promises that resolve when the bank is loaded or has failed. */
  #loadEnds = new Map<string, Promise<void>>();
  #isLoading = false;
  /** Number of banks made so far, for the ids of new ones. */
  #bankCount = 0;

  constructor(api: Api, onFailure: (soundfontId: string, error: unknown) => void) {
    this.#api = api;
    this.#onFailure = onFailure;
  }

  /**
   * Finds a bank for each track and starts to load new banks. Returns the ids of the banks by track
   * id. The engine has a slot for each of these banks, even before the bank is loaded.
   */
  assign(engine: EngineClient, tracks: readonly TrackNeeds[]): ReadonlyMap<string, string> {
    if (engine !== this.#engine) this.#startOver(engine);
    const newId = (soundfontId: string): string => `${soundfontId} ${++this.#bankCount}`;
    const currentBanks = [...this.#banks.values()].filter((bank) => !bank.isOutdated);
    const plan = planBanks(tracks, currentBanks, this.#bankIds, newId);
    this.#bankIds = plan.bankIds;
    this.#dropUnused(engine, plan.newBanks.length);
    for (const newBank of plan.newBanks) {
      engine.addBank(newBank.id);
      const bank: Bank = { ...newBank, sizeBytes: 0, hasFailed: false, isOutdated: false };
      this.#banks.set(bank.id, bank);
      this.#enqueue(bank);
    }
    void this.#loadQueue(engine);
    return plan.bankIds;
  }

  /** Repeats the loading of banks that failed to load. */
  retryFailed(): void {
    if (!this.#engine) return;
    for (const bank of this.#banks.values()) {
      if (!bank.hasFailed) continue;
      bank.hasFailed = false;
      this.#enqueue(bank);
    }
    void this.#loadQueue(this.#engine);
  }

  /** Marks all banks as outdated, so the next {@link assign} loads new banks for all tracks. */
  forget(): void {
    for (const bank of this.#banks.values()) bank.isOutdated = true;
  }

  /** Resolves when the bank of every track is loaded or has failed to load. */
  async settled(): Promise<void> {
    await Promise.all([...new Set(this.#bankIds.values())].map((id) => this.#loadEnds.get(id)));
  }

  /** Resolves when the bank of a track is loaded or has failed to load. */
  async waitUntilReady(trackId: string): Promise<void> {
    await this.#loadEnds.get(this.#bankIds.get(trackId) ?? '');
  }

  /**
   * Drops banks that no track uses if they failed or are outdated. Drops other unused banks as long
   * as all banks together need too much memory or, with the new banks, too many slots.
   */
  #dropUnused(engine: EngineClient, newBankCount: number): void {
    const assignedIds = new Set(this.#bankIds.values());
    let bytes = [...this.#banks.values()].reduce((sum, bank) => sum + bank.sizeBytes, 0);
    for (const bank of [...this.#banks.values()]) {
      if (assignedIds.has(bank.id)) continue;
      const needsSlots = this.#banks.size + newBankCount > MAX_BANKS - FREE_SLOTS;
      if (!bank.hasFailed && !bank.isOutdated && !needsSlots && bytes <= UNUSED_BANKS_MAX_BYTES) continue;
      engine.dropBank(bank.id);
      this.#banks.delete(bank.id);
      this.#loadEnds.delete(bank.id);
      this.#queue = this.#queue.filter((entry) => {
        if (entry.bank === bank) entry.onLoaded();
        return entry.bank !== bank;
      });
      bytes -= bank.sizeBytes;
    }
  }

  #enqueue(bank: Bank): void {
    const isAudition = this.#bankIds.get(AUDITION_TRACK_ID) === bank.id;
    const loadEnd = new Promise<void>((onLoaded) => {
      // An auditioned sound is loaded before the sounds of the song.
      if (isAudition) this.#queue.unshift({ bank, onLoaded });
      else this.#queue.push({ bank, onLoaded });
    });
    this.#loadEnds.set(bank.id, loadEnd);
  }

  /** Forgets the banks of the previous engine; `engine` has none yet. */
  #startOver(engine: EngineClient): void {
    this.#engine = engine;
    for (const { onLoaded } of this.#queue) onLoaded();
    this.#queue = [];
    this.#banks.clear();
    this.#loadEnds.clear();
    this.#bankIds = new Map();
  }

  /** Loads the banks of the queue, one after the other. */
  async #loadQueue(engine: EngineClient): Promise<void> {
    if (this.#isLoading) return;
    this.#isLoading = true;
    for (let entry = this.#queue.shift(); entry; entry = this.#queue.shift()) {
      const { bank, onLoaded } = entry;
      const target = this.#engine ?? engine;
      try {
        if (!target.hasEnded) await this.#load(target, bank);
      } catch (error) {
        bank.hasFailed = true;
        if (target === this.#engine && !target.hasEnded && this.#banks.has(bank.id)) this.#onFailure(bank.soundfontId, error);
      }
      onLoaded();
    }
    this.download = null;
    this.#isLoading = false;
  }

  async #load(engine: EngineClient, bank: Bank): Promise<void> {
    const { soundfontId } = bank;
    this.download = { soundfontId, fraction: null };
    const response = await downloadSoundFont(this.#api, soundfontId, [...bank.presets]);
    if (engine.hasEnded) {
      await response.body?.cancel();
      return;
    }
    // The length of a compressed answer is not that of its content.
    const isCompressed = response.headers.get('content-encoding') !== null;
    const contentBytes = isCompressed ? 0 : Number(response.headers.get('content-length') ?? 0);
    if (response.body && contentBytes > 0) {
      bank.sizeBytes = contentBytes;
      await engine.loadBank(bank.id, contentBytes, this.#withProgress(response.body, soundfontId, contentBytes));
    } else {
      const bytes = new Uint8Array(await response.arrayBuffer());
      bank.sizeBytes = bytes.length;
      await engine.loadBank(bank.id, bytes.length, singleChunk(bytes));
    }
  }

  /** Yields the chunks of a download of `totalBytes`, and updates the progress with each chunk. */
  async *#withProgress(body: ReadableStream<Uint8Array>, soundfontId: string, totalBytes: number): AsyncGenerator<Uint8Array> {
    const reader = body.getReader();
    let receivedBytes = 0;
    try {
      for (;;) {
        const { value, done } = await reader.read();
        if (done) return;
        receivedBytes += value.length;
        this.download = { soundfontId, fraction: receivedBytes / totalBytes };
        yield value;
      }
    } finally {
      // If the consumer stops before the end of the download, this closes the connection.
      void reader.cancel().catch(() => undefined);
    }
  }
}

async function* singleChunk(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
