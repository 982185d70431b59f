/** Exporting the song: the render task, its progress and its receipt. */
import { Api, reasonOf } from '../api/client';
import { cancelTask, exportedFile, startExport, type ExportOptions } from '../api/endpoints';
import { followTask } from '../api/task-events';
import type { RenderResult } from '../api/types';
import type { Project } from '../project/model';
import { saveBlob } from './download';

export type ExportPhase = 'idle' | 'running' | 'cancelling' | 'done' | 'failed';

export class Exporting {
  phase = $state<ExportPhase>('idle');
  /** 0..1 while running. */
  progress = $state(0);
  message = $state('');
  problem = $state('');
  result = $state.raw<RenderResult | null>(null);
  /** The song as it was when the last export of it was made. */
  exported = $state.raw<{ project: Project; result: RenderResult; title: string } | null>(null);
  downloading = $state(false);
  readonly #api: Api;
  #taskId: string | null = null;
  #abort: AbortController | null = null;

  constructor(api: Api) {
    this.#api = api;
  }

  async start(project: Project, options: ExportOptions): Promise<void> {
    this.phase = 'running';
    this.progress = 0;
    this.message = 'Starting';
    this.result = null;
    this.#abort = new AbortController();
    try {
      this.#taskId = await startExport(this.#api, project, options);
      const task = await followTask(this.#api, this.#taskId, this.#abort.signal, (state) => {
        this.progress = state.progress;
        this.message = state.message;
      });
      if (task.state === 'succeeded' && task.result) {
        this.result = task.result;
        this.exported = { project, result: task.result, title: options.title };
        this.phase = 'done';
      } else if (task.state === 'cancelled') {
        this.phase = 'idle';
      } else {
        this.#fail(task.error?.detail ?? 'the render ended without a result');
      }
    } catch (error) {
      this.#fail(reasonOf(error));
    } finally {
      this.#taskId = null;
    }
  }

  /** Asks the service to stop; the task's last event ends the export. */
  async cancel(): Promise<void> {
    if (this.phase !== 'running' || this.#taskId === null) return;
    this.phase = 'cancelling';
    try {
      await cancelTask(this.#api, this.#taskId);
    } catch (error) {
      this.#fail(reasonOf(error));
    }
  }

  /** Fetches the file, which may need the log-in's token, and hands it to the browser to keep. */
  async download(): Promise<void> {
    if (!this.exported) return;
    this.downloading = true;
    try {
      const file = await exportedFile(this.#api, this.exported.result.render_id);
      saveBlob(file, `${this.exported.title || 'song'}.wav`);
    } catch (error) {
      this.#fail(reasonOf(error));
    } finally {
      this.downloading = false;
    }
  }

  reset(): void {
    if (this.phase === 'failed' || this.phase === 'done') this.phase = 'idle';
  }

  #fail(problem: string): void {
    this.phase = 'failed';
    this.problem = problem;
  }
}
