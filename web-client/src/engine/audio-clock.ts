/** Relates the clock of events in the page to the clock of the audio that is audible. */

/** The members of an AudioContext that the clock needs. */
export type ClockSource = Pick<AudioContext, 'currentTime' | 'outputLatency' | 'baseLatency'> & {
  getOutputTimestamp?: () => AudioTimestamp;
};

/**
 * Largest difference, in seconds, between the browser's time stamp and its latency at which the
 * time stamp is used.
 */
const MAX_DIFFERENCE_SECS = 1;

/**
 * Returns the time in the audio context of the audio that the user hears at `atMs`, a time of
 * `performance.now()` or of an event. It takes the latency of the output into account. `nowMs` is
 * the current time.
 */
export function audibleSecs(context: ClockSource, atMs: number, nowMs: number): number {
  const latencySecs = context.outputLatency || context.baseLatency || 0;
  const estimate = context.currentTime - latencySecs + (atMs - nowMs) / 1000;
  const { contextTime = 0, performanceTime = 0 } = context.getOutputTimestamp?.() ?? {};
  // Browsers return zeros, or an old time stamp, before the output has started.
  if (contextTime <= 0 || performanceTime <= 0) return estimate;
  const stamped = contextTime + (atMs - performanceTime) / 1000;
  return Math.abs(stamped - estimate) < MAX_DIFFERENCE_SECS ? stamped : estimate;
}
