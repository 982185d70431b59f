/**
 * Lets the service render tracks whose notes the page's engine does not play: tracks with a VST
 * instrument always, and SoundFont tracks for `instrument_sound` "server". The engine plays the
 * rendered audio. Until the audio of a SoundFont track arrives, the engine renders the same samples
 * itself. A plugin track is silent until its first audio arrives.
 */
import type { EngineClient } from '@songfoundry/web-worklet';
import { ApiError, reasonOf, type Api } from '../api/client';
import { renderPlugin, renderSoundFont } from '../api/endpoints';
import type { MidiRenderRequest } from '../api/types';
import { isPluginEngine, type Project, type Track } from '../project/model';
import { voiceSettings } from '../project/sound-settings';
import { planRenders, type PlannedRender } from './render-plan';
import type { Renderer, RenderRequest } from './render-requests';
import { readFloatWav } from './wav';

/** Time after an edit until the track is rendered again, in milliseconds. */
const SETTLE_MS = 700;

/** Header in which the service names problems of a plugin's sound. */
const PLUGIN_WARNINGS = 'X-Plugin-Warnings';

/** Reason why a plugin track of a long song is not rendered. */
const OVERSIZED = 'The song is too long: the audio of its plugin tracks does not fit into the memory of this page.';

/** State of a track that the service renders. */
export type RenderState =
  | { kind: 'rendering' }
  /** The engine plays the audio. `isSilent`: a plugin made no sound although there are notes. */
  | { kind: 'ready'; isSilent: boolean }
  | { kind: 'failed'; reason: string }
  /** The service has no such plugin. */
  | { kind: 'missing' };

/** The data on which the audio of a track depends. */
type Inputs = {
  items: Track['items'];
  engine: Track['synth_engine'];
  tempo: Project['tempo_map'];
  rateHz: number;
  /** As JSON text: settings of the voices, or state, values and automation of the plugin. */
  settings: string;
};

type Rendering = { renderer: Renderer; inputs: Inputs; abort: AbortController };
type TrackState = { renderer: Renderer; state: RenderState };
type TrackAudio = NonNullable<Parameters<EngineClient['setTrackAudio']>[1]>;

/** Number of tracks of a renderer, and how many of them play audio of the service. */
export type RenderCount = { requested: number; ready: number };

function inputsOf(project: Project, { track, request }: PlannedRender): Inputs {
  return {
    items: track.items,
    engine: track.synth_engine,
    tempo: project.tempo_map,
    rateHz: project.sample_rate_hz,
    settings: JSON.stringify(request.renderer === 'soundfont' ? voiceSettings(project) : pluginSettings(request.body)),
  };
}

function pluginSettings({ state, params, automation }: MidiRenderRequest): object {
  return { state, params, automation };
}

/** Whether two inputs are equal, except for their items. */
function haveSameSound(a: Inputs, b: Inputs): boolean {
  const hasSameEngine = a.engine === b.engine || JSON.stringify(a.engine) === JSON.stringify(b.engine);
  return hasSameEngine && haveSameTime(a, b) && a.settings === b.settings;
}

/** Whether the notes of two inputs, if they are equal, are at the same times. */
function haveSameTime(a: Inputs, b: Inputs): boolean {
  return a.tempo === b.tempo && a.rateHz === b.rateHz;
}

/** Whether two inputs have the same plugin, whatever its settings. */
function haveSamePlugin({ engine: a }: Inputs, { engine: b }: Inputs): boolean {
  return isPluginEngine(a) && isPluginEngine(b) && a.type === b.type && a.plugin_id === b.plugin_id;
}

/**
 * Returns the audio of a rendered file.
 *
 * @throws {Error} if the file has other channels or another sample rate than requested.
 */
function audioOf({ renderer, body }: RenderRequest, file: ArrayBuffer): TrackAudio {
  const { channels, sampleRateHz } = readFloatWav(file);
  if (sampleRateHz !== body.sample_rate_hz) {
    throw new Error(`the service rendered at ${sampleRateHz} Hz instead of ${body.sample_rate_hz} Hz`);
  }
  const [left, right, reverb, chorus] = channels;
  const expectedChannels = renderer === 'plugin' ? 2 : 4;
  if (channels.length !== expectedChannels || !left || !right) {
    throw new Error(`the service rendered ${channels.length} channels instead of ${expectedChannels}`);
  }
  // The engine reads silence after the end of a channel, so empty channels are silent.
  return { left, right, reverb: reverb ?? new Float32Array(), chorus: chorus ?? new Float32Array() };
}

export class ServerSound {
  /** States of the tracks that the service renders, by their ids. */
  #states = $state.raw<ReadonlyMap<string, TrackState>>(new Map());
  readonly #api: Api;
  readonly #onFailure: (error: unknown) => void;
  /** Renderings by the id of their track. */
  readonly #renderings = new Map<string, Rendering>();
  /** Ids of the tracks that play audio of the service. */
  readonly #audibleIds = new Set<string>();
  /** The last render of each renderer. A slow plugin does not delay SoundFont tracks. */
  readonly #queues: Record<Renderer, Promise<void>> = { soundfont: Promise.resolve(), plugin: Promise.resolve() };

  /** `onFailure` reports a SoundFont track that failed. The page's engine renders that track. */
  constructor(api: Api, onFailure: (error: unknown) => void) {
    this.#api = api;
    this.#onFailure = onFailure;
  }

