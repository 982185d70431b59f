/** Measures the load of the audio thread, and its drop-outs. */

/** Length of the window over which the load is averaged, in milliseconds of audio. */
const WINDOW_MS = 1000;
/** Delay beyond the earliest lag from which a call counts as a drop-out, in milliseconds. */
const LATE_MS = 60;
/** A pause longer than this is a suspended context, not a drop-out, in milliseconds. */
const PAUSE_MS = 2000;

/**
 * Measures with a clock of whole milliseconds, the only one on the audio thread. The rounding
 * averages out over a second.
 */
export class LoadGauge {
  /** Rendering time as a fraction of the audio's duration, over the last second. */
  load = 0;
  /** Drop-outs so far: calls so late that the output must have run empty. */
  underruns = 0;
  readonly #framesPerMs: number;
  readonly #nowMs: () => number;
  #startedMs = 0;
  #busyMs = 0;
  #windowMs = 0;
  #audioMs = 0;
  #earliestLagMs = Number.NaN;

  constructor(sampleRateHz: number, nowMs: () => number) {
    this.#framesPerMs = sampleRateHz / 1000;
    this.#nowMs = nowMs;
  }

  /** A call for some frames begins. */
  begin(frames: number): void {
    this.#startedMs = this.#nowMs();
    const lagMs = this.#startedMs - this.#audioMs;
    if (lagMs - this.#earliestLagMs > LATE_MS) {
      if (lagMs - this.#earliestLagMs < PAUSE_MS) this.underruns += 1;
      this.#earliestLagMs = lagMs;
    } else if (!(lagMs >= this.#earliestLagMs)) {
      this.#earliestLagMs = lagMs;
    }
    const callMs = frames / this.#framesPerMs;
    this.#audioMs += callMs;
    this.#windowMs += callMs;
  }

  /** The call ends. */
  end(): void {
    this.#busyMs += this.#nowMs() - this.#startedMs;
    if (this.#windowMs < WINDOW_MS) return;
    this.load = this.#busyMs / this.#windowMs;
    this.#busyMs = 0;
    this.#windowMs = 0;
  }
}
