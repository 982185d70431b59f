/** Receives the gain reduction of dynamics effects from the engine, for the effects on the page. */
import type { EngineClient } from '@songfoundry/web-worklet';
import { wakeFrames } from '../canvas/frames';
import { MASTER_ID } from '../project/model';

export class GainReductions {
  #channelId: string | null = null;
  #effectIds: readonly string[] = [];
  readonly #db = new Map<string, number>();

  /** Starts to receive the gain reduction of effects of a track or the master, and of no others. */
  watch(engine: EngineClient | null, channelId: string | null, effectIds: readonly string[]): void {
    this.#channelId = channelId;
    this.#effectIds = effectIds;
    this.#db.clear();
    this.subscribe(engine);
  }

  /** Asks an engine to report the watched effects. Every new engine must be asked again. */
  subscribe(engine: EngineClient | null): void {
    const ids = this.#effectIds;
    const trackId = this.#channelId === MASTER_ID ? null : this.#channelId;
    engine?.watchReductions(
      ids.map((effectId) => ({ trackId, effectId })),
      (reported) => {
        const hasChanged = ids.some((id, index) => !Object.is(this.#db.get(id), reported[index]));
        if (!hasChanged) return;
        ids.forEach((id, index) => this.#db.set(id, reported[index] ?? NaN));
        wakeFrames();
      },
    );
  }

  /** Returns the gain reduction in decibels, 0 or more; null if the engine reports none. */
  reductionDbOf(effectId: string): number | null {
    const db = this.#db.get(effectId);
    return db === undefined || Number.isNaN(db) ? null : db;
  }
}
