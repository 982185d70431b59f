/** Peak meters. Levels fall by 20 dB a second; peaks are held for two seconds before they fall. */

/** Lowest level that a meter shows, in decibels. */
export const METER_FLOOR_DB = -60;
const FALL_DB_PER_SEC = 20;
const HOLD_MS = 2000;

/** The state of a meter at the time `atMs`. The peak is held until `peakUntilMs`. */
export type Meter = { levelDb: number; peakDb: number; peakUntilMs: number; atMs: number };

export function silentMeter(): Meter {
  return { levelDb: METER_FLOOR_DB, peakDb: METER_FLOOR_DB, peakUntilMs: 0, atMs: 0 };
}

/** Converts a linear amplitude to decibels, limited to the lowest level of a meter. */
function amplitudeToDb(amplitude: number): number {
  return amplitude <= 0 ? METER_FLOOR_DB : Math.max(METER_FLOOR_DB, 20 * Math.log10(amplitude));
}

/** Returns the state of a meter at `nowMs`, when the linear peak is `amplitude`. */
export function meterAt(meter: Meter, amplitude: number, nowMs: number): Meter {
  const inputDb = amplitudeToDb(amplitude);
  const fallenDb = meter.levelDb - (FALL_DB_PER_SEC * Math.max(0, nowMs - meter.atMs)) / 1000;
  const levelDb = Math.max(METER_FLOOR_DB, inputDb, fallenDb);
  if (inputDb >= meter.peakDb) return { levelDb, peakDb: inputDb, peakUntilMs: nowMs + HOLD_MS, atMs: nowMs };
  if (nowMs < meter.peakUntilMs) return { ...meter, levelDb, atMs: nowMs };
  const peakFallDb = (FALL_DB_PER_SEC * (nowMs - Math.max(meter.peakUntilMs, meter.atMs))) / 1000;
  return { ...meter, levelDb, peakDb: Math.max(levelDb, meter.peakDb - peakFallDb), atMs: nowMs };
}

/** Whether a meter shows no level and no peak, so that it does not move. */
export function isSilentMeter({ levelDb, peakDb }: Meter): boolean {
  return levelDb <= METER_FLOOR_DB && peakDb <= METER_FLOOR_DB;
}

const SILENT_PAIR: readonly [Meter, Meter] = [silentMeter(), silentMeter()];

/** The meters, left and right, of all tracks and of the master. */
export class MeterBank {
  /** The meters that are not silent. */
  #meters = new Map<string, readonly [Meter, Meter]>();

  /** Whether a meter shows a level or a peak. */
  get isMoving(): boolean {
    return this.#meters.size > 0;
  }

  /** Receives peaks from the engine: left and right of each channel, in the order of `ids`. */
  update(ids: readonly string[], peaks: Float32Array, nowMs: number): void {
    ids.forEach((id, index) => {
      const leftPeak = peaks[index * 2] ?? 0;
      const rightPeak = peaks[index * 2 + 1] ?? 0;
      const knownMeter = this.#meters.get(id);
      if (!knownMeter && leftPeak === 0 && rightPeak === 0) return;
      const [left, right] = knownMeter ?? SILENT_PAIR;
      const pair = [meterAt(left, leftPeak, nowMs), meterAt(right, rightPeak, nowMs)] as const;
      if (pair.every(isSilentMeter)) this.#meters.delete(id);
      else this.#meters.set(id, pair);
    });
  }

  metersOf(id: string): readonly [Meter, Meter] {
    return this.#meters.get(id) ?? SILENT_PAIR;
  }

  clear(): void {
    this.#meters.clear();
  }
}
