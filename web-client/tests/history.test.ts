import { describe, expect, it } from 'vitest';

import { endGesture, goToStep, HISTORY_LIMIT, pushEdit, redo, startHistory, undo } from '../src/project/history';

describe('history', () => {
  it('is undone and redone', () => {
    let history = pushEdit(pushEdit(startHistory('a'), 'to b', 'b'), 'to c', 'c');
    history = undo(history);
    expect(history.present).toBe('b');
    expect(history.future[0]?.label).toBe('to c');
    history = redo(history);
    expect(history.present).toBe('c');
    expect(redo(history)).toBe(history);
  });

  it('goes to any step', () => {
    const history = ['b', 'c', 'd'].reduce((steps, value) => pushEdit(steps, `to ${value}`, value), startHistory('a'));
    const first = goToStep(history, 1);
    expect([first.present, first.past.length, first.future.length]).toEqual(['b', 1, 2]);
    expect(goToStep(first, 3)).toEqual(history);
    expect(goToStep(first, 99).present).toBe('d');
    expect(goToStep(first, -1).present).toBe('a');
  });

  it('cannot be undone beyond its start', () => {
    const history = startHistory('a');
    expect(undo(history)).toBe(history);
  });

  it('drops redo steps after a new edit', () => {
    const history = pushEdit(undo(pushEdit(startHistory('a'), 'to b', 'b')), 'to c', 'c');
    expect(history.future).toEqual([]);
    expect(undo(history).present).toBe('a');
  });

  it('makes one step of the edits of one gesture only', () => {
    let history = startHistory(0);
    for (const value of [1, 2, 3]) history = pushEdit(history, 'drag', value, 'first');
    history = pushEdit(endGesture(history), 'drag', 4, 'first');
    expect(undo(history).present).toBe(3);
    expect(undo(undo(history)).present).toBe(0);
  });

  it('has no step for an edit without a change', () => {
    const history = startHistory('a');
    expect(pushEdit(history, 'nothing', 'a')).toBe(history);
  });

  it('keeps a limited number of steps', () => {
    let history = startHistory(0);
    for (let value = 1; value <= HISTORY_LIMIT + 10; value++) history = pushEdit(history, 'step', value);
    expect(history.past).toHaveLength(HISTORY_LIMIT);
    expect(history.past[0]?.value).toBe(10);
  });
});
