/** Follows a task by server-sent events, or by polling if those fail. */
import type { Api } from './client';
import { readTask, openTaskEvents } from './endpoints';
import type { Problem, Task } from './types';

/** A task whose result has the type `R`. The OpenAPI document gives no types of results. */
export type TaskOf<R> = Omit<Task, 'result' | 'error'> & { result: R | null; error: Problem | null };

const POLL_MS = 500;

export function isFinished(task: Pick<Task, 'state'>): boolean {
  return task.state === 'succeeded' || task.state === 'failed' || task.state === 'cancelled';
}

/** Splits the text of a server-sent event stream into events. */
export class EventSplitter {
  #pending = '';

  /** Adds the next text of the stream and returns the `data` of each event that is now complete. */
  push(text: string): string[] {
    this.#pending = (this.#pending + text).replaceAll('\r\n', '\n');
    const blocks = this.#pending.split('\n\n');
    this.#pending = blocks.pop() ?? '';
    return blocks
      .map((block) =>
        block
          .split('\n')
          .filter((eventLine) => eventLine.startsWith('data:'))
          .map((eventLine) => eventLine.slice(5).trimStart())
          .join('\n'),
      )
      .filter((eventText) => eventText !== '');
  }
}

/** Follows the event stream; returns the finished task, or null if the stream ends before that. */
async function followEvents<R>(api: Api, id: string, onChange: (task: TaskOf<R>) => void): Promise<TaskOf<R> | null> {
  const response = await openTaskEvents(api, id);
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  if (!reader) return null;
  const splitter = new EventSplitter();
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return null;
    for (const eventText of splitter.push(value)) {
      const task = JSON.parse(eventText) as TaskOf<R>;
      onChange(task);
      if (isFinished(task)) {
        void reader.cancel();
        return task;
      }
    }
  }
}

/**
 * Calls `onChange` with each state of a task, and returns the finished task. `R` is the type of the
 * task's result.
 */
export async function followTask<R>(api: Api, id: string, onChange: (task: TaskOf<R>) => void): Promise<TaskOf<R>> {
  const finishedTask = await followEvents(api, id, onChange).catch(() => null);
  if (finishedTask) return finishedTask;
  // The event stream could not be opened or broke off.
  for (;;) {
    const task = (await readTask(api, id)) as TaskOf<R>;
    onChange(task);
    if (isFinished(task)) return task;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
