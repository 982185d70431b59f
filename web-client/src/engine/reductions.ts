/** How much effects turn their input down, as the engine reports it for those that are shown. */
import type { SongEngine } from '@songfoundry/web-worklet';
import { MASTER_ID } from '../project/model';

export class Reductions {
  #owner: string | null = null;
  #effectIds: readonly string[] = [];
  readonly #db = new Map<string, number>();

  /** Asks for the effects of a track, or of the master, in place of others. */
  watch(engine: SongEngine | null, owner: string | null, effectIds: readonly string[]): void {
    this.#owner = owner;
    this.#effectIds = effectIds;
    this.#db.clear();
    this.ask(engine);
  }

  /** Asks for the same again, of another engine. */
  ask(engine: SongEngine | null): void {
    const ids = this.#effectIds;
    const trackId = this.#owner === MASTER_ID ? null : this.#owner;
    engine?.watchReductions(
      ids.map((effectId) => ({ trackId, effectId })),
      (reported) => ids.forEach((id, index) => this.#db.set(id, reported[index] ?? NaN)),
    );
  }

  /** Decibels, 0 or more; null where the engine reports no such thing. */
  of(effectId: string): number | null {
    const db = this.#db.get(effectId);
    return db === undefined || Number.isNaN(db) ? null : db;
  }
}
