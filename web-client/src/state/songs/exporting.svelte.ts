/** Exports the song: starts the render task, follows its progress and downloads the files. */
import { reasonOf, type Api } from '../../api/client';
import {
  cancelTask,
  downloadExportedFile,
  NO_TAGS,
  readRender,
  shareRender,
  startExport,
  type CommonOptions,
  type ExportFile,
  type ExportOptions,
} from '../../api/endpoints';
import { followTask } from '../../api/task-events';
import type { FileWithReceipt, RenderEntry, RenderResult } from '../../api/types';
import type { Project } from '../../project/model';
import { saveBlob } from '../download';

/** A file of a finished export, and the song at the time when the export started. */
export type Exported = { project: Project; result: FileWithReceipt; title: string };

/** A link with which others can download an export, and the time at which the link expires. */
export type SharedLink = { url: string; endsAt: Date };

/**
 * State of an export. `problem` is a sentence; `progress` is 0..1; `taskId` is null until the
 * service starts the task. Of the `files` of a finished export, the page shows `exported`.
 */
export type ExportState =
  | { kind: 'idle' }
  | { kind: 'running'; taskId: string | null; progress: number; message: string; isCancelling: boolean }
  | {
      kind: 'done';
      files: readonly Exported[];
      exported: Exported;
      isDownloading: boolean;
      link: SharedLink | null;
      problem: string | null;
    }
  | { kind: 'failed'; problem: string };

type DoneState = Extract<ExportState, { kind: 'done' }>;

export class Exporting {
  state = $state.raw<ExportState>({ kind: 'idle' });
  /** The first file of the last export that finished since the page was loaded, or null. */
  lastExport = $state.raw<Exported | null>(null);
  /** Options of the last export and id of its song; null before the first export. */
  #last: { projectId: string; options: ExportOptions } | null = null;
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  async start(project: Project, options: ExportOptions, files: readonly [ExportFile, ...ExportFile[]]): Promise<void> {
    this.#last = { projectId: project.project_id, options };
    await this.#run(project, options, files);
  }

  /** Exports the whole mix as a 32-bit float WAV file, with the samples that the engine plays. */
  async exportMix(project: Project): Promise<void> {
    const file: ExportFile = {
      format: 'wav',
      bitDepth: 'float32',
      quality: null,
      noiseShaping: false,
      sampleRateHz: project.sample_rate_hz,
      range: null,
      title: `${project.name} - mix`,
    };
    await this.#run(project, { targetLufs: null, truePeakDb: -1, channelCheck: false, trackIds: null, tags: NO_TAGS }, [file]);
  }

  async #run(project: Project, options: CommonOptions, files: readonly [ExportFile, ...ExportFile[]]): Promise<void> {
    this.state = { kind: 'running', taskId: null, progress: 0, message: 'Starting', isCancelling: false };
    try {
      const taskId = await startExport(this.#api, project, options, files);
      this.#updateRunning({ taskId });
      const task = await followTask<RenderResult>(this.#api, taskId, ({ progress, message }) =>
        this.#updateRunning({ progress, message }),
      );
      if (task.state === 'succeeded' && task.result) {
        const { more_files: further, ...first } = task.result;
        const exported = { project, result: first, title: files[0].title };
        this.lastExport = exported;
        const furtherFiles = further.map((result, index) => ({ project, result, title: files[index + 1]?.title ?? files[0].title }));
        this.#show([exported, ...furtherFiles]);
      } else if (task.state === 'cancelled') {
        this.state = { kind: 'idle' };
      } else {
        this.#fail(task.error?.detail ?? 'the export ended without a file; start it again');
      }
    } catch (error) {
      this.#fail(reasonOf(error));
    }
  }

  /** Returns the options of the last export of a song, which the dialog offers again. */
  lastOptions(projectId: string): ExportOptions | null {
    return this.#last?.projectId === projectId ? this.#last.options : null;
  }

  /** Asks the service to cancel the task. The export ends when the task's last event arrives. */
  async cancel(): Promise<void> {
    const { state } = this;
    if (state.kind !== 'running' || state.isCancelling || state.taskId === null) return;
    this.#updateRunning({ isCancelling: true });
    try {
      await cancelTask(this.#api, state.taskId);
    } catch (error) {
      this.#fail(reasonOf(error));
    }
  }

  /** Shows an earlier export of the song with its receipt. */
  async open(project: Project, { render_id, title }: RenderEntry): Promise<void> {
    try {
      const result = await readRender(this.#api, render_id);
      this.#show([{ project, result, title }]);
    } catch (error) {
      this.state = { kind: 'failed', problem: `The earlier export “${title}” cannot be opened: ${reasonOf(error)}` };
    }
  }

  /** Shows another file of the finished export. */
  select(exported: Exported): void {
    if (this.state.kind === 'done') this.state = { ...this.state, exported, link: null, problem: null };
  }

  /** Fetches the shown file, or all files one after the other, and lets the browser save them. */
  async download(selection: 'shown' | 'all' = 'shown'): Promise<void> {
    if (this.state.kind !== 'done') return;
    const { files, exported } = this.state;
    this.#updateDone(files, { isDownloading: true, problem: null });
    let fileName = '';
    try {
      for (const { result, title } of selection === 'all' ? files : [exported]) {
        fileName = `${title || 'song'}.${result.format}`;
        saveBlob(await downloadExportedFile(this.#api, result.render_id), fileName);
      }
      this.#updateDone(files, { isDownloading: false });
    } catch (error) {
      this.#updateDone(files, { isDownloading: false, problem: `${fileName} cannot be downloaded: ${reasonOf(error)}` });
    }
  }

  /** Makes a link to the shown file, which expires after `secs` seconds. */
  async share(secs: number): Promise<void> {
    if (this.state.kind !== 'done') return;
    const { files, exported } = this.state;
    const update = (change: Partial<DoneState>): void => {
      if (this.state.kind === 'done' && this.state.exported === exported) this.#updateDone(files, change);
    };
    try {
      const { url, expires_at } = await shareRender(this.#api, exported.result.render_id, secs);
      update({ link: { url: new URL(url, location.origin).href, endsAt: new Date(expires_at) }, problem: null });
    } catch (error) {
      update({ problem: `The link cannot be made: ${reasonOf(error)}` });
    }
  }

  /** Returns to the idle state after a finished or failed export. */
  reset(): void {
    if (this.state.kind === 'failed' || this.state.kind === 'done') this.state = { kind: 'idle' };
  }

  #show(files: readonly [Exported, ...Exported[]]): void {
    this.state = { kind: 'done', files, exported: files[0], isDownloading: false, link: null, problem: null };
  }

  /** Changes the state of a finished export, unless another one is shown in the meantime. */
  #updateDone(files: readonly Exported[], change: Partial<DoneState>): void {
    if (this.state.kind === 'done' && this.state.files === files) this.state = { ...this.state, ...change };
  }

  #updateRunning(change: Partial<Extract<ExportState, { kind: 'running' }>>): void {
    if (this.state.kind === 'running') this.state = { ...this.state, ...change };
  }

  #fail(problem: string): void {
    this.state = { kind: 'failed', problem: `The export failed: ${problem}` };
  }
}
