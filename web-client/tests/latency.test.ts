/** Tests that the latency of a recording is found in noise and echoes, and only if it is there. */
import { describe, expect, it } from 'vitest';

import { agreedDelay, findSignal, latencySignal } from '../src/project/latency-signal';

const RATE_HZ = 48_000;
const FRAMES = 12_000;

/** Uniform noise from a linear congruential generator (Numerical Recipes). */
function noise(level: number): Float32Array {
  let state = 1;
  return Float32Array.from({ length: FRAMES }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return level * (state / 2 ** 31 - 1);
  });
}

/** Adds the signal at a frame, with a gain. */
function withSignal(recorded: Float32Array, frame: number, gain: number): Float32Array {
  const signal = latencySignal(RATE_HZ);
  return recorded.map((value, index) => value + gain * (signal[index - frame] ?? 0));
}

describe('the signal', () => {
  it('is found to the frame, quiet, inverted, in noise and with an echo', () => {
    const signal = latencySignal(RATE_HZ);
    const silence = new Float32Array(FRAMES);
    expect(findSignal(withSignal(silence, 4321, 1), signal)).toBe(4321);
    expect(findSignal(withSignal(silence, 0, 0.001), signal)).toBe(0);
    expect(findSignal(withSignal(silence, 777, -0.5), signal)).toBe(777);
    expect(findSignal(withSignal(noise(0.1), 4321, 0.3), signal), 'noise as loud as the signal').toBe(4321);
    expect(findSignal(withSignal(withSignal(silence, 2000, 0.5), 2400, 0.4), signal), 'an echo').toBe(2000);
  });

  it('is not found in silence, in noise, in a tone and where it is cut', () => {
    const signal = latencySignal(RATE_HZ);
    expect(findSignal(new Float32Array(FRAMES), signal)).toBeNull();
    expect(findSignal(noise(0.5), signal)).toBeNull();
    expect(findSignal(Float32Array.from({ length: FRAMES }, (_, frame) => Math.sin(frame / 10)), signal)).toBeNull();
    expect(findSignal(withSignal(noise(0.1), FRAMES - 100, 1), signal)).toBeNull();
    expect(findSignal(new Float32Array(10), signal)).toBeNull();
  });
});

it('a latency counts if two bursts agree on it', () => {
  expect(agreedDelay([1000, 1000, 1001], RATE_HZ)).toBe(1000);
  expect(agreedDelay([1000, null, 1020], RATE_HZ)).toBe(1020);
  expect(agreedDelay([1000, 9000, 1001], RATE_HZ)).toBe(1001);
  expect(agreedDelay([1000, 9000, null], RATE_HZ)).toBeNull();
  expect(agreedDelay([null, null, null], RATE_HZ)).toBeNull();
});
