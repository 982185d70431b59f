/** Detecting the end of playback: after the last clip, once the tail is silent. */
import type { EngineStatus } from '@songfoundry/web-worklet';

/** Peaks up to this level, -80 dBFS, count as silence. */
const SILENCE_PEAK = 1e-4;
/**
 * Silence that ends playback, in seconds. Longer than that of an export, so its last frame is
 * played.
 */
const SILENCE_SECS = 0.25;
/** Longest tail after the last clip, in seconds; as long as that of an export. */
const TAIL_SECS = 5;

export class SongEnd {
  #silentSinceFrame = 0;

  /** Starts over at a frame after a seek. */
  reset(frame: number): void {
    this.#silentSinceFrame = frame;
  }

  /** Whether playback is past the last clip, and silent or at the longest tail. */
  isReached({ frame, peaks }: EngineStatus, lengthFrames: number, sampleRateHz: number): boolean {
    const past = frame - lengthFrames;
    const [left = 0, right = 0] = peaks.subarray(-2);
    if (past < 0 || Math.max(left, right) > SILENCE_PEAK) this.#silentSinceFrame = frame;
    const silentFrames = frame - this.#silentSinceFrame;
    const isSilent = silentFrames > SILENCE_SECS * sampleRateHz;
    return past >= 0 && (isSilent || past > (TAIL_SECS + SILENCE_SECS) * sampleRateHz);
  }
}
