/** Following a task by server-sent events, or by polling if they fail. */
import type { Api } from './client';
import { readTask, taskEvents } from './endpoints';
import type { Problem, RenderResult, Task } from './types';

/** A render task. The API description leaves the results of tasks open. */
export type ExportTask = Omit<Task, 'result' | 'error'> & { result: RenderResult | null; error: Problem | null };

const POLL_MS = 500;

export function isFinished(task: ExportTask): boolean {
  return task.state === 'succeeded' || task.state === 'failed' || task.state === 'cancelled';
}

/** Splits a stream of server-sent events into events. */
export class EventSplitter {
  #pending = '';

  /** The `data` of each event that `text` completes. */
  push(text: string): string[] {
    this.#pending = (this.#pending + text).replaceAll('\r\n', '\n');
    const blocks = this.#pending.split('\n\n');
    this.#pending = blocks.pop() ?? '';
    return blocks
      .map((block) =>
        block
          .split('\n')
          .filter((line) => line.startsWith('data:'))
          .map((line) => line.slice(5).trimStart())
          .join('\n'),
      )
      .filter((data) => data !== '');
  }
}

async function followEvents(api: Api, id: string, onChange: (task: ExportTask) => void): Promise<ExportTask | null> {
  const response = await taskEvents(api, id);
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  if (!reader) return null;
  const splitter = new EventSplitter();
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return null;
    for (const data of splitter.push(value)) {
      const task = JSON.parse(data) as ExportTask;
      onChange(task);
      if (isFinished(task)) {
        void reader.cancel();
        return task;
      }
    }
  }
}

/** Calls `onChange` with each state of a task; resolves to the last one. */
export async function followTask(api: Api, id: string, onChange: (task: ExportTask) => void): Promise<ExportTask> {
  // Without a stream of events, or after it broke off, the task is polled.
  const ended = await followEvents(api, id, onChange).catch(() => null);
  if (ended) return ended;
  for (;;) {
    const task = (await readTask(api, id)) as ExportTask;
    onChange(task);
    if (isFinished(task)) return task;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
