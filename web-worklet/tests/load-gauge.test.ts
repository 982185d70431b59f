import { describe, expect, it } from 'vitest';
import { LoadGauge } from '../src/load-gauge';

/** Runs quanta of 128 frames at 48 kHz; `lateMs` returns the additional delay from a quantum on. */
function run(quanta: number, busyMs: number, lateMs: (quantum: number) => number): LoadGauge {
  let clockMs = 0;
  const gauge = new LoadGauge(48_000, () => Math.floor(clockMs));
  let delayMs = 0;
  for (let quantum = 0; quantum < quanta; quantum++) {
    delayMs += lateMs(quantum);
    clockMs = 1_000 + (quantum * 128) / 48 + delayMs;
    gauge.begin(128);
    clockMs += busyMs;
    gauge.end();
  }
  return gauge;
}

describe('LoadGauge', () => {
  it('measures the load although the clock counts whole milliseconds', () => {
    expect(run(2_000, 0.4, () => 0).load).toBeCloseTo(0.4 / (128 / 48), 1);
  });

  it('counts one drop-out for a call that is 200 ms late', () => {
    expect(run(1_000, 0.1, (quantum) => (quantum === 500 ? 200 : 0)).underruns).toBe(1);
  });

  it('counts neither jitter nor a suspended context as a drop-out', () => {
    expect(run(1_000, 0.1, (quantum) => (quantum % 2 === 0 ? 10 : -10)).underruns).toBe(0);
    expect(run(1_000, 0.1, (quantum) => (quantum === 500 ? 60_000 : 0)).underruns).toBe(0);
  });
});
