/** Reads the properties and waveforms of audio files, and uploads files. */
import { SvelteMap } from 'svelte/reactivity';

import { ApiError, type Api } from '../../api/client';
import { audioFile, downloadAudioPeaks, listAudio } from '../../api/endpoints';
import type { AudioFile } from '../../api/types';
import { uploadAudio } from '../../api/upload';
import type { AudioSourceInfo } from '../../project/audio-time';
import { filesOf } from '../../project/files';
import type { Project } from '../../project/model';
import { readWaveform, type Waveform } from '../../project/waveform';
import { Uploads } from './uploads.svelte';

/** Maximum number of pixels of a waveform that the page fetches. */
const WAVEFORM_PIXELS = 65_536;
/** Frames per pixel of the most detailed waveform that the service stores. */
const MIN_FRAMES_PER_PIXEL = 256;

export class AudioFiles {
  readonly uploads = new Uploads();
  /** Files that cannot be played: the reason, by file id. */
  readonly problemsById = new SvelteMap<string, string>();
  /** The user's newest audio files; empty before {@link refresh}. */
  newest = $state.raw<readonly AudioFile[]>([]);
  readonly #api: Api;
  readonly #files = new SvelteMap<string, AudioFile>();
  readonly #waveforms = new SvelteMap<string, Waveform>();
  /** Ids of the files whose properties were requested or uploaded. */
  readonly #requestedIds = new Set<string>();

  constructor(api: Api) {
    this.#api = api;
  }

  /** Number of files and waveforms loaded so far. */
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

  /** Loads the properties and the waveform of every audio file of a project. */
  loadFor(project: Project): void {
    const { clips, takes, impulses } = filesOf(project);
    for (const id of new Set([...clips, ...takes, ...impulses])) {
      if (this.#requestedIds.has(id)) continue;
      this.#requestedIds.add(id);
      void this.#load(id);
    }
  }

  /** Adds a file that the service has just stored under an id, and loads its waveform. */
  async addStored(id: string): Promise<AudioFile> {
    const file = await audioFile(this.#api, id);
    this.add(file);
    return file;
  }

  /** Reads the list of the newest files. After a failure the previous list stays. */
  async refresh(): Promise<void> {
    try {
      this.newest = (await listAudio(this.#api)).items;
    } catch {
      // The list only offers files to choose from. Files that a song uses are read separately.
    }
  }

  /** Uploads a file. Resolves to null if the user cancelled the upload. */
  async upload(file: File): Promise<AudioFile | null> {
    if (file.size === 0) throw new Error('the file is empty');
    try {
      const answer = await this.uploads.track(file, (onProgress, signal) =>
        uploadAudio(this.#api, file, onProgress, signal),
      );
      if (!answer) return null;
      const [uploadedFile] = answer.files;
      if (!uploadedFile) throw new Error(withoutFileName(answer.refused[0]?.problem.detail ?? 'the service refused the file without a reason; try another file'));
      this.add(uploadedFile);
      return uploadedFile;
    } catch (error) {
      throw error instanceof ApiError ? new Error(withoutFileName(error.message)) : error;
    }
  }

  /** Adds a file that the service has just stored, and loads its waveform. */
  add(file: AudioFile): void {
    this.#requestedIds.add(file.id);
    this.problemsById.delete(file.id);
    this.#files.set(file.id, file);
    void this.#loadWaveform(file);
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
    let framesPerPixel = MIN_FRAMES_PER_PIXEL;
    while (file.frames / framesPerPixel > WAVEFORM_PIXELS) framesPerPixel *= 2;
    try {
      this.#waveforms.set(file.id, readWaveform(await downloadAudioPeaks(this.#api, file.id, framesPerPixel)));
    } catch (error) {
      this.#markMissing(file.id, error);
    }
  }

  #markMissing(id: string, error: unknown): void {
    this.problemsById.set(id, error instanceof Error ? error.message : String(error));
  }
}

/** Removes the file's name, which the page shows itself, from the start of a service's reason. */
function withoutFileName(detail: string): string {
  return detail.replace(/^`.*?` cannot be used: /s, '');
}
