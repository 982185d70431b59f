/** Starts the page's sound engine, sends it every edit of the song, and controls playback. */
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
import { withoutFrozenParts } from '../project/freezing';
import { liveChanges } from '../project/live-changes';
import { MASTER_ID, type Project, type SoundFontEngine } from '../project/model';
import { loopOf } from '../project/loop';
import { tickAtSecs } from '../project/tempo';
import { wakeFrames } from '../canvas/frames';
import { applyLiveChange } from './apply-changes';
import { audibleSecs } from './audio-clock';
import { Banks } from './banks.svelte';
import { PROCESSOR_URL, WASM_URL } from './build-urls';
import { ClipAudio } from './clip-audio';
import { GainReductions } from './gain-reductions';
import { LiveChannels, type PluginSoundMode } from './live-channels.svelte';
import { MeterBank } from './meters';
import { MixSender } from './mix-sender';
import { Playhead } from './playhead';
import { PresetNeeds } from './preset-needs';
import { PluginSounds, soundIdOf } from './plugin-sounds.svelte';
import { ServerSound } from './server-sound.svelte';
import { SongEnd } from './song-end';

/** State of the engine: `off` before the first song, and after a failure of a running engine. */
export type EngineState =
  | { kind: 'off' }
  | { kind: 'starting' }
  | { kind: 'ready'; engine: EngineClient }
  | { kind: 'unavailable'; reason: UnavailableReason; detail: string };

/** State of playback. After Play it is `waiting` until the sounds of the song are loaded. */
export type TransportState = { kind: 'stopped' } | { kind: 'waiting' } | { kind: 'playing'; engine: EngineClient };

/** Measurements for the status line. */
export type EngineMeasurements = {
  /** Rendering time as a fraction of the audio's duration; above 1 if rendering is too slow. */
  load: number;
  /** Number of drop-outs since the engine's start, including those of late streamed audio. */
  underruns: number;
  /** Output latency in milliseconds; null before the first measurement. */
  latencyMs: number | null;
};

/** The user's settings of the metronome. */
export type MetronomeSettings = {
  /** Whether clicks accompany playback. */
  on: boolean;
  /** Level of the clicks in decibels. */
  gainDb: number;
  /** Bars of clicks before a recording starts. */
  countInBars: number;
};

/** The functions of the page that the player calls. */
export type PlayerHost = {
  defaultSoundfontId: () => string | null;
  instrumentSound: () => InstrumentSound;
  kindOf: KindOf;
  /** Returns the name of an audio file; null if the page does not know it. */
  audioFileName: (fileId: string) => string | null;
  /** Shows an error notice: `action`, a colon and the reason of `error`. */
  reportFailure: (action: string, error: unknown) => void;
};

/**
 * The song and the auditioned sound that the engine should play; null for none. A new `version`
 * makes a new session even if the song and the sound are unchanged.
 */
type Target = { project: Project | null; sounds: SoundsTarget | null; audition: SoundFontEngine | null; version: number };
/** The song whose plugins the service renders, and the channels whose plugins are live instead. */
type SoundsTarget = { project: Project; liveIds: ReadonlySet<string> };
/** A target with a song, which the engine can play. */
type PlayableTarget = Target & { project: Project };

/** Interval at which the measurements in the status line change, in milliseconds. */
const FIGURES_MS = 500;
/** Shortest time between two changes of the figures of the loudness, in milliseconds. */
const LOUDNESS_MS = 250;
/**
 * Time after the last change of the running session, in milliseconds, until the engine gets a new
 * session that contains the change.
 */
const SETTLE_MS = 400;

export class Player {
  readonly meters = new MeterBank();
  readonly banks: Banks;
  readonly serverSound: ServerSound;
  readonly pluginSounds: PluginSounds;
  readonly clipAudio: ClipAudio;
  readonly liveChannels: LiveChannels;
  readonly gainReductions = new GainReductions();
  /** Called before playback that runs is moved to a tick. */
  onMove: ((tick: number) => void) | null = null;
  /** Whether playback goes on after the end of the song, as during a recording. */
  playsPastEnd = false;
  measurements = $state.raw<EngineMeasurements>({ load: 0, underruns: 0, latencyMs: null });
  /** Loudness and peaks of the master, for figures to read; null while nothing watches them. */
  loudness = $state.raw<MasterMeters | null>(null);

