/**
 * Lets the service render SoundFont tracks, for `instrument_sound` "server". The engine plays the
 * rendered audio. Until the audio of a track arrives, the engine renders the same samples itself.
 */
import type { EngineClient } from '@songfoundry/web-worklet';
import type { Api } from '../api/client';
import { renderSoundFont } from '../api/endpoints';
import type { SoundFontRenderRequest } from '../api/types';
import type { Project, Track } from '../project/model';
import { voiceSettings } from '../project/sound-settings';
import { planRenders, type PlannedRender } from './render-plan';
import { readFloatWav } from './wav';

/** Time after an edit until the track is rendered again, in milliseconds. */
const SETTLE_MS = 700;

/** Number of channels of rendered audio: left, right, reverb send and chorus send. */
const CHANNEL_COUNT = 4;

/** The data on which the audio of a track depends. */
type Inputs = {
  items: Track['items'];
  engine: Track['synth_engine'];
  tempo: Project['tempo_map'];
  rateHz: number;
  /** Settings of the voices as JSON text. */
  settings: string;
};

type Rendering = { inputs: Inputs; abort: AbortController };
type TrackAudio = NonNullable<Parameters<EngineClient['setTrackAudio']>[1]>;

/** Number of tracks that the service renders, and how many of them play audio of the service. */
export type RenderCount = { requested: number; ready: number };

function inputsOf(project: Project, { items, synth_engine: engine }: Track): Inputs {
  const { tempo_map: tempo, sample_rate_hz: rateHz } = project;
  return { items, engine, tempo, rateHz, settings: JSON.stringify(voiceSettings(project)) };
}

function areEqual(a: Inputs, b: Inputs): boolean {
  const haveSameEngine = a.engine === b.engine || JSON.stringify(a.engine) === JSON.stringify(b.engine);
  return haveSameEngine && a.items === b.items && a.tempo === b.tempo && a.rateHz === b.rateHz && a.settings === b.settings;
}

/**
 * Returns the audio of a rendered file.
 *
 * @throws {Error} if the file has other channels or another sample rate than requested.
 */
function audioOf({ sample_rate_hz: requestedHz }: SoundFontRenderRequest, file: ArrayBuffer): TrackAudio {
  const { channels, sampleRateHz } = readFloatWav(file);
  if (sampleRateHz !== requestedHz) throw new Error(`the service rendered at ${sampleRateHz} Hz instead of ${requestedHz} Hz`);
  const [left, right, reverb, chorus] = channels;
  if (channels.length !== CHANNEL_COUNT || !left || !right || !reverb || !chorus) {
    throw new Error(`the service rendered ${channels.length} channels instead of ${CHANNEL_COUNT}`);
  }
  return { left, right, reverb, chorus };
}

export class ServerSound {
  /** Whether each track that the service renders plays audio of the service, by the track's id. */
  #isReady = $state.raw<ReadonlyMap<string, boolean>>(new Map());
  readonly #api: Api;
  readonly #onFailure: (error: unknown) => void;
  /** Renderings by the id of their track. */
  readonly #renderings = new Map<string, Rendering>();
  /** The last render. */
  #queue: Promise<void> = Promise.resolve();

  /** `onFailure` reports a track that failed. The page's engine renders that track. */
  constructor(api: Api, onFailure: (error: unknown) => void) {
    this.#api = api;
    this.#onFailure = onFailure;
  }

  /** Counts the tracks, except those that failed. */
  get count(): RenderCount {
    const flags = [...this.#isReady.values()];
    return { requested: flags.length, ready: flags.filter((isReady) => isReady).length };
  }

  /**
   * Renders the tracks that changed since the last call. `lengthFrames` is the length of the song.
   */
  update(engine: EngineClient, project: Project, lengthFrames: number): void {
    const renders = planRenders(project, lengthFrames);
    const plannedIds = new Set(renders.map(({ track }) => track.id));
    for (const id of [...this.#renderings.keys()]) if (!plannedIds.has(id)) this.#forget(engine, id);
    for (const planned of renders) this.#renderIfChanged(engine, project, planned);
  }

  /** Ends all renderings and removes their audio; `engine` is null if the engine has failed. */
  stop(engine: EngineClient | null): void {
    for (const id of [...this.#renderings.keys()]) this.#forget(engine, id);
  }

  #forget(engine: EngineClient | null, trackId: string): void {
    this.#renderings.get(trackId)?.abort.abort();
    this.#renderings.delete(trackId);
    this.#setReady(engine, trackId, null);
  }

  /** Sets whether a track is ready; null for a track that the engine renders. */
  #setReady(engine: EngineClient | null, trackId: string, isReady: boolean | null): void {
    const flags = new Map(this.#isReady);
    if (flags.get(trackId) === true && isReady !== true) engine?.setTrackAudio(trackId, null);
    if (isReady === null) flags.delete(trackId);
    else flags.set(trackId, isReady);
    this.#isReady = flags;
  }

  #renderIfChanged(engine: EngineClient, project: Project, { track, request }: PlannedRender): void {
    const inputs = inputsOf(project, track);
    const previous = this.#renderings.get(track.id);
    if (previous && areEqual(previous.inputs, inputs)) return;
    this.#forget(engine, track.id);
    const rendering: Rendering = { inputs, abort: new AbortController() };
    this.#renderings.set(track.id, rendering);
    this.#setReady(engine, track.id, false);
    const notBeforeMs = performance.now() + (previous ? SETTLE_MS : 0);
    this.#queue = this.#queue.then(() => this.#render(engine, track.id, rendering, request, notBeforeMs));
  }

  async #render(
    engine: EngineClient,
    id: string,
    { abort: { signal } }: Rendering,
    request: SoundFontRenderRequest,
    notBeforeMs: number,
  ): Promise<void> {
    const waitMs = notBeforeMs - performance.now();
    if (waitMs > 0 && !signal.aborted) await new Promise((resolve) => setTimeout(resolve, waitMs));
    if (signal.aborted) return;
    try {
      const response = await renderSoundFont(this.#api, request, signal);
      const audio = audioOf(request, await response.arrayBuffer());
      if (signal.aborted) return;
      engine.setTrackAudio(id, audio);
      this.#setReady(engine, id, true);
    } catch (error) {
      if (signal.aborted) return;
      this.#setReady(engine, id, null);
      this.#onFailure(error);
    }
  }
}
