/**
 * Loads the audio files of a song and the sounds of its plugins into the engine. Short files are
 * loaded whole, up to a memory limit. Other files are streamed: the engine requests the blocks that
 * its clips play next.
 */
import type { EngineClient } from '@songfoundry/web-worklet';
import { ApiError, type Api } from '../api/client';
import { audioFile, downloadAudioSamples } from '../api/endpoints';
import { downloadPluginSound } from '../api/plugins';
import { filesOf } from '../project/files';
import type { Project } from '../project/model';
import { soundIdOf } from './plugin-sounds.svelte';
import { readFloatSamples, readFloatWavLayout, type FloatWavLayout } from './wav';

/**
 * Size of the largest file that is loaded whole, in bytes of samples. It suffices for almost three
 * minutes of stereo at 48 kHz, and for the longest impulse response, half a minute at 192 kHz.
 */
const WHOLE_MAX_BYTES = 64 * 1024 * 1024;
/** Limit on all files together that are loaded whole, in bytes. Impulse responses may exceed it. */
const ALL_WHOLE_MAX_BYTES = 512 * 1024 * 1024;
/**
 * Limit on all sounds of plugins together that are loaded whole, in bytes. Sounds are as long as
 * the song, so most are streamed, and only those of short songs play at once after an edit.
 */
const SOUNDS_WHOLE_MAX_BYTES = 16 * 1024 * 1024;
/** HTTP status of an answer for a file that the service does not have. */
const NOT_FOUND = 404;
/** Number of bytes that one request fetches of a file that is loaded whole. */
const CHUNK_BYTES = 1024 * 1024;
/** Number of bytes at the start of a WAV file that are fetched to read its header. */
const HEADER_BYTES = 4096;
/** Maximum number of frames that one request fetches of a streamed file. */
const BLOCK_FRAMES = 16_384;

/** A block of a streamed file that the engine requests. */
type RequestedBlock = Parameters<Parameters<EngineClient['onWantedAudio']>[0]>[0][number];

/**
 * The states of a file: first `queued`, then `loading` and `whole`, or `streamed`. A streamed file
 * that becomes an impulse response changes to `loading`; it is still streamed until it is whole.
 * Another attempt to load the file is made in {@link ClipAudio.retryFailed} if `canRetry` is true.
 */
type FileState =
  | { kind: 'queued' }
  | { kind: 'loading'; bytes: number; stream: FloatWavLayout | null }
  | { kind: 'whole'; bytes: number }
  | { kind: 'streamed'; stream: FloatWavLayout; canRetry: boolean }
  | { kind: 'failed'; canRetry: boolean };

type ProjectFile = { id: string; isImpulse: boolean; state: FileState };

export class ClipAudio {
  readonly #api: Api;
  /** Called when the engine has one more file, which sessions can play from now on. */
  readonly #onLoaded: () => void;
  readonly #onFailure: (fileId: string, error: unknown) => void;
  #engine: EngineClient | null = null;
  readonly #files = new Map<string, ProjectFile>();
  /** Keys, made of track id and clip index, of the clips for which a block is being fetched. */
  readonly #fetchingClips = new Set<string>();
  /** Resolves when each file that was enqueued so far is loaded or has failed to load. */
  #loadEnd: Promise<void> = Promise.resolve();

  constructor(api: Api, onLoaded: () => void, onFailure: (fileId: string, error: unknown) => void) {
    this.#api = api;
    this.#onLoaded = onLoaded;
    this.#onFailure = onFailure;
  }

