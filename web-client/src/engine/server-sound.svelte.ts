/**
 * Lets the service render SoundFont tracks, for `instrument_sound` "server". The service stores the
 * sounds, and the engine plays them from the blocks around the playhead, which are fetched while it
 * plays. Until the first block of a track arrives, the engine renders the same samples itself.
 */
import { STREAM_CHANNELS, type EngineClient, type TrackBlock } from '@songfoundry/web-worklet';
import { ApiError, type Api } from '../api/client';
import { storeSoundFontSound } from '../api/endpoints';
import { downloadPluginSound } from '../api/plugins';
import type { SoundFontRenderRequest } from '../api/types';
import type { Project, Track } from '../project/model';
import { voiceSettings } from '../project/sound-settings';
import { blockFramesFor, planRenders, type PlannedRender } from './render-plan';
import { readFloatSamples, readFloatWavLayout, type FloatWavLayout } from './wav';

/** Time after an edit until the track is rendered again, in milliseconds. */
const SETTLE_MS = 700;

/** HTTP status of an answer for a sound that the service has deleted. */
const NOT_FOUND = 404;
/** Number of bytes at the start of a WAV file that are fetched to read its header. */
const HEADER_BYTES = 4096;
/** Bytes of a frame of rendered audio, which has samples of 32-bit floats. */
const FRAME_BYTES = 4 * STREAM_CHANNELS;

/** The data on which the audio of a track depends. */
type Inputs = {
  items: Track['items'];
  engine: Track['synth_engine'];
  tempo: Project['tempo_map'];
  rateHz: number;
  /** Settings of the voices as JSON text. */
  settings: string;
};

/** A sound that the service has stored. `version` is that of the engine's audio of the track. */
type StoredSound = { soundId: string; layout: FloatWavLayout; version: number };
/** `sound` is null until the service has rendered it. */
type Rendering = { inputs: Inputs; request: SoundFontRenderRequest; abort: AbortController; sound: StoredSound | null };

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