  /** Returns the state of a track; null if the service does not render the track. */
  stateOf(trackId: string): RenderState | null {
    return this.#states.get(trackId)?.state ?? null;
  }

  /** Counts the tracks of a renderer, except those that failed or whose plugin is missing. */
  countOf(renderer: Renderer): RenderCount {
    const count: RenderCount = { requested: 0, ready: 0 };
    for (const { renderer: ofTrack, state } of this.#states.values()) {
      if (ofTrack !== renderer || state.kind === 'failed' || state.kind === 'missing') continue;
      count.requested += 1;
      if (state.kind === 'ready') count.ready += 1;
    }
    return count;
  }

  /**
   * Renders the tracks that changed since the last call. `lengthFrames` is the length of the song.
   */
  update(engine: EngineClient, project: Project, lengthFrames: number, rendersSoundFonts: boolean): void {
    const { renders, oversized } = planRenders(project, lengthFrames, rendersSoundFonts);
    const plannedIds = new Set(renders.map(({ track }) => track.id));
    for (const id of [...this.#states.keys()]) if (!plannedIds.has(id)) this.forget(engine, id);
    for (const { track, request } of oversized) {
      this.#setState(track.id, request.renderer, { kind: 'failed', reason: OVERSIZED });
    }
    for (const planned of renders) this.#renderIfChanged(engine, project, planned);
  }

  /** Removes the audio of a track, which the next {@link update} renders again. */
  forget(engine: EngineClient | null, trackId: string): void {
    this.#renderings.get(trackId)?.abort.abort();
    this.#renderings.delete(trackId);
    this.#silence(engine, trackId);
    const states = new Map(this.#states);
    if (states.delete(trackId)) this.#states = states;
  }

  /** Removes the audio of all tracks of a renderer, as {@link forget} does. */
  forgetAll(engine: EngineClient | null, renderer: Renderer): void {
    for (const [id, track] of [...this.#states]) if (track.renderer === renderer) this.forget(engine, id);
  }

  /** Ends all renderings and removes their audio; `engine` is null if the engine has failed. */
  stop(engine: EngineClient | null): void {
    for (const id of [...this.#states.keys()]) this.forget(engine, id);
  }

  #renderIfChanged(engine: EngineClient, project: Project, planned: PlannedRender): void {
    const { track, request } = planned;
    const inputs = inputsOf(project, planned);
    const previous = this.#renderings.get(track.id);
    const isSameSound = previous?.renderer === request.renderer && haveSameSound(previous.inputs, inputs);
    if (isSameSound && previous.inputs.items === inputs.items) return;
    // After an edit of its notes or of the plugin's settings, a plugin track plays its earlier audio
    // until the new one arrives.
    if (previous && haveSamePlugin(previous.inputs, inputs) && haveSameTime(previous.inputs, inputs)) previous.abort.abort();
    else this.forget(engine, track.id);
    const rendering: Rendering = { renderer: request.renderer, inputs, abort: new AbortController() };
    this.#renderings.set(track.id, rendering);
    this.#setState(track.id, request.renderer, { kind: 'rendering' });
    const notBeforeMs = performance.now() + (previous ? SETTLE_MS : 0);
    const render = (): Promise<void> => this.#render(engine, track.id, rendering, request, notBeforeMs);
    this.#queues[request.renderer] = this.#queues[request.renderer].then(render);
  }

  #silence(engine: EngineClient | null, id: string): void {
    if (this.#audibleIds.delete(id)) engine?.setTrackAudio(id, null);
  }

  #setState(id: string, renderer: Renderer, state: RenderState): void {
    this.#states = new Map(this.#states).set(id, { renderer, state });
  }

  async #render(engine: EngineClient, id: string, rendering: Rendering, request: RenderRequest, notBeforeMs: number): Promise<void> {
    const { signal } = rendering.abort;
    const waitMs = notBeforeMs - performance.now();
    if (waitMs > 0 && !signal.aborted) await new Promise((resolve) => setTimeout(resolve, waitMs));
    if (signal.aborted) return;
    try {
      const response = await this.#request(request, signal);
      const audio = audioOf(request, await response.arrayBuffer());
      if (signal.aborted) return;
      engine.setTrackAudio(id, audio);
      this.#audibleIds.add(id);
      const isSilent = response.headers.get(PLUGIN_WARNINGS)?.includes('silent') ?? false;
      this.#setState(id, request.renderer, { kind: 'ready', isSilent });
    } catch (error) {
      if (!signal.aborted) this.#fail(engine, id, request.renderer, error);
    }
  }

  #request(request: RenderRequest, signal: AbortSignal): Promise<Response> {
    return request.renderer === 'plugin'
      ? renderPlugin(this.#api, request.body, signal)
      : renderSoundFont(this.#api, request.body, signal);
  }

  #fail(engine: EngineClient, id: string, renderer: Renderer, error: unknown): void {
    this.#silence(engine, id);
    const isMissing = renderer === 'plugin' && error instanceof ApiError && error.status === 404;
    this.#setState(id, renderer, isMissing ? { kind: 'missing' } : { kind: 'failed', reason: reasonOf(error) });
    if (renderer === 'soundfont') this.#onFailure(error);
  }
}
