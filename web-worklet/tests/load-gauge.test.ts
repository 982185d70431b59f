import { describe, expect, it } from 'vitest';
import { LoadGauge } from '../src/load-gauge';

/** Runs quanta of 128 frames at 48 kHz; `lateMs` says how late a quantum comes. */
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
  it('averages the rounding of the clock out', () => {
    expect(run(2_000, 0.4, () => 0).load).toBeCloseTo(0.4 / (128 / 48), 1);
  });

  it('counts a call that comes far too late as a drop-out, once', () => {
    expect(run(1_000, 0.1, (quantum) => (quantum === 500 ? 200 : 0)).underruns).toBe(1);
  });

  it('counts neither jitter nor a suspended context as a drop-out', () => {
    expect(run(1_000, 0.1, (quantum) => (quantum % 2 === 0 ? 10 : -10)).underruns).toBe(0);
    expect(run(1_000, 0.1, (quantum) => (quantum === 500 ? 60_000 : 0)).underruns).toBe(0);
  });
});