export class ServerSound {
  /**
   * Whether each track that the service renders plays audio of the service, by the track's id: from
   * its first block on.
   */
  #isReady = $state.raw<ReadonlyMap<string, boolean>>(new Map());
  readonly #api: Api;
  readonly #onFailure: (error: unknown) => void;
  /** Renderings by the id of their track. */
  readonly #renderings = new Map<string, Rendering>();
  /** The last render. */
  #queue: Promise<void> = Promise.resolve();
  /** The engine that asks for blocks. */
  #engine: EngineClient | null = null;
  /** Length of the blocks of all tracks, in frames. */
  #blockFrames = 0;
  /** The sounds of which a block is being fetched, by the ids of their tracks. */
  readonly #fetching = new Map<string, StoredSound>();
  #versionCount = 0;

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
    this.#engine = engine;
    engine.onWantedTrackAudio((blocks) => {
      for (const block of blocks) void this.#fetchBlock(engine, block);
    });
    const renders = planRenders(project, lengthFrames);
    this.#useBlocksOf(engine, blockFramesFor(renders.length));
    const plannedIds = new Set(renders.map(({ track }) => track.id));
    for (const id of [...this.#renderings.keys()]) if (!plannedIds.has(id)) this.#forget(engine, id);
    for (const planned of renders) this.#renderIfChanged(engine, project, planned);
  }

  /** Ends all renderings and removes their audio; `engine` is null if the engine has failed. */
  stop(engine: EngineClient | null): void {
    for (const id of [...this.#renderings.keys()]) this.#forget(engine, id);
  }

  /** Streams all tracks in blocks of another length. */
  #useBlocksOf(engine: EngineClient, frames: number): void {
    if (frames === this.#blockFrames) return;
    this.#blockFrames = frames;
    for (const [id, { sound }] of this.#renderings) if (sound) this.#stream(engine, id, sound);
  }

  #forget(engine: EngineClient | null, trackId: string): void {
    const rendering = this.#renderings.get(trackId);
    rendering?.abort.abort();
    if (rendering?.sound) engine?.setTrackAudio(trackId, null);
    this.#renderings.delete(trackId);
    this.#setReady(trackId, null);
  }

  /** Sets whether a track is ready; null for a track that the engine renders. */
  #setReady(trackId: string, isReady: boolean | null): void {
    const flags = new Map(this.#isReady);
    if (isReady === null) flags.delete(trackId);
    else flags.set(trackId, isReady);
    this.#isReady = flags;
  }

  #renderIfChanged(engine: EngineClient, project: Project, { track, request }: PlannedRender): void {
    const inputs = inputsOf(project, track);
    const previous = this.#renderings.get(track.id);
    if (previous && areEqual(previous.inputs, inputs)) return;
    this.#begin(engine, track.id, inputs, request, previous ? SETTLE_MS : 0);
  }

  /** Renders a track after a delay. Its earlier sound is not played any more. */
  #begin(engine: EngineClient, id: string, inputs: Inputs, request: SoundFontRenderRequest, delayMs: number): void {
    this.#forget(engine, id);
    const rendering: Rendering = { inputs, request, abort: new AbortController(), sound: null };
    this.#renderings.set(id, rendering);
    this.#setReady(id, false);
    const notBeforeMs = performance.now() + delayMs;
    this.#queue = this.#queue.then(() => this.#render(engine, id, rendering, notBeforeMs));
  }

  async #render(engine: EngineClient, id: string, rendering: Rendering, notBeforeMs: number): Promise<void> {
    const { signal } = rendering.abort;
    const waitMs = notBeforeMs - performance.now();
    if (waitMs > 0 && !signal.aborted) await new Promise((resolve) => setTimeout(resolve, waitMs));
    if (signal.aborted) return;
    try {
      const { sound_id: soundId } = await storeSoundFontSound(this.#api, rendering.request, signal);
      const layout = readFloatWavLayout(await downloadPluginSound(this.#api, soundId, [0, HEADER_BYTES], signal));
      if (signal.aborted) return;
      checkLayout(layout, rendering.request);
      rendering.sound = { soundId, layout, version: 0 };
      this.#stream(engine, id, rendering.sound);
    } catch (error) {
      if (signal.aborted) return;
      this.#setReady(id, null);
      this.#onFailure(error);
    }
  }

  #stream(engine: EngineClient, trackId: string, sound: StoredSound): void {
    sound.version = this.#versionCount += 1;
    engine.setTrackAudio(trackId, { version: sound.version, frames: sound.layout.frames, blockFrames: this.#blockFrames });
  }

  /**
   * Fetches a block of a track. While another block of its sound is being fetched, the engine asks
   * again later.
   */
  async #fetchBlock(engine: EngineClient, block: TrackBlock): Promise<void> {
    const { trackId, version, startFrame } = block;
    const rendering = this.#renderings.get(trackId);
    const sound = rendering?.sound;
    if (!rendering || !sound || sound.version !== version || engine !== this.#engine || this.#fetching.get(trackId) === sound) return;
    this.#fetching.set(trackId, sound);
    try {
      const { startBytes, frames, channels } = sound.layout;
      const fromByte = startBytes + startFrame * FRAME_BYTES;
      const toByte = fromByte + Math.min(this.#blockFrames, frames - startFrame) * FRAME_BYTES;
      const bytes = await downloadPluginSound(this.#api, sound.soundId, [fromByte, toByte], rendering.abort.signal);
      if (rendering.abort.signal.aborted) return;
      engine.fillTrackAudio(block, readFloatSamples(bytes, channels));
      if (this.#isReady.get(trackId) === false) this.#setReady(trackId, true);
    } catch (error) {
      // The engine plays a missing block as silence, counts it, and asks for it again. The service
      // may have deleted the sound, which is then rendered again.
      const isDeleted = error instanceof ApiError && error.status === NOT_FOUND;
      if (isDeleted && this.#renderings.get(trackId) === rendering) this.#begin(engine, trackId, rendering.inputs, rendering.request, 0);
    } finally {
      if (this.#fetching.get(trackId) === sound) this.#fetching.delete(trackId);
    }
  }
}

/** @throws {Error} if a file has other channels or another sample rate than requested. */
function checkLayout({ channels, sampleRateHz }: FloatWavLayout, { sample_rate_hz: requestedHz }: SoundFontRenderRequest): void {
  if (sampleRateHz !== requestedHz) throw new Error(`the service rendered at ${sampleRateHz} Hz instead of ${requestedHz} Hz`);
  if (channels !== STREAM_CHANNELS) throw new Error(`the service rendered ${channels} channels instead of ${STREAM_CHANNELS}`);
}