  #state = $state.raw<EngineState>({ kind: 'off' });
  #transport = $state.raw<TransportState>({ kind: 'stopped' });
  readonly #host: PlayerHost;
  readonly #playhead = new Playhead();
  readonly #songEnd = new SongEnd();
  readonly #presetNeeds = new PresetNeeds();
  readonly #mix = new MixSender();
  /** The tick at which playback starts next. */
  #startTick = 0;
  /** The tick at which playback started last. */
  #lastStartTick = 0;
  #metronome: MetronomeSettings = { on: false, gainDb: -6, countInBars: 0 };
  /** The tempo and time signatures that the engine's metronome has; null for a new engine. */
  #sentBeats: Pick<Project, 'tempo_map' | 'time_signatures'> | null = null;
  /** The target that the engine should play. Each change of the song replaces the target. */
  #target: Target = { project: null, sounds: null, audition: null, version: 0 };
  /** The last target that the engine received; null for a new engine. Compared by identity. */
  #appliedTarget: PlayableTarget | null = null;
  /** The call of {@link #applyTargets} that is in progress, or null. */
  #updating: Promise<void> | null = null;
  /** The song as the user edits it, with the effects that are live. */
  #song: Project | null = null;
  #trackIds: string[] = [];
  #lengthFrames = 0;
  #settleTimer: ReturnType<typeof setTimeout> | undefined;
  #figuresAtMs = 0;

