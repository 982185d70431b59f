/** The playhead between two status reports of the engine. */

export class Playhead {
  #frame = 0;
  #atMs = 0;
  #playing = false;
  #rateHz = 48000;

  /** Receives a report: at `nowMs` the engine had rendered up to `frame`. */
  report(frame: number, playing: boolean, rateHz: number, nowMs: number): void {
    this.#frame = frame;
    this.#atMs = nowMs;
    this.#playing = playing;
    this.#rateHz = rateHz;
  }

  /** The frame that is audible at `nowMs`, `latencySecs` after it was rendered. */
  frameAt(nowMs: number, latencySecs: number): number {
    if (!this.#playing) return this.#frame;
    // Reports come about 30 times a second; a gap longer than 200 ms means they stopped.
    const sinceSecs = Math.min(0.2, Math.max(0, nowMs - this.#atMs) / 1000);
    return Math.max(0, this.#frame + (sinceSecs - latencySecs) * this.#rateHz);
  }
}
