/** Computes the position of the playhead between two status reports of the engine. */

/** The state of playback in a report of the engine. */
export type PlayheadReport = {
  /** The frame of the session that the audio context plays at `contextSecs`. */
  frame: number;
  playing: boolean;
  /** Frames until playback begins. */
  countInFrames: number;
  contextSecs: number;
};

/** A loop in frames of the session. */
export type LoopFrames = { startFrame: number; endFrame: number };

/** The longest time, in seconds, for which the playhead moves on without reports. */
const MAX_SILENCE_SECS = 0.2;

export class Playhead {
  /** The loop that the engine plays; null for none. */
  loop: LoopFrames | null = null;
  #report: PlayheadReport = { frame: 0, playing: false, countInFrames: 0, contextSecs: 0 };
  #rateHz = 48000;
  /** Whether playback has reached the end of the loop since it started. */
  #hasJumped = false;

  /** Moves to a frame, where the playhead stays until the engine reports that it plays. */
  moveTo(frame: number): void {
    this.#report = { frame, playing: false, countInFrames: 0, contextSecs: this.#report.contextSecs };
    this.#hasJumped = false;
  }

  report(report: PlayheadReport, rateHz: number): void {
    const { frame, playing, contextSecs } = report;
    if (!report.playing) this.#hasJumped = false;
    else if (this.#report.playing && frame < this.#report.frame) this.#hasJumped = true;
    this.#report = { frame, playing, countInFrames: report.countInFrames, contextSecs };
    this.#rateHz = rateHz;
  }

  /**
   * Returns the frame of the song that the audio context plays at `contextSecs`. While playback is
   * stopped, returns the last reported frame.
   */
  frameAt(contextSecs: number): number {
    const { frame, playing, contextSecs: reportedSecs } = this.#report;
    if (!playing) return frame;
    const frames = Math.min(MAX_SILENCE_SECS, contextSecs - reportedSecs) * this.#rateHz;
    return Math.max(0, this.#wrapped(frame, frame + frames));
  }

  /**
   * Returns the seconds until playback begins, at a time of the audio context; 0 without a
   * count-in.
   */
  countInSecs(contextSecs: number): number {
    const { countInFrames, contextSecs: reportedSecs } = this.#report;
    return countInFrames === 0 ? 0 : Math.max(0, countInFrames / this.#rateHz - (contextSecs - reportedSecs));
  }

  /** Moves a frame near the reported frame into the loop if playback jumps between both. */
  #wrapped(reportedFrame: number, frame: number): number {
    if (!this.loop) return frame;
    const { startFrame, endFrame } = this.loop;
    const lengthFrames = endFrame - startFrame;
    if (reportedFrame < endFrame && frame >= endFrame) return startFrame + ((frame - endFrame) % lengthFrames);
    const isBeforeJump = this.#hasJumped && reportedFrame >= startFrame && frame < startFrame;
    return isBeforeJump ? endFrame - ((startFrame - frame) % lengthFrames) : frame;
  }
}
