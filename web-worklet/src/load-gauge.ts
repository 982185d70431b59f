/** How busy the audio thread is, and how often it came too late. */

/** Length of the window over which the load is averaged, in milliseconds of audio. */
const WINDOW_MS = 1000;
/** How much later than ever before a call must come to count as a drop-out, in milliseconds. */
const LATE_MS = 60;
/** A pause longer than this is a suspended context, not a drop-out, in milliseconds. */
const PAUSE_MS = 2000;

/**
 * Measures with a clock of whole milliseconds, the only one there is on the audio thread. Over a
 * second the rounding averages out.
 */
export class LoadGauge {
  /** Share of the audio's time that rendering took in the last second. */
  load = 0;
  /** Drop-outs so far: calls that came so late that the output must have run dry. */
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
