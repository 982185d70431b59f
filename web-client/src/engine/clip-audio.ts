/** Audio files that the engine plays: short ones are given to it whole, long ones as they are wanted. */
import type { SongEngine } from '@songfoundry/web-worklet';
import type { Api } from '../api/client';
import { audioFile, audioSamples } from '../api/endpoints';
import { fileIdOf } from '../project/audio-time';
import type { Project } from '../project/model';
import { readFloatSamples, readFloatWav, readFloatWavLayout, type FloatWavLayout } from './wav';

/** Largest file that the engine takes whole, in bytes of samples: three minutes of stereo at 48 kHz. */
const WHOLE_MAX_BYTES = 64 * 1024 * 1024;
/** Bytes in which the head of a file lies. */
const HEAD_BYTES = 4096;
/** Most frames of a long file that are fetched at a time. */
const PIECE_FRAMES = 16_384;

type WantedAudio = Parameters<Parameters<SongEngine['onWantedAudio']>[0]>[0][number];

/** Ids of the files that the clips of a project play, and of those that its effects take whole. */
export function filesOf(project: Project): { clips: Set<string>; impulses: Set<string> } {
  const clips = new Set<string>();
  const impulses = new Set<string>();
  for (const track of project.tracks) {
    for (const item of track.items) {
      const id = item.type === 'audio' ? fileIdOf(item) : null;
      if (id !== null) clips.add(id);
    }
  }
  for (const { effects = [] } of [...project.tracks, project.master]) {
    for (const effect of effects) {
      if (effect.type === 'builtin' && effect.impulse !== undefined) impulses.add(effect.impulse);
    }
  }
  return { clips, impulses };
}

export class ClipAudio {
  readonly #api: Api;
  /** Called when the engine has more audio than before: projects set from now on can play it. */
  readonly #changed: () => void;
  readonly #failed: (fileId: string, error: unknown) => void;
  #engine: SongEngine | null = null;
  readonly #known = new Set<string>();
  readonly #streams = new Map<string, FloatWavLayout>();
  readonly #onTheWay = new Set<string>();
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
    for (const id of this.#known) {
      if (clips.has(id) || impulses.has(id)) continue;
      this.#known.delete(id);
      this.#streams.delete(id);
      engine.dropAudio(id);
    }
    for (const id of new Set([...clips, ...impulses])) {
      if (this.#known.has(id)) continue;
      this.#known.add(id);
      this.#loading = this.#loading.then(() => this.#load(engine, id, impulses.has(id)));
    }
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
    this.#streams.clear();
    this.#onTheWay.clear();
    engine.onWantedAudio((wanted) => {
      if (engine === this.#engine) for (const one of wanted) void this.#bring(engine, one);
    });
  }

  async #load(engine: SongEngine, id: string, whole: boolean): Promise<void> {
    const wanted = (): boolean => engine === this.#engine && this.#known.has(id);
    if (!wanted()) return;
    try {
      const { sampleRate } = engine.context;
      const { sample_rate_hz: fileRateHz } = await audioFile(this.#api, id);
      const layout = readFloatWavLayout(await audioSamples(this.#api, id, sampleRate, [0, HEAD_BYTES]));
      if (whole || layout.frames * layout.channels * 4 <= WHOLE_MAX_BYTES) {
        const { channels } = readFloatWav(await audioSamples(this.#api, id, sampleRate));
        const [left, right = null] = channels;
        if (left && wanted()) await engine.loadAudio(id, { left, right }, fileRateHz);
      } else if (wanted()) {
        this.#streams.set(id, layout);
        await engine.streamAudio(id, layout.frames, fileRateHz);
      }
      if (wanted()) this.#changed();
    } catch (error) {
      if (wanted()) this.#failed(id, error);
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
