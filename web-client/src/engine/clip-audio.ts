/**
 * The audio files that the engine plays. Short files are loaded whole while memory lasts; long ones
 * are streamed: the engine asks for the blocks that its clips need next.
 */
import type { EngineClient } from '@songfoundry/web-worklet';
import { ApiError, type Api } from '../api/client';
import { audioFile, audioSamples } from '../api/endpoints';
import { filesOf } from '../project/files';
import type { Project } from '../project/model';
import { readFloatSamples, readFloatWavLayout, type FloatWavLayout } from './wav';

/**
 * Largest file that is loaded whole, in bytes of samples. This is three minutes of stereo at 48
 * kHz, or half a minute at 192 kHz, the longest impulse response.
 */
const WHOLE_MAX_BYTES = 64 * 1024 * 1024;
/** Limit on all files that are loaded whole together; impulse responses may exceed it. */
const ALL_WHOLE_MAX_BYTES = 512 * 1024 * 1024;
/** HTTP status: there is no such file. */
const NOT_FOUND = 404;
/** Bytes of a whole file that are fetched at a time. */
const CHUNK_BYTES = 1024 * 1024;
/** Bytes that contain the header of a file. */
const HEADER_BYTES = 4096;
/** Maximum number of frames of a streamed file that are fetched at a time. */
const BLOCK_FRAMES = 16_384;

type WantedAudio = Parameters<Parameters<EngineClient['onWantedAudio']>[0]>[0][number];

/**
 * The life of a file: `queued`, then `loading` or `streamed`, then `whole`. A streamed file that
 * becomes an impulse response goes on to `loading`, and keeps its stream until it is whole.
 */
type FileState =
  | { kind: 'queued' }
  | { kind: 'loading'; bytes: number; stream: FloatWavLayout | null }
  | { kind: 'whole'; bytes: number }
  | { kind: 'streamed'; stream: FloatWavLayout; retry: boolean }
  | { kind: 'failed'; retry: boolean };

/**
 * A file of the project. `retry` of its state asks for another attempt at the next {@link
 * ClipAudio.retry}.
 */
type ProjectFile = { id: string; isImpulse: boolean; state: FileState };

export class ClipAudio {
  readonly #api: Api;
  /** Called when the engine has more audio: sessions set from now on can play it. */
  readonly #changed: () => void;
  readonly #failed: (fileId: string, error: unknown) => void;
  #engine: EngineClient | null = null;
  readonly #files = new Map<string, ProjectFile>();
  /** Clips for which a block is being fetched. */
  readonly #fetching = new Set<string>();
  #loading: Promise<void> = Promise.resolve();

  constructor(api: Api, changed: () => void, failed: (fileId: string, error: unknown) => void) {
    this.#api = api;
    this.#changed = changed;
    this.#failed = failed;
  }

  /**
   * Loads the files of a project into the engine, and drops files that the project no longer has.
   */
  assign(engine: EngineClient, project: Project): void {
    if (engine !== this.#engine) this.#startOver(engine);
    const { clips, impulses } = filesOf(project);
    for (const id of this.#files.keys()) {
      if (clips.has(id) || impulses.has(id)) continue;
      this.#files.delete(id);
      engine.dropAudio(id);
    }
    for (const id of new Set([...clips, ...impulses])) {
      const isImpulse = impulses.has(id);
      const file = this.#files.get(id);
      if (!file) this.#add(engine, id, isImpulse);
      else if (isImpulse && !file.isImpulse) {
        file.isImpulse = true;
        this.#enqueue(engine, file);
      }
    }
  }

  /** Tries again to load the files that failed, except those that the service does not have. */
  retry(): void {
    const engine = this.#engine;
    if (!engine) return;
    for (const file of this.#files.values()) {
      const { state } = file;
      if (!('retry' in state && state.retry)) continue;
      file.state = { ...state, retry: false };
      this.#enqueue(engine, file);
    }
  }

  /** Resolves when every file that was asked for is loaded, or has failed. */
  async settled(): Promise<void> {
    let last: Promise<void>;
    do {
      last = this.#loading;
      await last;
    } while (last !== this.#loading);
  }

  #startOver(engine: EngineClient): void {
    this.#engine = engine;
    this.#files.clear();
    this.#fetching.clear();
    engine.onWantedAudio((wanted) => {
      if (engine === this.#engine) for (const block of wanted) void this.#fetchBlock(engine, block);
    });
  }

  #add(engine: EngineClient, id: string, isImpulse: boolean): void {
    const file: ProjectFile = { id, isImpulse, state: { kind: 'queued' } };
    this.#files.set(id, file);
    this.#enqueue(engine, file);
  }

  #enqueue(engine: EngineClient, file: ProjectFile): void {
    this.#loading = this.#loading.then(() => this.#load(engine, file));
  }

