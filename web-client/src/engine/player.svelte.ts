/** The sound engine of the page: starts it, keeps its session equal to the song, and plays. */
import {
  EngineUnavailableError,
  EngineClient,
  type EngineStatus,
  type MasterMeters,
  type UnavailableReason,
} from '@songfoundry/web-worklet';
import { reasonOf, type Api } from '../api/client';
import type { InstrumentSound } from '../api/types';
import type { KindOf } from '../project/automation-targets';
import { AUDITION_TRACK_ID, projectForEngine, withBanks } from '../project/engine-project';
import { liveChanges } from '../project/live-changes';
import { MASTER_ID, type Project, type SoundFontEngine } from '../project/model';
import { tickAtSecs } from '../project/tempo';
import { applyLiveChange, applyMix } from './apply-changes';
import { Banks } from './banks.svelte';
import { PROCESSOR_URL, WASM_URL } from './build-urls';
import { ClipAudio } from './clip-audio';
import { GainReductions } from './gain-reductions';
import { MeterBank } from './meters';
import { Playhead } from './playhead';
import { PresetNeeds } from './preset-needs';
import { ServerSound } from './server-sound.svelte';
import { SongEnd } from './song-end';

/** The life of the engine. It is `off` before its first song, and after it stopped by itself. */
export type EngineState =
  | { kind: 'off' }
  | { kind: 'starting' }
  | { kind: 'ready'; engine: EngineClient }
  | { kind: 'unavailable'; reason: UnavailableReason; detail: string };

/** Playback. After Play it is `waiting` until the sounds of the song are loaded. */
export type TransportState = { kind: 'stopped' } | { kind: 'waiting' } | { kind: 'playing'; engine: EngineClient };

/** Measurements for the status line. */
export type EngineFigures = {
  /** Share of the audio thread's time that the engine takes, 0..1. */
  load: number;
  /** Render quanta that came too late, since the engine started. */
  underruns: number;
  /** Output latency in milliseconds; null before the first measurement. */
  latencyMs: number | null;
};

/** The functions of the page that the player calls. */
export type PlayerHost = {
  defaultSoundfontId: () => string | null;
  instrumentSound: () => InstrumentSound;
  kindOf: KindOf;
  /** Reports that an action failed, in the words of {@link Notices.failed}. */
  failed: (action: string, error: unknown) => void;
};

/**
 * The song and the auditioned sound. A higher `version` needs a new session even for an equal song.
 */
type Target = { project: Project | null; audition: SoundFontEngine | null; version: number };
/** A target that the engine was given. */
type Given = Target & { project: Project };

/** Interval of the status line's measurements, in milliseconds. */
const FIGURES_MS = 500;
/**
 * Pause after the last live change before the engine gets a session that contains it, in
 * milliseconds.
 */
const SETTLE_MS = 400;

export class Player {
  readonly meters = new MeterBank();
  readonly banks: Banks;
  readonly serverSound: ServerSound;
  readonly clipAudio: ClipAudio;
  readonly gainReductions = new GainReductions();
  figures = $state.raw<EngineFigures>({ load: 0, underruns: 0, latencyMs: null });
  /** Loudness and peaks of the master; null while nothing watches them. */
  loudness = $state.raw<MasterMeters | null>(null);

  #state = $state.raw<EngineState>({ kind: 'off' });
  #transport = $state.raw<TransportState>({ kind: 'stopped' });
  readonly #host: PlayerHost;
  readonly #playhead = new Playhead();
  readonly #songEnd = new SongEnd();
  readonly #presetNeeds = new PresetNeeds();
  /** The tick at which playback starts next. */
  #startTick = 0;
  /** The target that the engine should have; each change replaces it. */
  #target: Target = { project: null, audition: null, version: 0 };
  /** The last target that the engine was given, by identity; null for a new engine. */
  #given: Given | null = null;
  /** The update of the engine that is in progress. */
  #updating: Promise<void> | null = null;
  #trackIds: string[] = [];
  #lengthFrames = 0;
  #settleTimer: ReturnType<typeof setTimeout> | undefined;
  #figuresAtMs = 0;

  constructor(api: Api, host: PlayerHost) {
    this.#host = host;
    this.banks = new Banks(api, (id, error) => host.failed(`SoundFont ${id} cannot be used`, error));
    this.serverSound = new ServerSound(api, (error) =>
      host.failed('The service could not render a track, so this page plays it itself', error),
    );
    this.clipAudio = new ClipAudio(
      api,
      () => this.#renewSession(),
      (_id, error) => host.failed('An audio file cannot be played', error),
    );
  }

  get state(): EngineState {
    return this.#state;
  }

  get transport(): TransportState['kind'] {
    return this.#transport.kind;
  }

  /** The engine if it is ready. */
  get engine(): EngineClient | null {
    return this.#state.kind === 'ready' ? this.#state.engine : null;
  }