  constructor(api: Api, host: PlayerHost) {
    this.#host = host;
    this.banks = new Banks(api, (id, error) => host.reportFailure(`SoundFont ${id} cannot be used`, error));
    this.serverSound = new ServerSound(api, (error) =>
      host.reportFailure('The service could not render a track, so this browser renders the track instead', error),
    );
    this.pluginSounds = new PluginSounds(api, () => this.#renewSession());
    this.liveChannels = new LiveChannels(api, () => this.#song && void this.#sendSong(this.#song));
    this.clipAudio = new ClipAudio(
      api,
      () => this.#renewSession(),
      (fileId, error) => {
        if (soundIdOf(fileId) !== null) {
          this.clipAudio.forget(fileId);
          this.pluginSounds.loadFailed(fileId, error);
        } else host.reportFailure(`The audio file “${host.audioFileName(fileId) ?? fileId}” cannot be played`, error);
      },
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

  /** Sends the song to the engine. Resolves when the engine has the newest version of the song. */
  sync(project: Project): Promise<void> {
    this.#song = withoutFrozenParts(project);
    return this.#sendSong(this.#song);
  }

  #sendSong(song: Project): Promise<void> {
    const project = this.liveChannels.projectForEngine(song);
    this.#target = { ...this.#target, project, sounds: this.liveChannels.projectForSounds(song) };
    if (this.engine) {
      if (this.#appliedTarget) this.liveChannels.update(this.engine, song);
      this.#mix.send(this.engine, song);
      this.#applyLoop(this.engine, song);
    }
    return this.#update();
  }

  /**
   * Starts or stops the service's rendering of SoundFont tracks, after the user's choice changed.
   */
  applyInstrumentSound(): void {
    this.#updateServerSound();
  }

  /** Chooses how the plugins of a track or the master become audible. */
  setPluginSound(channelId: string, mode: PluginSoundMode): void {
    if (!this.#song) return;
    this.liveChannels.setMode(this.#song, channelId, mode);
    void this.#sendSong(this.#song);
  }

  /** Loads the SoundFonts of the song again after SoundFonts were added or deleted. */
  reloadSoundFonts(): void {
    this.banks.forget();
    this.serverSound.stop(this.engine);
    this.pluginSounds.renderAgain();
    this.#renewSession();
  }

  /** Starts audio output. Browsers allow this only after the user's first click or key. */
  resume(): void {
    const context = this.engine?.context;
    // Safari also interrupts the output, for example during a call.
    if (context && context.state !== 'running' && context.state !== 'closed') void context.resume();
  }

  /**
   * Plays from the playhead as soon as the sounds of the song are loaded, after the count-in if
   * `countsIn` is true.
   */
  async play(countsIn = false): Promise<void> {
    if (this.#transport.kind !== 'stopped') return;
    this.resume();
    const waitingState: TransportState = { kind: 'waiting' };
    this.#transport = waitingState;
    await this.#update();
    this.banks.retryFailed();
    this.clipAudio.retryFailed();
    await Promise.all([this.banks.settled(), this.clipAudio.settled()]);
    await this.#update();
    if (this.#transport !== waitingState) return;
    const { engine } = this;
    if (engine) {
      this.seekTick(this.#startTick);
      this.#lastStartTick = this.#startTick;
      await engine.play(countsIn ? this.#metronome.countInBars : 0);
    }
    // While the browser resumes audio output, the user may press Stop or the engine may fail.
    if (this.#transport === waitingState) this.#transport = this.#playingOn(engine);
    else if (this.transport === 'stopped') engine?.stop();
  }

  stop(): void {
    const transport = this.#transport;
    if (transport.kind === 'playing') {
      this.#startTick = Math.round(this.positionTick());
      transport.engine.stop();
      this.#playhead.moveTo(transport.engine.tickToFrame(this.#startTick));
    }
    this.#transport = { kind: 'stopped' };
    wakeFrames();
  }

  seekTick(tick: number): void {
    const startTick = Math.max(0, Math.round(tick));
    if (this.transport === 'playing') this.onMove?.(startTick);
    this.#startTick = startTick;
    wakeFrames();
    const { engine } = this;
    if (engine && this.#appliedTarget) this.#seekEngine(engine);
  }

  /** Moves to the tick at which playback started last. */
  returnToStart(): void {
    this.seekTick(this.#lastStartTick);
  }

  /** Sets the metronome and the count-in. */
  setMetronome(settings: MetronomeSettings): void {
    this.#metronome = settings;
    this.engine?.setMetronome(settings.on, settings.gainDb);
  }

  /** Returns the tick, not rounded, that is audible now. */
  positionTick(): number {
    return this.tickAt(performance.now());
  }

  /**
   * Returns the tick, not rounded, that was audible at `atMs`, a time of an event shortly before.
   */
  tickAt(atMs: number): number {
    const transport = this.#transport;
    const { project } = this.#target;
    if (transport.kind !== 'playing' || !project) return this.#startTick;
    const { context } = transport.engine;
    const frame = this.#playhead.frameAt(audibleSecs(context, atMs, performance.now()));
    return tickAtSecs(project.tempo_map, frame / context.sampleRate);
  }

  /** Returns the seconds until playback begins after a count-in; 0 if there is none. */
  countInSecs(): number {
    const transport = this.#transport;
    if (transport.kind !== 'playing') return 0;
    const nowMs = performance.now();
    return this.#playhead.countInSecs(audibleSecs(transport.engine.context, nowMs, nowMs));
  }

  /** Resolves when a track's SoundFont is loaded or has failed to load. */
  async waitForSoundOf(trackId: string): Promise<void> {
    if (!this.#trackIds.includes(trackId)) await this.#update();
    await this.banks.waitUntilReady(trackId);
  }

  noteOn(trackId: string, key: number, velocity: number): void {
    this.resume();
    this.engine?.noteOn(trackId, key, velocity);
  }

  noteOff(trackId: string, key: number): void {
    this.engine?.noteOff(trackId, key);
  }

  setController(trackId: string, controller: number, value: number): void {
    this.engine?.setController(trackId, controller, value);
  }

  setPitchBend(trackId: string, value: number): void {
    this.engine?.setPitchBend(trackId, value);
  }

  allNotesOff(): void {
    this.engine?.allNotesOff();
  }

  /**
   * Sets the sound of the audition track; null removes the track. Resolves when the sound is loaded
   * or has failed to load.
   */
  async audition(sound: SoundFontEngine | null): Promise<void> {
    this.#target = { ...this.#target, audition: sound };
    await this.#update();
    if (sound) await this.banks.waitUntilReady(AUDITION_TRACK_ID);
  }

  /** Starts to measure the gain reduction of effects of a track or the master. */
  watchReductions(channelId: string | null, effectIds: readonly string[]): void {
    this.gainReductions.watch(this.engine, channelId, effectIds);
  }

  /**
   * Measures the loudness of the master until the returned function is called. A Svelte effect that
   * calls this method runs again when the engine changes.
   */
  watchLoudness(): () => void {
    let shownAtMs = 0;
    const stopMeasuring = this.engine?.onMeters((meters) => {
      const nowMs = performance.now();
      if (nowMs - shownAtMs < LOUDNESS_MS || areEqual(meters, this.loudness)) return;
      shownAtMs = nowMs;
      this.loudness = meters;
    });
    return () => {
      stopMeasuring?.();
      this.loudness = null;
    };
  }

  /**
   * Calls `listener` ten times a second with the meters of the master, for drawings, until the
   * returned function is called.
   */
  onMeters(listener: (meters: MasterMeters) => void): () => void {
    return this.engine?.onMeters(listener) ?? (() => undefined);
  }

  /** Restarts the measurement of the master's integrated loudness and peaks. */
  resetLoudness(): void {
    this.engine?.resetMeters();
  }

  #playingOn(engine: EngineClient | null): TransportState {
    return engine !== null && engine === this.engine ? { kind: 'playing', engine } : { kind: 'stopped' };
  }

  #update(): Promise<void> {
    this.#updating ??= this.#applyTargets().finally(() => (this.#updating = null));
    return this.#updating;
  }

  /** Applies the target to the engine, again if the target changed during that. */
  async #applyTargets(): Promise<void> {
    await Promise.resolve();
    for (let target = this.#target; target !== this.#appliedTarget; target = this.#target) {
      if (!isPlayable(target)) return;
      try {
        if (!this.#applyLive(target)) await this.#setSession(target);
      } catch (error) {
        // `#engineStopped` has reported the failure of the engine.
        if (this.#state.kind === 'off') return;
        this.#host.reportFailure('The song cannot be played', error);
      }
      this.#appliedTarget = target;
    }
  }

  /** Applies an edit to the running session; returns false if the edit needs a new session. */
  #applyLive(target: PlayableTarget): boolean {
    const { engine } = this;
    const applied = this.#appliedTarget;
    if (!engine || !applied || target.version !== applied.version || target.audition !== applied.audition) return false;
    const changes = liveChanges(applied.project, target.project, this.#host.kindOf);
    if (!changes) return false;
    for (const change of changes) applyLiveChange(engine, change);
    // Plugins process what the faders before them let through, so their sounds may change too.
    if (changes.length > 0 || this.pluginSounds.hasPlugins) {
      clearTimeout(this.#settleTimer);
      this.#settleTimer = setTimeout(() => this.#renewSession(), SETTLE_MS);
    }
    return true;
  }

  /** Makes a new session, which contains all edits so far and can play all files loaded so far. */
  #renewSession(): void {
    this.#target = { ...this.#target, version: this.#target.version + 1 };
    void this.#update();
  }

  async #setSession({ project, sounds, audition }: PlayableTarget): Promise<void> {
    const engine = await this.#engineAt(project.sample_rate_hz);
    if (!engine) return;
    if (sounds) this.pluginSounds.update(sounds.project, sounds.liveIds);
    this.clipAudio.assign(engine, project, this.pluginSounds.fileIds);
    const forEngine = projectForEngine(project, this.#host.defaultSoundfontId(), audition);
    const outputs = this.pluginSounds.takeOutputs((id) => this.clipAudio.canPlay(id));
    const banks = this.banks.assign(engine, this.#presetNeeds.needsOf(engine, forEngine));
    if (this.#song) this.liveChannels.update(engine, this.#song);
    const sessionInfo = await engine.setProject(withBanks(forEngine, banks), outputs);
    this.#trackIds = sessionInfo.trackIds;
    this.#lengthFrames = sessionInfo.lengthFrames;
    // The song may have been mixed and its loop switched while the engine received the session.
    const newestProject = this.#target.project ?? project;
    this.#mix.receivedSession(project, this.#trackIds);
    this.#mix.send(engine, newestProject);
    this.#useServerSound(engine, project);
    this.#applyLoop(engine, newestProject);
    if (this.#transport.kind !== 'playing') this.#seekEngine(engine);
  }

  #updateServerSound(): void {
    if (this.engine && this.#appliedTarget) this.#useServerSound(this.engine, this.#appliedTarget.project);
  }

  #useServerSound(engine: EngineClient, project: Project): void {
    if (this.#host.instrumentSound() !== 'server') return this.serverSound.stop(engine);
    this.serverSound.update(engine, projectForEngine(project, this.#host.defaultSoundfontId(), null), this.#lengthFrames);
  }

  /** Sends the loop and the beats of the song to the engine, if they have changed. */
  #applyLoop(engine: EngineClient, project: Project): void {
    const { tempo_map, time_signatures } = project;
    if (this.#sentBeats?.tempo_map !== tempo_map || this.#sentBeats.time_signatures !== time_signatures) {
      this.#sentBeats = { tempo_map, time_signatures };
      engine.setBeats(tempo_map, time_signatures);
    }
    const loop = loopOf(project);
    const region = loop?.active ? { startFrame: engine.tickToFrame(loop.startTick), endFrame: engine.tickToFrame(loop.endTick) } : null;
    const currentLoop = this.#playhead.loop;
    if (region?.startFrame === currentLoop?.startFrame && region?.endFrame === currentLoop?.endFrame) return;
    this.#playhead.loop = region;
    engine.setLoop(region);
  }

  #seekEngine(engine: EngineClient): void {
    const frame = engine.tickToFrame(this.#startTick);
    engine.seek(frame);
    this.#songEnd.reset(frame);
    this.#playhead.moveTo(frame);
  }

  /**
   * Returns the engine, or starts one if there is none at this sample rate. Returns null if the
   * browser cannot run the engine.
   */
  async #engineAt(sampleRateHz: number): Promise<EngineClient | null> {
    const previousEngine = this.engine;
    if (previousEngine?.context.sampleRate === sampleRateHz) return previousEngine;
    if (this.#state.kind === 'unavailable') return null;
    this.#leaveEngine({ kind: 'starting' });
    await previousEngine?.close();
    try {
      const engine = await EngineClient.create({ sampleRateHz, processorUrl: PROCESSOR_URL, wasmUrl: WASM_URL });
      engine.onStatus((status) => this.#receiveStatus(engine, status));
      engine.onRefused((command, detail) => this.#host.reportFailure(`The sound engine refused “${command}”`, new Error(detail)));
      engine.onFailure((detail) => this.#engineStopped(engine, detail));
      this.#state = { kind: 'ready', engine };
      engine.setMetronome(this.#metronome.on, this.#metronome.gainDb);
      this.gainReductions.subscribe(engine);
      return engine;
    } catch (error) {
      const reason = error instanceof EngineUnavailableError ? error.reason : 'not_loaded';
      this.#state = { kind: 'unavailable', reason, detail: reasonOf(error) };
      return null;
    }
  }

  /** Reports that the engine has failed. The next edit or Play starts a new engine. */
  #engineStopped(engine: EngineClient, detail: string): void {
    if (engine !== this.engine) return;
    this.#leaveEngine({ kind: 'off' });
    this.#host.reportFailure('The sound engine failed', new Error(`${reasonOf(detail)} Press Play to start it again.`));
  }

  /** Changes to a state without an engine, and stops playback. */
  #leaveEngine(state: EngineState): void {
    this.#startTick = Math.round(this.positionTick());
    this.meters.clear();
    wakeFrames();
    this.serverSound.stop(state.kind === 'off' ? null : this.engine);
    this.liveChannels.leave();
    this.#state = state;
    this.#appliedTarget = null;
    this.#sentBeats = null;
    this.#playhead.loop = null;
    if (this.#transport.kind === 'playing') this.#transport = { kind: 'stopped' };
  }

  #receiveStatus(engine: EngineClient, status: EngineStatus): void {
    if (engine !== this.engine) return;
    const nowMs = performance.now();
    const { sampleRate } = engine.context;
    this.#playhead.report(status, sampleRate);
    this.meters.update([...this.#trackIds, MASTER_ID], status.peaks, nowMs);
    if (status.playing || this.meters.isMoving) wakeFrames();
    const isPlaying = this.#transport.kind === 'playing' && this.#lengthFrames > 0 && !this.playsPastEnd;
    const { loop } = this.#playhead;
    const isInLoop = loop !== null && status.frame < loop.endFrame;
    if (isPlaying && !isInLoop && this.#songEnd.isReached(status, this.#lengthFrames, sampleRate)) {
      this.stop();
      this.seekTick(0);
    }
    if (nowMs - this.#figuresAtMs < FIGURES_MS) return;
    this.#figuresAtMs = nowMs;
    this.liveChannels.setFigures(status.live);
    this.measurements = { load: status.load, underruns: status.underruns, latencyMs: latencySecs(engine) * 1000 };
  }
}

function isPlayable(target: Target): target is PlayableTarget {
  return target.project !== null;
}

function areEqual(a: MasterMeters, b: MasterMeters | null): boolean {
  return b !== null && JSON.stringify(a) === JSON.stringify(b);
}

/** Returns the time from rendering to audible output, in seconds; 0 if the browser has no value. */
function latencySecs({ context }: EngineClient): number {
  return context.outputLatency || context.baseLatency || 0;
}
