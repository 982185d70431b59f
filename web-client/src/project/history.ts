/**
 * Undo and redo: lists of past and future values. Values share the parts that an edit leaves
 * unchanged, so a long history needs little memory.
 */
export type HistoryStep<T> = { label: string; value: T };

export type History<T> = {
  readonly past: readonly HistoryStep<T>[];
  readonly present: T;
  readonly future: readonly HistoryStep<T>[];
  /** Id of the gesture that made the last step, or null. Edits of one gesture become one step. */
  readonly gesture: string | null;
};

/** Maximum number of steps that can be undone. */
export const HISTORY_LIMIT = 300;

export function startHistory<T>(present: T): History<T> {
  return { past: [], present, future: [], gesture: null };
}

/**
 * Returns the history after an edit. Successive edits with the same `gesture` become one undo step.
 * An edit that changes nothing adds no step.
 */
export function pushEdit<T>(history: History<T>, label: string, value: T, gesture: string | null = null): History<T> {
  if (value === history.present) return history;
  if (gesture !== null && gesture === history.gesture && history.past.length > 0) {
    return { past: history.past, present: value, future: [], gesture };
  }
  const past = [...history.past, { label, value: history.present }];
  return { past: past.slice(-HISTORY_LIMIT), present: value, future: [], gesture };
}

/** Ends the current gesture: the next edit is a separate undo step. */
export function endGesture<T>(history: History<T>): History<T> {
  return history.gesture === null ? history : { ...history, gesture: null };
}

export function undo<T>(history: History<T>): History<T> {
  const step = history.past.at(-1);
  if (!step) return history;
  return {
    past: history.past.slice(0, -1),
    present: step.value,
    future: [{ label: step.label, value: history.present }, ...history.future],
    gesture: null,
  };
}

export function redo<T>(history: History<T>): History<T> {
  const step = history.future[0];
  if (!step) return history;
  return {
    past: [...history.past, { label: step.label, value: history.present }],
    present: step.value,
    future: history.future.slice(1),
    gesture: null,
  };
}

/** Undoes or redoes steps until `stepCount` steps can be undone. */
export function goToStep<T>(history: History<T>, stepCount: number): History<T> {
  let current = history;
  while (current.past.length > stepCount && current.past.length > 0) current = undo(current);
  while (current.past.length < stepCount && current.future.length > 0) current = redo(current);
  return current;
}