  /** Gives the engine the song; resolves once the engine has the newest one. */
  sync(project: Project): Promise<void> {
    this.#target = { ...this.#target, project };
    if (this.engine) applyMix(this.engine, project, this.#trackIds);
    return this.#update();
  }

  /** Applies a changed choice between the service and this browser. */
  instrumentSoundChanged(): void {
    const { engine } = this;
    if (!engine || !this.#given) return;
    if (this.#host.instrumentSound() === 'server') this.#useServerSound(engine, this.#given.project);
    else this.serverSound.stop(engine);
  }

  /** Loads the SoundFonts of the song again, after some of them changed. */
  soundFontsChanged(): void {
    this.banks.forget();
    this.serverSound.stop(this.engine);
    this.#renewSession();
  }

  /** Starts audio output after the visitor's first gesture, as browsers demand. */
  resume(): void {
    if (this.engine?.context.state === 'suspended') void this.engine.context.resume();
  }

  /** Plays from the playhead, once the sounds are loaded. */
  async play(): Promise<void> {
    if (this.#transport.kind !== 'stopped') return;
    this.resume();
    const waiting: TransportState = { kind: 'waiting' };
    this.#transport = waiting;
    await this.#update();
    this.banks.retry();
    this.clipAudio.retry();
    await Promise.all([this.banks.settled(), this.clipAudio.settled()]);
    await this.#update();
    if (this.#transport !== waiting) return;
    const { engine } = this;
    if (engine) {
      this.seekTick(this.#startTick);
      await engine.play();
    }
    // Stop may come while the browser resumes the audio output, and the engine may end.
    if (this.#transport === waiting) this.#transport = this.#playingOn(engine);
    else if (this.transport === 'stopped') engine?.stop();
  }

  stop(): void {
    const transport = this.#transport;
    if (transport.kind === 'playing') {
      this.#startTick = Math.round(this.positionTick());
      transport.engine.stop();
    }
    this.#transport = { kind: 'stopped' };
  }

  seekTick(tick: number): void {
    this.#startTick = Math.max(0, Math.round(tick));
    const { engine } = this;
    if (engine && this.#given) this.#seekEngine(engine);
  }

  /** The tick that is audible now, with its fraction. */
  positionTick(): number {
    const transport = this.#transport;
    const { project } = this.#target;
    if (transport.kind !== 'playing' || !project) return this.#startTick;
    const { engine } = transport;
    const frame = this.#playhead.frameAt(performance.now(), latencySecs(engine));
    return tickAtSecs(project.tempo_map, frame / engine.context.sampleRate);
  }

  /** Resolves when the engine can play a track's instrument, or its SoundFont has failed. */
  async soundReady(trackId: string): Promise<void> {
    if (!this.#trackIds.includes(trackId)) await this.#update();
    await this.banks.ready(trackId);
  }

  noteOn(trackId: string, key: number, velocity: number): void {
    this.resume();
    this.engine?.noteOn(trackId, key, velocity);
  }

  noteOff(trackId: string, key: number): void {
    this.engine?.noteOff(trackId, key);
  }

  allNotesOff(): void {
    this.engine?.allNotesOff();
  }

  /** Puts a sound on the audition track, ready to be played; null removes the track. */
  async audition(sound: SoundFontEngine | null): Promise<void> {
    this.#target = { ...this.#target, audition: sound };
    await this.#update();
    if (sound) await this.banks.ready(AUDITION_TRACK_ID);
  }

  /** Watches the gain reduction of effects of a track or the master. */
  watchReductions(owner: string | null, effectIds: readonly string[]): void {
    this.gainReductions.watch(this.engine, owner, effectIds);
  }

  /**
   * Measures the master until the returned function is called. An effect that calls it runs again
   * for a new engine.
   */
  watchLoudness(): () => void {
    const end = this.engine?.onMeters((meters) => (this.loudness = meters));
    return () => {
      end?.();
      this.loudness = null;
    };
  }

  /** Resets integrated loudness and peaks of the master. */
  resetLoudness(): void {
    this.engine?.resetMeters();
  }

  #playingOn(engine: EngineClient | null): TransportState {
    return engine !== null && engine === this.engine ? { kind: 'playing', engine } : { kind: 'stopped' };
  }

  #update(): Promise<void> {
    this.#updating ??= this.#giveTargets().finally(() => (this.#updating = null));
    return this.#updating;
  }

  /** Gives the engine the target, and again as long as the target changed meanwhile. */
  async #giveTargets(): Promise<void> {
    await Promise.resolve();
    for (let target = this.#target; target !== this.#given; target = this.#target) {
      if (!isPlayable(target)) return;
      try {
        if (!this.#applyLive(target)) await this.#giveSession(target);
      } catch (error) {
        // An engine that stopped by itself was reported; Play starts another.
        if (this.#state.kind === 'off') return;
        this.#host.failed('The song cannot be played', error);
      }
      this.#given = target;
    }
  }

  /** Applies an edit to the running session; returns false if the edit needs a new session. */
  #applyLive(target: Given): boolean {
    const { engine } = this;
    const given = this.#given;
    if (!engine || !given || target.version !== given.version || target.audition !== given.audition) return false;
    const changes = liveChanges(given.project, target.project, this.#host.kindOf);
    if (!changes) return false;
    for (const change of changes) applyLiveChange(engine, change);
    if (changes.length > 0) {
      clearTimeout(this.#settleTimer);
      this.#settleTimer = setTimeout(() => this.#renewSession(), SETTLE_MS);
    }
    return true;
  }

  /** Gives the engine a new session, with all live changes and all sounds that it has by now. */
  #renewSession(): void {
    this.#target = { ...this.#target, version: this.#target.version + 1 };
    void this.#update();
  }

  async #giveSession({ project, audition }: Given): Promise<void> {
    const engine = await this.#engineAt(project.sample_rate_hz);
    if (!engine) return;
    this.clipAudio.assign(engine, project);
    const forEngine = projectForEngine(project, this.#host.defaultSoundfontId(), audition);
    const banks = this.banks.assign(engine, this.#presetNeeds.of(engine, forEngine));
    const info = await engine.setProject(withBanks(forEngine, banks));
    this.#trackIds = info.trackIds;
    this.#lengthFrames = info.lengthFrames;
    applyMix(engine, project, this.#trackIds);
    if (this.#host.instrumentSound() === 'server') this.#useServerSound(engine, project);
    if (this.#transport.kind !== 'playing') this.#seekEngine(engine);
  }

  #useServerSound(engine: EngineClient, project: Project): void {
    const projectWithSoundfontIds = projectForEngine(project, this.#host.defaultSoundfontId(), null);
    this.serverSound.update(engine, projectWithSoundfontIds, this.#lengthFrames);
  }

  #seekEngine(engine: EngineClient): void {
    const frame = engine.tickToFrame(this.#startTick);
    engine.seek(frame);
    this.#songEnd.reset(frame);
    this.#playhead.report(frame, this.#transport.kind === 'playing', engine.context.sampleRate, performance.now());
  }

  /** The engine at a sample rate, started if need be; null if the browser cannot run it. */
  async #engineAt(sampleRateHz: number): Promise<EngineClient | null> {
    const old = this.engine;
    if (old?.context.sampleRate === sampleRateHz) return old;
    if (this.#state.kind === 'unavailable') return null;
    this.#leaveEngine({ kind: 'starting' });
    await old?.close();
    try {
      const engine = await EngineClient.create({ sampleRateHz, processorUrl: PROCESSOR_URL, wasmUrl: WASM_URL });
      engine.onStatus((status) => this.#receiveStatus(engine, status));
      engine.onFailure((detail) => this.#engineStopped(engine, detail));
      this.#state = { kind: 'ready', engine };
      this.gainReductions.subscribe(engine);
      return engine;
    } catch (error) {
      const reason = error instanceof EngineUnavailableError ? error.reason : 'not_loaded';
      this.#state = { kind: 'unavailable', reason, detail: reasonOf(error) };
      return null;
    }
  }

  /** The engine stopped by itself: reports it; the next edit or Play starts another. */
  #engineStopped(engine: EngineClient, detail: string): void {
    if (engine !== this.engine) return;
    this.#leaveEngine({ kind: 'off' });
    this.#host.failed('The sound engine stopped; press Play to start it again', new Error(detail));
  }

  /** Changes to a state without an engine. */
  #leaveEngine(state: EngineState): void {
    this.serverSound.stop(state.kind === 'off' ? null : this.engine);
    this.#state = state;
    this.#given = null;
    if (this.#transport.kind === 'playing') this.#transport = { kind: 'stopped' };
  }

  #receiveStatus(engine: EngineClient, status: EngineStatus): void {
    if (engine !== this.engine) return;
    const nowMs = performance.now();
    const { sampleRate } = engine.context;
    this.#playhead.report(status.frame, status.playing, sampleRate, nowMs);
    this.meters.update([...this.#trackIds, MASTER_ID], status.peaks, nowMs);
    const isPlaying = this.#transport.kind === 'playing' && this.#lengthFrames > 0;
    if (isPlaying && this.#songEnd.isReached(status, this.#lengthFrames, sampleRate)) {
      this.stop();
      this.seekTick(0);
    }
    if (nowMs - this.#figuresAtMs < FIGURES_MS) return;
    this.#figuresAtMs = nowMs;
    this.figures = { load: status.load, underruns: status.underruns, latencyMs: latencySecs(engine) * 1000 };
  }
}

function isPlayable(target: Target): target is Given {
  return target.project !== null;
}

/** Time from rendering to the loudspeaker, in seconds; 0 if the browser does not know it. */
function latencySecs({ context }: EngineClient): number {
  return context.outputLatency || context.baseLatency || 0;
}
