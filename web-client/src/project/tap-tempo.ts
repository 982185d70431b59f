/** Computes a tempo from taps. */

/**
 * A pause of this length starts a new series of taps, in milliseconds: 30 quarter notes a minute.
 */
const PAUSE_MS = 2000;
/** Number of the last taps that count. */
const MAX_TAPS = 9;

export class TapTempo {
  #tapsMs: number[] = [];
  /** Number of series so far. The taps of a series are undone together. */
  series = 0;

  /**
   * Records a tap at a time in milliseconds. Returns the mean tempo of the last taps in quarter
   * notes a minute, rounded to tenths; null for the first tap of a series.
   */
  tap(atMs: number): number | null {
    const lastMs = this.#tapsMs.at(-1);
    if (lastMs === undefined || atMs - lastMs > PAUSE_MS) {
      this.#tapsMs = [];
      this.series += 1;
    }
    this.#tapsMs = [...this.#tapsMs, atMs].slice(-MAX_TAPS);
    const [firstMs = atMs] = this.#tapsMs;
    if (atMs <= firstMs) return null;
    return Math.round((600_000 * (this.#tapsMs.length - 1)) / (atMs - firstMs)) / 10;
  }
}
