/** Computes the position of the playhead between two status reports of the engine. */

export class Playhead {
  #frame = 0;
  #reportedAtMs = 0;
  #playing = false;
  #rateHz = 48000;

  /** Receives a report that the engine has rendered up to `frame` at `nowMs`. */
  report(frame: number, isPlaying: boolean, rateHz: number, nowMs: number): void {
    this.#frame = frame;
    this.#reportedAtMs = nowMs;
    this.#playing = isPlaying;
    this.#rateHz = rateHz;
  }

  /**
   * Returns the frame that is audible at `nowMs`, which was rendered `latencySecs` earlier. While
   * playback is stopped, returns the last reported frame.
   */
  frameAt(nowMs: number, latencySecs: number): number {
    if (!this.#playing) return this.#frame;
    // Reports come about 30 times a second. If none comes for 200 ms, the playhead stops.
    const sinceSecs = Math.min(0.2, Math.max(0, nowMs - this.#reportedAtMs) / 1000);
    return Math.max(0, this.#frame + (sinceSecs - latencySecs) * this.#rateHz);
  }
}
