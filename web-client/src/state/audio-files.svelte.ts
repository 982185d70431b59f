/** The audio files that songs play: what is known of them, their waveforms, and uploads. */
import { SvelteMap } from 'svelte/reactivity';

import { ApiError, type Api } from '../api/client';
import { audioFile, audioPeaks, listAudio } from '../api/endpoints';
import type { AudioFile } from '../api/types';
import { uploadAudio } from '../api/upload';
import { filesOf } from '../project/files';
import type { Project } from '../project/model';
import { readWaveform, type Waveform } from '../project/waveform';

/** Most pixels of a waveform that are fetched. */
const WAVEFORM_PIXELS = 65_536;
/** Finest waveform that is kept ready by the service, in frames a pixel. */
const FINEST_FRAMES = 256;

/** An upload on its way. */
export type Upload = { name: string; share: number; cancel: () => void };

export class AudioFiles {
  /** Files that could not be found, and why. */
  readonly missing = new SvelteMap<string, string>();
  /** The newest files of the service, once they were asked for. */
  listed = $state.raw<readonly AudioFile[]>([]);
  uploads = $state.raw<readonly Upload[]>([]);
  readonly #api: Api;
  readonly #files = new SvelteMap<string, AudioFile>();
  readonly #waveforms = new SvelteMap<string, Waveform>();
  readonly #asked = new Set<string>();

  constructor(api: Api) {
    this.#api = api;
  }

  /** Changes whenever something more is known of a file. */
  get known(): number {
    return this.#files.size + this.#waveforms.size;
  }

  fileOf(id: string): AudioFile | null {
    return this.#files.get(id) ?? null;
  }

  sourceOf(id: string): { sampleRateHz: number; frames: number } | null {
    const file = this.#files.get(id);
    return file ? { sampleRateHz: file.sample_rate_hz, frames: file.frames } : null;
  }

  waveformOf(id: string): Waveform | null {
    return this.#waveforms.get(id) ?? null;
  }

  /** Finds out about every file that a project plays. */
  learn(project: Project): void {
    const { clips, impulses } = filesOf(project);
    for (const id of new Set([...clips, ...impulses])) {
      if (this.#asked.has(id)) continue;
      this.#asked.add(id);
      void this.#learnOf(id);
    }
  }

  /** Reads the list of files anew. */
  async list(): Promise<void> {
    try {
      this.listed = (await listAudio(this.#api)).items;
    } catch {
      // The list stays as it was; a file that is chosen and missing says so by itself.
    }
  }

  /** Uploads a file; null when it was called off. */
  async upload(file: File): Promise<AudioFile | null> {
    const abort = new AbortController();
    const show = (share: number): void => {
      const rest = this.uploads.filter((upload) => upload.cancel !== cancel);
      this.uploads = [...rest, { name: file.name, share, cancel }];
    };
    const cancel = (): void => abort.abort();
    if (file.size === 0) throw new Error('it is empty');
    show(0);
    try {
      const answer = await uploadAudio(this.#api, file, show, abort.signal);
      const [uploaded] = answer.files;
      if (!uploaded) throw new Error(whyRefused(answer.refused[0]?.problem.detail ?? 'the service did not take it'));
      this.#asked.add(uploaded.id);
      this.#files.set(uploaded.id, uploaded);
      void this.#draw(uploaded);
      return uploaded;
    } catch (error) {
      if (abort.signal.aborted) return null;
      throw error instanceof ApiError ? new Error(whyRefused(error.message)) : error;
    } finally {
      this.uploads = this.uploads.filter((upload) => upload.cancel !== cancel);
    }
  }

  async #learnOf(id: string): Promise<void> {
    try {
      const file = await audioFile(this.#api, id);
      this.#files.set(id, file);
      await this.#draw(file);
    } catch (error) {
      this.missing.set(id, error instanceof Error ? error.message : String(error));
    }
  }

  async #draw(file: AudioFile): Promise<void> {
    let framesPerPixel = FINEST_FRAMES;
    while (file.frames / framesPerPixel > WAVEFORM_PIXELS) framesPerPixel *= 2;
    try {
      this.#waveforms.set(file.id, readWaveform(await audioPeaks(this.#api, file.id, framesPerPixel)));
    } catch (error) {
      this.missing.set(file.id, error instanceof Error ? error.message : String(error));
    }
  }
}

/** What is wrong with a file, of the service's sentence that begins with the file's name. */
function whyRefused(detail: string): string {
  return detail.replace(/^`.*?` cannot be used: /s, '');
}
