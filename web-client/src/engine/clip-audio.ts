/** Audio files that the engine plays: short ones are given to it whole while there is room, the others as they are wanted. */
import type { SongEngine } from '@songfoundry/web-worklet';
import { ApiError, type Api } from '../api/client';
import { audioFile, audioSamples } from '../api/endpoints';
import { filesOf } from '../project/files';
import type { Project } from '../project/model';
import { readFloatSamples, readFloatWavLayout, type FloatWavLayout } from './wav';

/**
 * Largest file that the engine takes whole, in bytes of samples: three minutes of stereo at 48 kHz, and every impulse
 * response that an effect takes, half a minute at 192 kHz.
 */
const WHOLE_MAX_BYTES = 64 * 1024 * 1024;
/** What the engine takes whole of all files together; impulse responses come in beyond that, too. */
const ALL_WHOLE_MAX_BYTES = 512 * 1024 * 1024;
/** HTTP: there is no such file. */
const NOT_FOUND = 404;
/** Bytes of a file taken whole that are fetched at a time. */
const CHUNK_BYTES = 1024 * 1024;
/** Bytes in which the head of a file lies. */
const HEAD_BYTES = 4096;
/** Most frames of a long file that are fetched at a time. */
const PIECE_FRAMES = 16_384;

type WantedAudio = Parameters<Parameters<SongEngine['onWantedAudio']>[0]>[0][number];

export class ClipAudio {
  readonly #api: Api;
  /** Called when the engine has more audio than before: projects set from now on can play it. */
  readonly #changed: () => void;
  readonly #failed: (fileId: string, error: unknown) => void;
  #engine: SongEngine | null = null;
  /** Files of the project, and whether they have to be there whole. */
  readonly #known = new Map<string, boolean>();
  /** Bytes of the files that are there whole, or on the way. */
  readonly #whole = new Map<string, number>();
  readonly #streams = new Map<string, FloatWavLayout>();
  readonly #onTheWay = new Set<string>();
  /** Files that could not be loaded, but may be the next time. */
  readonly #lost = new Set<string>();
  #loading: Promise<void> = Promise.resolve();

  constructor(api: Api, changed: () => void, failed: (fileId: string, error: unknown) => void) {
    this.#api = api;
    this.#changed = changed;
    this.#failed = failed;
  }

  /** Gives the engine what a project plays, and takes back what it no longer does. */
  assign(engine: SongEngine, project: Project): void {
    if (engine !== this.#engine) this.#begin(engine);
    const { clips, impulses } = filesOf(project);
    for (const id of this.#known.keys()) {
      if (clips.has(id) || impulses.has(id)) continue;
      this.#known.delete(id);
      this.#whole.delete(id);
      this.#streams.delete(id);
      this.#lost.delete(id);
      engine.dropAudio(id);
    }
    for (const id of new Set([...clips, ...impulses])) {
      const whole = impulses.has(id);
      const before = this.#known.get(id);
      if (before !== undefined && (before || !whole)) continue;
      this.#known.set(id, whole);
      this.#enqueue(engine, id);
    }
  }

  /** Tries again to load the files that could not be loaded, but for those that the service does not have. */
  retry(): void {
    if (this.#engine) for (const id of this.#lost) this.#enqueue(this.#engine, id);
    this.#lost.clear();
  }

  /** Resolves when everything that was asked for is there, or has failed. */
  async settled(): Promise<void> {
    let last: Promise<void>;
    do {
      last = this.#loading;
      await last;
    } while (last !== this.#loading);
  }

  #begin(engine: SongEngine): void {
    this.#engine = engine;
    this.#known.clear();
    this.#whole.clear();
    this.#streams.clear();
    this.#onTheWay.clear();
    this.#lost.clear();
    engine.onWantedAudio((wanted) => {
      if (engine === this.#engine) for (const one of wanted) void this.#bring(engine, one);
    });
  }

  #enqueue(engine: SongEngine, id: string): void {
    this.#loading = this.#loading.then(() => this.#load(engine, id));
  }

  async #load(engine: SongEngine, id: string): Promise<void> {
    const wanted = (): boolean => engine === this.#engine && !engine.ended && this.#known.has(id);
    if (!wanted() || this.#whole.has(id)) return;
    const wasStreamed = this.#streams.has(id);
    try {
      const { sampleRate } = engine.context;
      const { sample_rate_hz: fileRateHz } = await audioFile(this.#api, id);
      const layout = readFloatWavLayout(await audioSamples(this.#api, id, sampleRate, [0, HEAD_BYTES]));
      if (!wanted()) return;
      const bytes = layout.frames * layout.channels * 4;
      if (this.#isTakenWhole(id, bytes)) {
        this.#whole.set(id, bytes);
        await engine.loadAudio(id, layout, fileRateHz, this.#chunks(id, layout.startBytes, bytes, sampleRate));
        if (wanted()) this.#streams.delete(id);
      } else if (!wasStreamed) {
        this.#streams.set(id, layout);
        await engine.streamAudio(id, layout.frames, fileRateHz);
      }
      if (wanted()) this.#changed();
    } catch (error) {
      if (!wanted()) return;
      this.#whole.delete(id);
      if (!wasStreamed) this.#streams.delete(id);
      if (!(error instanceof ApiError && error.status === NOT_FOUND)) this.#lost.add(id);
      this.#failed(id, error);
    }
  }

  #isTakenWhole(id: string, bytes: number): boolean {
    const all = [...this.#whole.values()].reduce((sum, one) => sum + one, bytes);
    return bytes <= WHOLE_MAX_BYTES && (this.#known.get(id) === true || all <= ALL_WHOLE_MAX_BYTES);
  }

  async *#chunks(id: string, startBytes: number, bytes: number, rateHz: number): AsyncGenerator<Uint8Array> {
    for (let from = 0; from < bytes; from += CHUNK_BYTES) {
      const to = Math.min(bytes, from + CHUNK_BYTES);
      yield new Uint8Array(await audioSamples(this.#api, id, rateHz, [startBytes + from, startBytes + to]));
    }
  }

  /** Fetches a piece of a long file for a clip; one at a time for each. */
  async #bring(engine: SongEngine, wanted: WantedAudio): Promise<void> {
    const clip = `${wanted.trackId} ${wanted.clip}`;
    const id = engine.audioIn(wanted.slot);
    const layout = id === undefined ? undefined : this.#streams.get(id);
    if (id === undefined || !layout || this.#onTheWay.has(clip)) return;
    this.#onTheWay.add(clip);
    try {
      const frameBytes = 4 * layout.channels;
      const from = layout.startBytes + wanted.sourceFrame * frameBytes;
      const to = from + Math.min(PIECE_FRAMES, wanted.frames) * frameBytes;
      const [left, right = left] = readFloatSamples(
        await audioSamples(this.#api, id, engine.context.sampleRate, [from, to]),
        layout.channels,
      );
      // The slot may hold another file by now.
      if (left && right && engine === this.#engine && engine.audioIn(wanted.slot) === id) engine.fillAudio(wanted, left, right);
    } catch {
      // What does not come is silence, is counted, and is asked for again.
    } finally {
      this.#onTheWay.delete(clip);
    }
  }
}
