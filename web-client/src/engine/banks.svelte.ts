/** Loading SoundFonts from the service into the engine, reduced to the presets of the song. */
import { MAX_BANKS, type EngineClient } from '@songfoundry/web-worklet';
import type { Api } from '../api/client';
import { downloadSoundFont } from '../api/endpoints';
import { AUDITION_TRACK_ID } from '../project/engine-project';
import { planBanks, type PlannedBank, type TrackNeeds } from './bank-plan';

export type BankLoading = { soundfontId: string; fraction: number | null };

/**
 * Memory limit of all banks, in bytes. Below it, unused banks stay in the engine, since an undo may
 * need them.
 */
const KEPT_BYTES = 256 * 1024 * 1024;
/** Number of the engine's bank slots that unused banks leave free. */
const FREE_SLOTS = 16;

type Bank = PlannedBank & { sizeBytes: number; failed: boolean; outdated: boolean };

export class Banks {
  /** The bank that is being loaded, for the status line. */
  loading = $state.raw<BankLoading | null>(null);
  readonly #api: Api;
  readonly #onFailure: (soundfontId: string, error: unknown) => void;
  #engine: EngineClient | null = null;
  /** Banks by id, the oldest first. */
  #banks = new Map<string, Bank>();
  #assigned: ReadonlyMap<string, string> = new Map();
  #queue: { bank: Bank; done: () => void }[] = [];
  #ends = new Map<string, Promise<void>>();
  #working = false;
  #count = 0;

  constructor(api: Api, onFailure: (soundfontId: string, error: unknown) => void) {
    this.#api = api;
    this.#onFailure = onFailure;
  }

  /**
   * Finds a bank for each track, and starts to load new ones. Returns the bank ids by track; the
   * engine has slots for all of them.
   */
  assign(engine: EngineClient, tracks: readonly TrackNeeds[]): ReadonlyMap<string, string> {
    if (engine !== this.#engine) this.#startOver(engine);
    const newId = (soundfontId: string): string => `${soundfontId} ${++this.#count}`;
    const current = [...this.#banks.values()].filter((bank) => !bank.outdated);
    const plan = planBanks(tracks, current, this.#assigned, newId);
    this.#assigned = plan.assigned;
    this.#makeRoom(engine, plan.fresh.length);
    for (const fresh of plan.fresh) {
      engine.addBank(fresh.id);
      const bank: Bank = { ...fresh, sizeBytes: 0, failed: false, outdated: false };
      this.#banks.set(bank.id, bank);
      this.#enqueue(bank);
    }
    void this.#work(engine);
    return plan.assigned;
  }

  /** Tries again to load the banks that failed. */
  retry(): void {
    if (!this.#engine) return;
    for (const bank of this.#banks.values()) {
      if (!bank.failed) continue;
      bank.failed = false;
      this.#enqueue(bank);
    }
    void this.#work(this.#engine);
  }

  /**
   * Marks all banks as outdated, since SoundFonts changed: the next {@link assign} loads new ones.
   */
  forget(): void {
    for (const bank of this.#banks.values()) bank.outdated = true;
  }

  /** Resolves when every assigned bank is loaded, or has failed. */
  async settled(): Promise<void> {
    await Promise.all([...new Set(this.#assigned.values())].map((id) => this.#ends.get(id)));
  }

  /** Resolves when the bank of a track is loaded, or has failed. */
  async ready(trackId: string): Promise<void> {
    await this.#ends.get(this.#assigned.get(trackId) ?? '');
  }

  /**
   * Drops unused banks that failed or are outdated, and others above the limits of memory and
   * slots.
   */
  #makeRoom(engine: EngineClient, wanted: number): void {
    const assignedIds = new Set(this.#assigned.values());
    let bytes = [...this.#banks.values()].reduce((sum, bank) => sum + bank.sizeBytes, 0);
    for (const bank of [...this.#banks.values()]) {
      if (assignedIds.has(bank.id)) continue;
      const crowded = this.#banks.size + wanted > MAX_BANKS - FREE_SLOTS;
      if (!bank.failed && !bank.outdated && !crowded && bytes <= KEPT_BYTES) continue;
      engine.dropBank(bank.id);
      this.#banks.delete(bank.id);
      this.#ends.delete(bank.id);
      this.#queue = this.#queue.filter((entry) => {
        if (entry.bank === bank) entry.done();
        return entry.bank !== bank;
      });
      bytes -= bank.sizeBytes;
    }
  }

  #enqueue(bank: Bank): void {
    const isAudition = this.#assigned.get(AUDITION_TRACK_ID) === bank.id;
    const end = new Promise<void>((done) => {
      // An auditioned sound is loaded before those of the song.
      if (isAudition) this.#queue.unshift({ bank, done });
      else this.#queue.push({ bank, done });
    });
    this.#ends.set(bank.id, end);
  }

  #startOver(engine: EngineClient): void {
    this.#engine = engine;
    for (const { done } of this.#queue) done();
    this.#queue = [];
    this.#banks.clear();
    this.#ends.clear();
    this.#assigned = new Map();
  }

  /** Loads the queued banks, one after the other. */
  async #work(engine: EngineClient): Promise<void> {
    if (this.#working) return;
    this.#working = true;
    for (let next = this.#queue.shift(); next; next = this.#queue.shift()) {
      const { bank, done } = next;
      const target = this.#engine ?? engine;
      try {
        if (!target.ended) await this.#load(target, bank);
      } catch (error) {
        bank.failed = true;
        if (target === this.#engine && !target.ended && this.#banks.has(bank.id)) this.#onFailure(bank.soundfontId, error);
      }
      done();
    }
    this.loading = null;
    this.#working = false;
  }

  async #load(engine: EngineClient, bank: Bank): Promise<void> {
    const { soundfontId } = bank;
    this.loading = { soundfontId, fraction: null };
    const response = await downloadSoundFont(this.#api, soundfontId, [...bank.presets]);
    if (engine.ended) {
      await response.body?.cancel();
      return;
    }
    const encoded = response.headers.get('content-encoding') !== null;
    const announced = encoded ? 0 : Number(response.headers.get('content-length') ?? 0);
    if (response.body && announced > 0) {
      bank.sizeBytes = announced;
      await engine.loadBank(bank.id, announced, this.#withProgress(response.body, soundfontId, announced));
    } else {
      const bytes = new Uint8Array(await response.arrayBuffer());
      bank.sizeBytes = bytes.length;
      await engine.loadBank(bank.id, bytes.length, once(bytes));
    }
  }

  /** The chunks of a download; each one updates the progress. */
  async *#withProgress(body: ReadableStream<Uint8Array>, soundfontId: string, size: number): AsyncGenerator<Uint8Array> {
    const reader = body.getReader();
    let filled = 0;
    try {
      for (;;) {
        const { value, done } = await reader.read();
        if (done) return;
        filled += value.length;
        this.loading = { soundfontId, fraction: filled / size };
        yield value;
      }
    } finally {
      // Cancelling closes the connection if the consumer stopped early.
      void reader.cancel().catch(() => undefined);
    }
  }
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
