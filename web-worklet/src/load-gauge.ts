/** Measures the load of the audio thread, and its drop-outs. */

/** Length of the window over which the load is averaged, in milliseconds of audio. */
const WINDOW_MS = 1000;
/**
 * A call that lags behind the least late call by more than this counts as a drop-out, in
 * milliseconds.
 */
const LATE_MS = 60;
/** A lag of at least this much means a suspended context and not a drop-out, in milliseconds. */
const PAUSE_MS = 2000;

/**
 * Measures the load with a clock of whole milliseconds, because the audio thread has no finer
 * clock. Over a second, the rounding errors average out.
 */
export class LoadGauge {
  /** Rendering time as a fraction of the audio's duration, over the last second. */
  load = 0;
  /** Number of drop-outs so far: calls so late that the output buffer must have run empty. */
  underruns = 0;
  readonly #framesPerMs: number;
  readonly #nowMs: () => number;
  #startedMs = 0;
  #busyMs = 0;
  #windowMs = 0;
  #audioMs = 0;
  #leastLagMs = Number.NaN;

  constructor(sampleRateHz: number, nowMs: () => number) {
    this.#framesPerMs = sampleRateHz / 1000;
    this.#nowMs = nowMs;
  }

  /** Records the start of a render call for this number of frames. */
  begin(frames: number): void {
    this.#startedMs = this.#nowMs();
    const lagMs = this.#startedMs - this.#audioMs;
    if (lagMs - this.#leastLagMs > LATE_MS) {
      if (lagMs - this.#leastLagMs < PAUSE_MS) this.underruns += 1;
      this.#leastLagMs = lagMs;
    } else if (!(lagMs >= this.#leastLagMs)) {
      this.#leastLagMs = lagMs;
    }
    const callMs = frames / this.#framesPerMs;
    this.#audioMs += callMs;
    this.#windowMs += callMs;
  }

  /** Records the end of the render call. */
  end(): void {
    this.#busyMs += this.#nowMs() - this.#startedMs;
    if (this.#windowMs < WINDOW_MS) return;
    this.load = this.#busyMs / this.#windowMs;
    this.#busyMs = 0;
    this.#windowMs = 0;
  }
}
