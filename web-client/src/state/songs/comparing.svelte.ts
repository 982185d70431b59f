/** Compares an exported file with a reference: a finished recording of the user. */
import { reasonOf, type Api } from '../../api/client';
import { analyzeRender, downloadExportedFile } from '../../api/endpoints';
import { measureReference } from '../../api/upload';
import type { Measurements } from '../../api/types';
import type { Exported } from './exporting.svelte';

/** A file that is compared: its measurements, and an address from which the browser plays it. */
export type Compared = { measurements: Measurements; url: string };

/** The two files that are compared. */
export type Side = 'export' | 'reference';

/**
 * State of the comparison. `progress`, 0..1, is the part of the reference that has been sent;
 * `problem` is a sentence.
 */
export type ComparisonState =
  | { kind: 'idle' }
  | { kind: 'measuring'; name: string; progress: number }
  | { kind: 'done'; files: Record<Side, Compared> }
  | { kind: 'failed'; problem: string };

export class Comparing {
  state = $state.raw<ComparisonState>({ kind: 'idle' });
  #running: AbortController | null = null;
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /** Measures both files. */
  async start({ result }: Exported, reference: File): Promise<void> {
    this.stop();
    const abortController = new AbortController();
    this.#running = abortController;
    const { name } = reference;
    this.state = { kind: 'measuring', name, progress: 0 };
    try {
      const onProgress = (progress: number): void => {
        if (this.#running === abortController) this.state = { kind: 'measuring', name, progress };
      };
      const [ofReference, ofExport, file] = await Promise.all([
        measureReference(this.#api, reference, onProgress, abortController.signal),
        analyzeRender(this.#api, result.render_id),
        downloadExportedFile(this.#api, result.render_id),
      ]);
      if (this.#running !== abortController) return;
      const urlOf = (content: Blob): string => URL.createObjectURL(content);
      this.state = {
        kind: 'done',
        files: {
          export: { measurements: ofExport, url: urlOf(file) },
          reference: { measurements: ofReference, url: urlOf(reference) },
        },
      };
    } catch (error) {
      if (this.#running === abortController) this.state = { kind: 'failed', problem: `${name} cannot be compared with the export: ${reasonOf(error)}` };
    }
  }

  /** Cancels the measurement, or ends the comparison. */
  stop(): void {
    this.#running?.abort();
    this.#running = null;
    if (this.state.kind === 'done') Object.values(this.state.files).forEach(({ url }) => URL.revokeObjectURL(url));
    this.state = { kind: 'idle' };
  }
}

/**
 * Returns the volumes, 0..1, at which both files are equally loud. The volume of the softer file is
 * 1. A silent file also has the volume 1.
 */
export function equalVolumes(lufs: Record<Side, number | null | undefined>): Record<Side, number> {
  const knownLufs = Object.values(lufs).filter((value) => typeof value === 'number');
  const softest = Math.min(...knownLufs);
  const volumeOf = (value: number | null | undefined): number =>
    typeof value === 'number' ? 10 ** ((softest - value) / 20) : 1;
  return { export: volumeOf(lufs.export), reference: volumeOf(lufs.reference) };
}
