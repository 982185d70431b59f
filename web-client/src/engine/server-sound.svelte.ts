/**
 * `instrument_sound` "server": the service renders the SoundFont tracks, and the page plays them as
 * audio. The page's engine plays a track until its audio arrives, also after an edit; both give the
 * same samples.
 */
import type { EngineClient } from '@songfoundry/web-worklet';
import type { Api } from '../api/client';
import { renderSoundFont } from '../api/endpoints';
import type { SoundFontRenderRequest } from '../api/types';
import type { Control, Item, Note, Project, Track } from '../project/model';
import { voiceSettings } from '../project/sound-settings';
import { readFloatWav } from './wav';

/**
 * Memory limit for rendered tracks, in bytes. Ten minutes of a track with its sends take 460 MB at
 * 48 kHz, so the page's engine plays some tracks of long songs.
 */
export const AUDIO_MAX_BYTES = 1024 * 1024 * 1024;
/** Bytes of a frame: left, right, reverb send and chorus send, in 32-bit float. */
const BYTES_PER_FRAME = 16;

/** Number of tracks of a song that fit into the memory limit. */
export function tracksThatFit(lengthFrames: number): number {
  return lengthFrames <= 0 ? 0 : Math.floor(AUDIO_MAX_BYTES / (lengthFrames * BYTES_PER_FRAME));
}

/** Pause in editing after which a track is rendered again, in milliseconds. */
const SETTLE_MS = 700;

type Rendering = {
  items: Item[];
  engine: Track['synth_engine'];
  tempo: Project['tempo_map'];
  rateHz: number;
  settings: string;
  abort: AbortController;
};

/**
 * The request that renders a track. It is null for tracks without notes, and for tracks whose items
 * select a bank or program, which a request cannot contain.
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
  /** Number of tracks that play the service's audio, and of all that will. */
  ready = $state(0);
  wanted = $state(0);
  readonly #api: Api;
  readonly #onFailure: (error: unknown) => void;
  readonly #tracks = new Map<string, Rendering>();
  readonly #done = new Set<string>();
  #queue: Promise<void> = Promise.resolve();

  constructor(api: Api, onFailure: (error: unknown) => void) {
    this.#api = api;
    this.#onFailure = onFailure;
  }

  /**
   * Renders the tracks that changed since the last call; `lengthFrames` is the length of the song.
   */
  update(engine: EngineClient, project: Project, lengthFrames: number): void {
    const room = tracksThatFit(lengthFrames);
    const settings = JSON.stringify(voiceSettings(project));
    const present = new Set(project.tracks.map((track) => track.id));
    for (const id of [...this.#tracks.keys()]) if (!present.has(id)) this.#drop(engine, id);
    let wanted = 0;
    for (const track of project.tracks) {
      const request = renderRequestOf(project, track);
      if (!request || wanted >= room) {
        this.#drop(engine, track.id);
        continue;
      }
      wanted += 1;
      const known = this.#tracks.get(track.id);
      const same =
        known?.items === track.items &&
        known.tempo === project.tempo_map &&
        known.rateHz === project.sample_rate_hz &&
        known.settings === settings &&
        JSON.stringify(known.engine) === JSON.stringify(track.synth_engine);
      if (same) continue;
      const first = known === undefined;
      this.#drop(engine, track.id);
      const rendering: Rendering = {
        items: track.items,
        engine: track.synth_engine,
        tempo: project.tempo_map,
        rateHz: project.sample_rate_hz,
        settings,
        abort: new AbortController(),
      };
      this.#tracks.set(track.id, rendering);
      const notBeforeMs = performance.now() + (first ? 0 : SETTLE_MS);
      this.#queue = this.#queue.then(() => this.#render(engine, track.id, rendering, request, notBeforeMs));
    }
    this.wanted = wanted;
    this.ready = this.#done.size;
  }

  /** Plays all tracks with the page's engine again; `engine` is null if it ended. */
  stop(engine: EngineClient | null): void {
    for (const id of [...this.#tracks.keys()]) this.#drop(engine, id);
    this.wanted = 0;
    this.ready = 0;
  }

  #drop(engine: EngineClient | null, id: string): void {
    this.#tracks.get(id)?.abort.abort();
    this.#tracks.delete(id);
    if (this.#done.delete(id)) engine?.setTrackAudio(id, null);
    this.ready = this.#done.size;
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
      this.#done.add(id);
      this.ready = this.#done.size;
    } catch (error) {
      if (!signal.aborted) this.#onFailure(error);
    }
  }
}
