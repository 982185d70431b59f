/**
 * Lets the service render the SoundFont tracks, for `instrument_sound` "server". The page's engine
 * plays the rendered audio. Until the audio of a new or edited track arrives, the engine renders
 * the same samples itself.
 */
import type { EngineClient } from '@songfoundry/web-worklet';
import type { Api } from '../api/client';
import { renderSoundFont } from '../api/endpoints';
import type { SoundFontRenderRequest } from '../api/types';
import type { Control, Item, Note, Project, Track } from '../project/model';
import { voiceSettings } from '../project/sound-settings';
import { readFloatWav } from './wav';

/**
 * Memory limit for rendered tracks, in bytes. Ten minutes of a track with its sends need 460 MB at
 * 48 kHz, so the service renders only some of the tracks of a long song.
 */
export const AUDIO_MAX_BYTES = 1024 * 1024 * 1024;
/** Bytes of a frame of a rendered track: left, right, reverb send and chorus send, 32-bit float. */
const BYTES_PER_FRAME = 16;

/** Returns how many rendered tracks of a song of `lengthFrames` fit into the memory limit. */
export function maxRenderedTracks(lengthFrames: number): number {
  return lengthFrames <= 0 ? 0 : Math.floor(AUDIO_MAX_BYTES / (lengthFrames * BYTES_PER_FRAME));
}

/** Time after an edit until the track is rendered again, in milliseconds. */
const SETTLE_MS = 700;

/** The data from which a track was or is being rendered. */
type Rendering = {
  items: Item[];
  engine: Track['synth_engine'];
  tempo: Project['tempo_map'];
  rateHz: number;
  settings: string;
  abort: AbortController;
};

/**
 * Returns the request that renders a track; null for a track without a SoundFont or without notes.
 * It is also null if an item selects a bank or program, because a request cannot contain that.
 */
export function renderRequestOf(project: Project, track: Track): SoundFontRenderRequest | null {
  const engine = track.synth_engine;
  if (engine?.type !== 'soundfont') return null;
  const notes: Note[] = [];
  const controls: Control[] = [];
  for (const item of track.items) {
    if (item.type !== 'midi') continue;
    if (item.soundfont_bank !== undefined || item.soundfont_program !== undefined) return null;
    for (const note of item.notes) {
      if (note.tick >= item.length_ticks) continue;
      const lengthTicks = Math.min(note.length_ticks, item.length_ticks - note.tick);
      notes.push({ ...note, tick: note.tick + item.start_tick, length_ticks: lengthTicks });
    }
    for (const control of item.controls) {
      if (control.tick <= item.length_ticks) controls.push({ ...control, tick: control.tick + item.start_tick });
    }
  }
  if (notes.length === 0) return null;
  return {
    notes,
    controls,
    ...(engine.soundfont_id === undefined ? {} : { soundfont_id: engine.soundfont_id }),
    bank: engine.bank,
    program: engine.program,
    tempo_map: project.tempo_map,
    time_base: 'ticks',
    sample_rate_hz: project.sample_rate_hz,
    settings: voiceSettings(project),
    sends: true,
  };
}

export class ServerSound {
  /** Number of tracks that play audio of the service. */
  readyTracks = $state(0);
  /** Number of tracks that the service renders or has rendered. */
  requestedTracks = $state(0);
  readonly #api: Api;
  readonly #onFailure: (error: unknown) => void;
  /** Renderings by the id of their track. */
  readonly #renderings = new Map<string, Rendering>();
  /** Ids of the tracks that play audio of the service. */
  readonly #readyIds = new Set<string>();
  #queue: Promise<void> = Promise.resolve();

  constructor(api: Api, onFailure: (error: unknown) => void) {
    this.#api = api;
    this.#onFailure = onFailure;
  }

  /**
   * Renders the tracks that changed since the last call. `lengthFrames` is the length of the song.
   */
  update(engine: EngineClient, project: Project, lengthFrames: number): void {
    const maxTracks = maxRenderedTracks(lengthFrames);
    const settings = JSON.stringify(voiceSettings(project));
    const trackIds = new Set(project.tracks.map((track) => track.id));
    for (const id of [...this.#renderings.keys()]) if (!trackIds.has(id)) this.#drop(engine, id);
    let requestedTracks = 0;
    for (const track of project.tracks) {
      const request = renderRequestOf(project, track);
      if (!request || requestedTracks >= maxTracks) {
        this.#drop(engine, track.id);
        continue;
      }
      requestedTracks += 1;
      const previous = this.#renderings.get(track.id);
      const isUnchanged =
        previous?.items === track.items &&
        previous.tempo === project.tempo_map &&
        previous.rateHz === project.sample_rate_hz &&
        previous.settings === settings &&
        JSON.stringify(previous.engine) === JSON.stringify(track.synth_engine);
      if (isUnchanged) continue;
      const isFirst = previous === undefined;
      this.#drop(engine, track.id);
      const rendering: Rendering = {
        items: track.items,
        engine: track.synth_engine,
        tempo: project.tempo_map,
        rateHz: project.sample_rate_hz,
        settings,
        abort: new AbortController(),
      };
      this.#renderings.set(track.id, rendering);
      const notBeforeMs = performance.now() + (isFirst ? 0 : SETTLE_MS);
      this.#queue = this.#queue.then(() => this.#render(engine, track.id, rendering, request, notBeforeMs));
    }
    this.requestedTracks = requestedTracks;
    this.readyTracks = this.#readyIds.size;
  }

  /** Lets the page's engine render all tracks again; `engine` is null if the engine has failed. */
  stop(engine: EngineClient | null): void {
    for (const id of [...this.#renderings.keys()]) this.#drop(engine, id);
    this.requestedTracks = 0;
    this.readyTracks = 0;
  }

  #drop(engine: EngineClient | null, id: string): void {
    this.#renderings.get(id)?.abort.abort();
    this.#renderings.delete(id);
    if (this.#readyIds.delete(id)) engine?.setTrackAudio(id, null);
    this.readyTracks = this.#readyIds.size;
  }

  async #render(
    engine: EngineClient,
    id: string,
    rendering: Rendering,
    request: SoundFontRenderRequest,
    notBeforeMs: number,
  ): Promise<void> {
    const { signal } = rendering.abort;
    const waitMs = notBeforeMs - performance.now();
    if (waitMs > 0 && !signal.aborted) await new Promise((resolve) => setTimeout(resolve, waitMs));
    if (signal.aborted) return;
    try {
      const response = await renderSoundFont(this.#api, request, signal);
      const audio = readFloatWav(await response.arrayBuffer());
      if (signal.aborted) return;
      if (audio.sampleRateHz !== request.sample_rate_hz) {
        throw new Error(`the service rendered at ${audio.sampleRateHz} Hz instead of ${request.sample_rate_hz} Hz`);
      }
      const [left, right, reverb, chorus] = audio.channels;
      if (!left || !right || !reverb || !chorus) {
        throw new Error(`the service rendered ${audio.channels.length} channels instead of 4`);
      }
      engine.setTrackAudio(id, { left, right, reverb, chorus });
      this.#readyIds.add(id);
      this.readyTracks = this.#readyIds.size;
    } catch (error) {
      if (!signal.aborted) this.#onFailure(error);
    }
  }
}
