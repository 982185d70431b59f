/** Detects the end of playback: after the last clip, when the tail of effects has become silent. */
import type { EngineStatus } from '@songfoundry/web-worklet';

/** Highest linear peak, -80 dBFS, that counts as silence. */
const SILENCE_PEAK = 1e-4;
/**
 * Duration of the silence after which playback ends, in seconds. It is longer than in an export, so
 * playback reaches the last frame of the export.
 */
const SILENCE_SECS = 0.25;
/** Longest tail after the last clip, in seconds, as in an export. */
const TAIL_SECS = 5;

export class SongEnd {
  #silentSinceFrame = 0;

  /** Starts the detection again at a frame, after a seek. */
  reset(frame: number): void {
    this.#silentSinceFrame = frame;
  }

  /**
   * Whether the last clip has ended, and the tail has been silent for `SILENCE_SECS` or has lasted
   * `TAIL_SECS`.
   */
  isReached({ frame, peaks }: EngineStatus, lengthFrames: number, sampleRateHz: number): boolean {
    const framesPastEnd = frame - lengthFrames;
    const [left = 0, right = 0] = peaks.subarray(-2);
    if (framesPastEnd < 0 || Math.max(left, right) > SILENCE_PEAK) this.#silentSinceFrame = frame;
    const silentFrames = frame - this.#silentSinceFrame;
    const isSilent = silentFrames > SILENCE_SECS * sampleRateHz;
    return framesPastEnd >= 0 && (isSilent || framesPastEnd > (TAIL_SECS + SILENCE_SECS) * sampleRateHz);
  }
}