  /**
   * Loads the files of a project and the sounds of its plugins into the engine, and drops those
   * that the project no longer has. `soundFileIds` are the ids of the sounds, as `fileIdOfSound`
   * makes them.
   */
  assign(engine: EngineClient, project: Project, soundFileIds: readonly string[] = []): void {
    if (engine !== this.#engine) this.#startOver(engine);
    const { clips, impulses } = filesOf(project);
    for (const id of soundFileIds) clips.add(id);
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

  /** Removes a file, which is loaded again if {@link assign} gets its id. */
  forget(id: string): void {
    if (this.#files.delete(id)) this.#engine?.dropAudio(id);
  }

  /** Whether sessions can play a file. */
  canPlay(id: string): boolean {
    const kind = this.#files.get(id)?.state.kind;
    return kind === 'whole' || kind === 'streamed';
  }

  /**
   * Repeats the loading of files that failed to load, except files that the service does not have.
   */
  retryFailed(): void {
    const engine = this.#engine;
    if (!engine) return;
    for (const file of this.#files.values()) {
      const { state } = file;
      if (!('canRetry' in state && state.canRetry)) continue;
      file.state = { ...state, canRetry: false };
      this.#enqueue(engine, file);
    }
  }

  /** Resolves when every file of the project is loaded or has failed to load. */
  async settled(): Promise<void> {
    let lastLoadEnd: Promise<void>;
    do {
      lastLoadEnd = this.#loadEnd;
      await lastLoadEnd;
    } while (lastLoadEnd !== this.#loadEnd);
  }

  #startOver(engine: EngineClient): void {
    this.#engine = engine;
    this.#files.clear();
    this.#fetchingClips.clear();
    engine.onWantedAudio((blocks) => {
      if (engine === this.#engine) for (const block of blocks) void this.#fetchBlock(engine, block);
    });
  }

  #add(engine: EngineClient, id: string, isImpulse: boolean): void {
    const file: ProjectFile = { id, isImpulse, state: { kind: 'queued' } };
    this.#files.set(id, file);
    this.#enqueue(engine, file);
  }

  #enqueue(engine: EngineClient, file: ProjectFile): void {
    this.#loadEnd = this.#loadEnd.then(() => this.#load(engine, file));
  }

  async #load(engine: EngineClient, file: ProjectFile): Promise<void> {
    const { id } = file;
    const isStillNeeded = (): boolean => engine === this.#engine && !engine.hasEnded && this.#files.get(id) === file;
    if (!isStillNeeded() || file.state.kind === 'whole') return;
    const stream = streamOf(file);
    try {
      const { sampleRate } = engine.context;
      const isSound = soundIdOf(id) !== null;
      const fileRateHz = isSound ? sampleRate : (await audioFile(this.#api, id)).sample_rate_hz;
      const layout = readFloatWavLayout(await this.#download(id, sampleRate, [0, HEADER_BYTES]));
      if (!isStillNeeded()) return;
      const bytes = layout.frames * layout.channels * 4;
      if (this.#fitsWhole(file, bytes)) {
        file.state = { kind: 'loading', bytes, stream };
        await engine.loadAudio(id, layout, fileRateHz, this.#chunks(id, layout.startBytes, bytes, sampleRate));
        file.state = { kind: 'whole', bytes };
      } else if (!stream) {
        file.state = { kind: 'streamed', stream: layout, canRetry: false };
        await engine.streamAudio(id, layout.frames, fileRateHz);
      }
      if (isStillNeeded()) this.#onLoaded();
    } catch (error) {
      if (!isStillNeeded()) return;
      const canRetry = !(error instanceof ApiError && error.status === NOT_FOUND);
      file.state = stream ? { kind: 'streamed', stream, canRetry } : { kind: 'failed', canRetry };
      this.#onFailure(id, error);
    }
  }

  #fitsWhole(file: ProjectFile, bytes: number): boolean {
    const isSound = soundIdOf(file.id) !== null;
    let totalBytes = bytes;
    for (const { id, state } of this.#files.values()) {
      if ('bytes' in state && (soundIdOf(id) !== null) === isSound) totalBytes += state.bytes;
    }
    return bytes <= WHOLE_MAX_BYTES && (file.isImpulse || totalBytes <= (isSound ? SOUNDS_WHOLE_MAX_BYTES : ALL_WHOLE_MAX_BYTES));
  }

  async *#chunks(id: string, startBytes: number, bytes: number, rateHz: number): AsyncGenerator<Uint8Array> {
    for (let fromByte = 0; fromByte < bytes; fromByte += CHUNK_BYTES) {
      const toByte = Math.min(bytes, fromByte + CHUNK_BYTES);
      yield new Uint8Array(await this.#download(id, rateHz, [startBytes + fromByte, startBytes + toByte]));
    }
  }

  /**
   * Downloads bytes of a file, from the first byte of `range` up to, but not including, the last.
   */
  #download(id: string, rateHz: number, range: [from: number, to: number]): Promise<ArrayBuffer> {
    const soundId = soundIdOf(id);
    return soundId === null ? downloadAudioSamples(this.#api, id, rateHz, range) : downloadPluginSound(this.#api, soundId, range);
  }

  /** Fetches a block of a streamed file, unless another block is being fetched for its clip. */
  async #fetchBlock(engine: EngineClient, block: RequestedBlock): Promise<void> {
    const clipKey = `${block.trackId} ${block.clip}`;
    const id = engine.audioIn(block.slot);
    const file = id === undefined ? undefined : this.#files.get(id);
    const layout = file && streamOf(file);
    if (!file || !layout || this.#fetchingClips.has(clipKey)) return;
    this.#fetchingClips.add(clipKey);
    try {
      const frameBytes = 4 * layout.channels;
      const fromByte = layout.startBytes + block.sourceFrame * frameBytes;
      const toByte = fromByte + Math.min(BLOCK_FRAMES, block.frames) * frameBytes;
      const [left, right = left] = readFloatSamples(
        await this.#download(file.id, engine.context.sampleRate, [fromByte, toByte]),
        layout.channels,
      );
      // The engine may have put another file in the slot during the request.
      const isCurrent = engine === this.#engine && engine.audioIn(block.slot) === file.id;
      if (left && right && isCurrent) engine.fillAudio(block, left, right);
    } catch (error) {
      // The engine plays a missing block as silence, counts it, and requests it again. The service
      // may have deleted a sound of a plugin, which is then rendered again.
      const isDeleted = error instanceof ApiError && error.status === NOT_FOUND && soundIdOf(file.id) !== null;
      if (isDeleted && this.#files.get(file.id) === file) this.#onFailure(file.id, error);
    } finally {
      this.#fetchingClips.delete(clipKey);
    }
  }
}

/** Returns the layout that locates the blocks of a streamed file; null for other files. */
function streamOf({ state }: ProjectFile): FloatWavLayout | null {
  return 'stream' in state ? state.stream : null;
}