  async #load(engine: EngineClient, file: ProjectFile): Promise<void> {
    const { id } = file;
    const isWanted = (): boolean => engine === this.#engine && !engine.ended && this.#files.get(id) === file;
    if (!isWanted() || file.state.kind === 'whole') return;
    const stream = streamOf(file);
    try {
      const { sampleRate } = engine.context;
      const { sample_rate_hz: fileRateHz } = await audioFile(this.#api, id);
      const layout = readFloatWavLayout(await audioSamples(this.#api, id, sampleRate, [0, HEADER_BYTES]));
      if (!isWanted()) return;
      const bytes = layout.frames * layout.channels * 4;
      if (this.#fitsWhole(file, bytes)) {
        file.state = { kind: 'loading', bytes, stream };
        await engine.loadAudio(id, layout, fileRateHz, this.#chunks(id, layout.startBytes, bytes, sampleRate));
        file.state = { kind: 'whole', bytes };
      } else if (!stream) {
        file.state = { kind: 'streamed', stream: layout, retry: false };
        await engine.streamAudio(id, layout.frames, fileRateHz);
      }
      if (isWanted()) this.#changed();
    } catch (error) {
      if (!isWanted()) return;
      const retry = !(error instanceof ApiError && error.status === NOT_FOUND);
      file.state = stream ? { kind: 'streamed', stream, retry } : { kind: 'failed', retry };
      this.#failed(id, error);
    }
  }

  #fitsWhole(file: ProjectFile, bytes: number): boolean {
    let all = bytes;
    for (const { state } of this.#files.values()) if ('bytes' in state) all += state.bytes;
    return bytes <= WHOLE_MAX_BYTES && (file.isImpulse || all <= ALL_WHOLE_MAX_BYTES);
  }

  async *#chunks(id: string, startBytes: number, bytes: number, rateHz: number): AsyncGenerator<Uint8Array> {
    for (let from = 0; from < bytes; from += CHUNK_BYTES) {
      const to = Math.min(bytes, from + CHUNK_BYTES);
      yield new Uint8Array(await audioSamples(this.#api, id, rateHz, [startBytes + from, startBytes + to]));
    }
  }

  /** Fetches a block of a streamed file for a clip; one at a time for each clip. */
  async #fetchBlock(engine: EngineClient, wanted: WantedAudio): Promise<void> {
    const clip = `${wanted.trackId} ${wanted.clip}`;
    const id = engine.audioIn(wanted.slot);
    const file = id === undefined ? undefined : this.#files.get(id);
    const layout = file && streamOf(file);
    if (!file || !layout || this.#fetching.has(clip)) return;
    this.#fetching.add(clip);
    try {
      const frameBytes = 4 * layout.channels;
      const from = layout.startBytes + wanted.sourceFrame * frameBytes;
      const to = from + Math.min(BLOCK_FRAMES, wanted.frames) * frameBytes;
      const [left, right = left] = readFloatSamples(
        await audioSamples(this.#api, file.id, engine.context.sampleRate, [from, to]),
        layout.channels,
      );
      // The slot may hold another file by now.
      const isCurrent = engine === this.#engine && engine.audioIn(wanted.slot) === file.id;
      if (left && right && isCurrent) engine.fillAudio(wanted, left, right);
    } catch {
      // The engine plays missing blocks as silence, counts them, and asks for them again.
    } finally {
      this.#fetching.delete(clip);
    }
  }
}

/** The layout by which blocks of a file are fetched; null if it is not streamed. */
function streamOf({ state }: ProjectFile): FloatWavLayout | null {
  return 'stream' in state ? state.stream : null;
}
