/**
 * The signal that measures the latency of a recording, and its detection. The signal is a binary
 * sequence of maximum length: its correlation has a single peak, also with noise and echoes.
 */

/** Length of the sequence of a shift register of 9 bits. */
const CHIPS = 511;
/** Rate of the binary values in hertz: speakers and microphones pass what is below it. */
const CHIP_RATE_HZ = 16_000;
/** Level of the signal: -12 dBFS. */
const LEVEL = 0.25;
/**
 * Lowest normalized correlation that counts as the signal. The highest value that noise of a second
 * reaches is about 4.5 standard deviations of 1 / sqrt(CHIPS), which is 0.2.
 */
const MIN_CORRELATION = 0.25;
/** Number of bursts, and the seconds from the start of one to that of the next. */
export const BURSTS = 3;
export const BURST_SECS = 0.6;
/** Maximum difference between the delays of two bursts that count as the same, in seconds. */
const TOLERANCE_SECS = 0.001;

/** Returns the samples of a burst. */
export function latencySignal(rateHz: number): Float32Array<ArrayBuffer> {
  const samplesPerChip = Math.max(1, Math.round(rateHz / CHIP_RATE_HZ));
  const signal = new Float32Array(CHIPS * samplesPerChip);
  let register = 1;
  for (let chip = 0; chip < CHIPS; chip++) {
    signal.fill(register & 1 ? LEVEL : -LEVEL, chip * samplesPerChip, (chip + 1) * samplesPerChip);
    // The polynomial x^9 + x^5 + 1 is primitive (Golomb, Shift Register Sequences).
    const bit = (register ^ (register >> 4)) & 1;
    register = (register >> 1) | (bit << 8);
  }
  return signal;
}

/**
 * Returns the frame of `recorded` at which the signal starts; null if it is not there. The signal
 * may be inverted.
 */
export function findSignal(recorded: Float32Array, signal: Float32Array): number | null {
  const signalEnergy = signal.reduce((sum, value) => sum + value * value, 0);
  let energy = 0;
  for (let index = 0; index < signal.length; index++) energy += (recorded[index] ?? 0) ** 2;
  let best = { frame: -1, correlation: 0 };
  for (let frame = 0; frame + signal.length <= recorded.length; frame++) {
    let sum = 0;
    for (let index = 0; index < signal.length; index++) sum += (recorded[frame + index] ?? 0) * (signal[index] ?? 0);
    const correlation = energy > 1e-9 ? Math.abs(sum) / Math.sqrt(energy * signalEnergy) : 0;
    if (correlation > best.correlation) best = { frame, correlation };
    energy = Math.max(0, energy - (recorded[frame] ?? 0) ** 2 + (recorded[frame + signal.length] ?? 0) ** 2);
  }
  return best.correlation >= MIN_CORRELATION ? best.frame : null;
}

/**
 * Returns the delay on which at least two bursts agree, in frames; null if none do. `delays` has
 * null for each burst that was not heard.
 */
export function agreedDelay(delays: readonly (number | null)[], rateHz: number): number | null {
  const heard = delays.filter((delay) => delay !== null).sort((a, b) => a - b);
  const agreeing = heard.filter((delay) => heard.filter((other) => Math.abs(other - delay) <= TOLERANCE_SECS * rateHz).length >= 2);
  return agreeing[Math.floor(agreeing.length / 2)] ?? null;
}
