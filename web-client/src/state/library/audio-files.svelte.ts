/** The audio files of songs: their properties, waveforms and uploads. */
import { SvelteMap } from 'svelte/reactivity';

import { ApiError, type Api } from '../../api/client';
import { audioFile, audioPeaks, listAudio } from '../../api/endpoints';
import type { AudioFile } from '../../api/types';
import { uploadAudio } from '../../api/upload';
import type { AudioSourceInfo } from '../../project/audio-time';
import { filesOf } from '../../project/files';
import type { Project } from '../../project/model';
import { readWaveform, type Waveform } from '../../project/waveform';
import { Uploads } from './uploads.svelte';

/** Maximum width of a fetched waveform in pixels. */
const WAVEFORM_PIXELS = 65_536;
/** The finest waveform that the service keeps ready, in frames per pixel. */
const FINEST_FRAMES = 256;

export class AudioFiles {
  readonly uploads = new Uploads();
  /** Files that cannot be played, with the reason. */
  readonly missing = new SvelteMap<string, string>();
  /** The newest files of the service; empty before {@link refresh}. */
  newest = $state.raw<readonly AudioFile[]>([]);
  readonly #api: Api;
  readonly #files = new SvelteMap<string, AudioFile>();
  readonly #waveforms = new SvelteMap<string, Waveform>();
  readonly #requested = new Set<string>();

  constructor(api: Api) {
    this.#api = api;
  }

  /** Rises with every file and waveform that arrives. */
  get loadedCount(): number {
    return this.#files.size + this.#waveforms.size;
  }

  fileOf(id: string): AudioFile | null {
    return this.#files.get(id) ?? null;
  }

  sourceOf(id: string): AudioSourceInfo | null {
    const file = this.#files.get(id);
    return file ? { sampleRateHz: file.sample_rate_hz, frames: file.frames } : null;
  }

  waveformOf(id: string): Waveform | null {
    return this.#waveforms.get(id) ?? null;
  }

  /** Loads properties and waveforms of every file that a project plays. */
  loadFor(project: Project): void {
    const { clips, impulses } = filesOf(project);
    for (const id of new Set([...clips, ...impulses])) {
      if (this.#requested.has(id)) continue;
      this.#requested.add(id);
      void this.#load(id);
    }
  }

  /** Reads the list of the newest files; after a failure the old list stays. */
  async refresh(): Promise<void> {
    try {
      this.newest = (await listAudio(this.#api)).items;
    } catch {
      // A chosen file that is missing is reported by its own request.
    }
  }

  /** Uploads a file; resolves to null if the visitor cancelled it. */
  async upload(file: File): Promise<AudioFile | null> {
    if (file.size === 0) throw new Error('it is empty');
    try {
      const answer = await this.uploads.track(file, (onProgress, signal) =>
        uploadAudio(this.#api, file, onProgress, signal),
      );
      if (!answer) return null;
      const [uploaded] = answer.files;
      if (!uploaded) throw new Error(withoutFileName(answer.refused[0]?.problem.detail ?? 'the service refused it'));
      this.#requested.add(uploaded.id);
      this.#files.set(uploaded.id, uploaded);
      void this.#loadWaveform(uploaded);
      return uploaded;
    } catch (error) {
      throw error instanceof ApiError ? new Error(withoutFileName(error.message)) : error;
    }
  }

  async #load(id: string): Promise<void> {
    try {
      const file = await audioFile(this.#api, id);
      this.#files.set(id, file);
      await this.#loadWaveform(file);
    } catch (error) {
      this.#markMissing(id, error);
    }
  }

  async #loadWaveform(file: AudioFile): Promise<void> {
    let framesPerPixel = FINEST_FRAMES;
    while (file.frames / framesPerPixel > WAVEFORM_PIXELS) framesPerPixel *= 2;
    try {
      this.#waveforms.set(file.id, readWaveform(await audioPeaks(this.#api, file.id, framesPerPixel)));
    } catch (error) {
      this.#markMissing(file.id, error);
    }
  }

  #markMissing(id: string, error: unknown): void {
    this.missing.set(id, error instanceof Error ? error.message : String(error));
  }
}

/** The service's reason without the file's name, with which its sentence begins. */
function withoutFileName(detail: string): string {
  return detail.replace(/^`.*?` cannot be used: /s, '');
}
