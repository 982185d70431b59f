import { describe, expect, it } from 'vitest';
import { heightOf, linePath, stepPath } from '../src/rooms/dialogs/export/curve-paths';

describe('paths of levels over time', () => {
  it('have the loudest level at the top and silence at the bottom', () => {
    expect([6, 0, -24, -48, -90, null].map(heightOf)).toEqual([0, 0, 0.5, 1, 1, 1]);
  });

  it('have a step for each interval', () => {
    expect(stepPath([0, null])).toBe('M0,1L0.00000,0.0000L0.50000,0.0000L0.50000,1.0000L1.00000,1.0000L1,1Z');
    expect(stepPath([])).toBe('M0,1L1,1Z');
  });

  it('have a gap where there is silence', () => {
    expect(linePath([-24, -12, null, -24])).toBe('M0.12500,0.5000L0.37500,0.2500M0.87500,0.5000');
  });
});
