/** The engine as the page uses it: started when it can be, kept in step with the song. */
import {
  EngineUnavailableError,
  SongEngine,
  type EngineStatus,
  type MasterMeters,
  type UnavailableReason,
} from '@songfoundry/web-worklet';
import { reasonOf, type Api } from '../api/client';
import type { InstrumentSound } from '../api/types';
import {
  AUDITION_TRACK_ID,
  projectForEngine,
  soundsOnly,
  withBanks,
} from '../project/engine-project';
import { MASTER_ID, type Project, type SoundFontEngine, type Track } from '../project/model';
import { tickAtSecs } from '../project/tempo';
import type { KindOf } from '../project/automation-targets';
import { liveChanges, type LiveChange } from '../project/live-changes';
import type { TrackNeeds } from './bank-plan';
import { Banks } from './banks.svelte';
import { PROCESSOR_URL, WASM_URL } from './build-urls';
import { ClipAudio } from './clip-audio';
import { MeterBank } from './meters';
import { Playhead } from './playhead';
import { Reductions } from './reductions';
import { ServerSound } from './server-sound.svelte';

export type PlayerState = 'off' | 'starting' | 'ready' | 'unavailable';

/** Below this level, -80 dBFS, the end of a song counts as silent. */
const SILENCE = 1e-4;
/** How long it must be silent for a song to end, in seconds: longer than for an export, whose last frame is so heard. */
const SILENCE_SECS = 0.25;
/** Longest that the end of a song rings on, in seconds; an export's tail is as long. */
const TAIL_SECS = 5;
/** How often the figures of the status line change, in milliseconds. */
const FIGURES_MS = 500;
/** How long knobs rest before the engine is given a session with what it was told meanwhile, in milliseconds. */
const SETTLE_MS = 400;

export type PlayerHost = {
  defaultSoundfontId: () => string | null;
  instrumentSound: () => InstrumentSound;
  kindOf: KindOf;
  failed: (what: string, error: unknown) => void;
};

export class Player {
  state = $state<PlayerState>('off');
  /** Why there is no sound, in the state `unavailable`. */
  reason = $state<UnavailableReason | null>(null);
  /** The same in the engine's words. */
  reasonDetail = $state('');
  playing = $state(false);
  /** Whether Play was pressed while sounds are still on their way. */
  waiting = $state(false);
  load = $state(0);
  underruns = $state(0);
  latencyMs = $state<number | null>(null);
  rateHz = $state<number | null>(null);
  readonly meters = new MeterBank();
  /** What the master's meters measure; null while nobody watches them. */
  loudness = $state.raw<MasterMeters | null>(null);
  readonly banks: Banks;
  readonly serverSound: ServerSound;
  readonly clipAudio: ClipAudio;
  readonly reductions = new Reductions();

  #engine = $state.raw<SongEngine | null>(null);
  readonly #host: PlayerHost;
  readonly #playhead = new Playhead();
  #trackIds: string[] = [];
  #lengthFrames = 0;
  #project: Project | null = null;
  #sounding: Project | null = null;
  #audition: SoundFontEngine | null = null;
  #soundingAudition: SoundFontEngine | null = null;
  #running: Promise<void> | null = null;
  /** Set while the engine's session lags what it was told, or what it can play. */
  #unsettled = false;
  #settleTimer: ReturnType<typeof setTimeout> | undefined;
  #figuresAtMs = 0;
  #stoppedTick = 0;
  #silentSinceFrame = 0;
  /** Presets that tracks play, by what they depend on. */
  readonly #presets = new WeakMap<Track['items'], { engine: string; presets: string[] }>();

  constructor(api: Api, host: PlayerHost) {
    this.#host = host;
    this.banks = new Banks(api, (id, error) => host.failed(`SoundFont ${id} cannot be used`, error));
    this.serverSound = new ServerSound(api, (error) =>
      host.failed('The service could not render a track, so this page plays it itself', error),
    );
    this.clipAudio = new ClipAudio(
      api,
      () => this.#settle(),
      (_id, error) => host.failed('An audio file cannot be played', error),
    );
  }

  /** The engine itself, for tests and the browser's console. */
  get engine(): SongEngine | null {
    return this.#engine;
  }

  /** Gives the engine the song as it now is. Calls may come faster than it takes them. */
  sync(project: Project): Promise<void> {
    this.#project = project;
    this.#applyMix(project);
    this.#running ??= this.#catchUp().finally(() => (this.#running = null));
    return this.#running;
  }

  /** Lets the choice of who makes the sound take effect. */
  soundChoiceChanged(): void {
    const engine = this.#engine;
    if (!engine || !this.#sounding) return;
    if (this.#host.instrumentSound() === 'server') this.#useServerSound(engine, this.#sounding);
    else this.serverSound.stop(engine);
  }

  /** Fetches what the song plays of SoundFonts anew, since they have changed. */
  soundFontsChanged(): void {
    this.banks.forget();
    this.serverSound.stop(this.#engine);
    this.#settle();
  }

  /** Lets sound out after the visitor's first gesture, as browsers demand. */
  resume(): void {
    if (this.#engine?.context.state === 'suspended') void this.#engine.context.resume();
  }

  /** Plays from where the playhead stands, once the sounds are there. */
  async play(): Promise<void> {
    if (this.waiting) return;
    this.resume();
    this.waiting = true;
    if ((this.#running || !this.#engine) && this.#project) await this.sync(this.#project);
    this.banks.retry();
    this.clipAudio.retry();
    await Promise.all([this.banks.settled(), this.clipAudio.settled()]);
    if (this.#unsettled && this.#project) await this.sync(this.#project);
    if (!this.waiting) return;
    this.waiting = false;
    if (!this.#engine) return;
    this.seekTick(this.#stoppedTick);
    await this.#engine.play();
    this.playing = true;
  }

  stop(): void {
    this.waiting = false;
    if (!this.#engine || !this.playing) return;
    this.#stoppedTick = Math.round(this.positionTick());
    this.#engine.stop();
    this.playing = false;
  }

  seekTick(tick: number): void {
    const place = Math.max(0, Math.round(tick));
    this.#stoppedTick = place;
    const engine = this.#engine;
    if (!engine || !this.#sounding) return;
    const frame = engine.tickToFrame(place);
    engine.seek(frame);
    this.#silentSinceFrame = frame;
    this.#playhead.report(frame, this.playing, engine.context.sampleRate, performance.now());
  }

  /** The tick that is being heard now, with its fraction. */
  positionTick(): number {
    const engine = this.#engine;
    if (!engine || !this.#project || !this.playing) return this.#stoppedTick;
    const frame = this.#playhead.frameAt(performance.now(), this.#latencySecs(engine));
    return tickAtSecs(this.#project.tempo_map, frame / engine.context.sampleRate);
  }

  noteOn(trackId: string, key: number, velocity: number): void {
    this.resume();
    this.#engine?.noteOn(trackId, key, velocity);
  }

  noteOff(trackId: string, key: number): void {
    this.#engine?.noteOff(trackId, key);
  }

  allNotesOff(): void {
    this.#engine?.allNotesOff();
  }

  /** Puts a sound on the audition track, where it can then be played, or takes it away with null. */
  async audition(sound: SoundFontEngine | null): Promise<void> {
    this.#audition = sound;
    if (this.#project) await this.sync(this.#project);
    if (sound) await this.banks.ready(AUDITION_TRACK_ID);
  }

  /** Lets the engine say how much these effects of a track or the master turn their input down. */
  watchReductions(owner: string | null, effectIds: readonly string[]): void {
    this.reductions.watch(this.#engine, owner, effectIds);
  }

  /** Lets the engine measure the master until the returned function is called. An effect that calls it does so again for another engine. */
  watchMeters(): () => void {
    const end = this.#engine?.onMeters((meters) => (this.loudness = meters));
    return () => {
      end?.();
      this.loudness = null;
    };
  }

  /** Begins integrated loudness and peaks of the master anew. */
  resetMeters(): void {
    this.#engine?.resetMeters();
  }

  #latencySecs(engine: SongEngine): number {
    const { outputLatency, baseLatency } = engine.context;
    return outputLatency || baseLatency || 0;
  }

  async #catchUp(): Promise<void> {
    await Promise.resolve();
    while (this.#project && this.#isBehind()) {
      const project = this.#project;
      const audition = this.#audition;
      try {
        if (!this.#tell(project, audition)) await this.#take(project, audition);
      } catch (error) {
        // An engine that broke has said so, and waits for Play.
        if (this.state === 'off') return;
        this.#host.failed('The song cannot be played', error);
      }
      this.#sounding = project;
      this.#soundingAudition = audition;
    }
  }

  #isBehind(): boolean {
    return this.#unsettled || this.#project !== this.#sounding || this.#audition !== this.#soundingAudition;
  }

  /** Tells the engine of an edit that it can follow at once; answers false when it needs a new session. */
  #tell(project: Project, audition: SoundFontEngine | null): boolean {
    const engine = this.#engine;
    const before = this.#sounding;
    if (!engine || !before || this.#unsettled || audition !== this.#soundingAudition) return false;
    const changes = liveChanges(before, project, this.#host.kindOf);
    if (!changes) return false;
    for (const change of changes) tellChange(engine, change);
    if (changes.length > 0) {
      clearTimeout(this.#settleTimer);
      this.#settleTimer = setTimeout(() => this.#settle(), SETTLE_MS);
    }
    return true;
  }

  /** Gives the engine a new session with everything that it was told, or has, since the last one. */
  #settle(): void {
    this.#unsettled = true;
    if (this.#project) void this.sync(this.#project);
  }

  async #take(project: Project, audition: SoundFontEngine | null): Promise<void> {
    const engine = await this.#start(project.sample_rate_hz);
    if (!engine) return;
    this.#unsettled = false;
    this.clipAudio.assign(engine, project);
    const forEngine = projectForEngine(project, this.#host.defaultSoundfontId(), audition);
    const banks = this.banks.assign(engine, this.#needs(engine, forEngine));
    const info = await engine.setProject(withBanks(forEngine, banks));
    this.#trackIds = info.trackIds;
    this.#lengthFrames = info.lengthFrames;
    this.#applyMix(project);
    if (this.#host.instrumentSound() === 'server') this.#useServerSound(engine, project);
    if (!this.playing) {
      const frame = engine.tickToFrame(this.#stoppedTick);
      engine.seek(frame);
      this.#playhead.report(frame, false, engine.context.sampleRate, performance.now());
    }
  }

  /** What each track plays of which SoundFont. */
  #needs(engine: SongEngine, project: Project): TrackNeeds[] {
    const known = (track: Track): string[] | undefined => {
      const kept = this.#presets.get(track.items);
      return kept && kept.engine === JSON.stringify(track.synth_engine) ? kept.presets : undefined;
    };
    const players = project.tracks.filter((track) => track.kind === 'instrument' && track.synth_engine?.type === 'soundfont');
    const changed = players.filter((track) => known(track) === undefined);
    if (changed.length > 0) {
      const presets = engine.presetsUsed({ ...project, tracks: changed.map(soundsOnly) });
      changed.forEach((track, index) => {
        this.#presets.set(track.items, { engine: JSON.stringify(track.synth_engine), presets: presets[index] ?? [] });
      });
    }
    return players.flatMap((track) => {
      const soundfontId = track.synth_engine?.type === 'soundfont' ? track.synth_engine.soundfont_id : undefined;
      const presets = known(track) ?? [];
      return soundfontId === undefined || presets.length === 0 ? [] : [{ trackId: track.id, soundfontId, presets }];
    });
  }

  #useServerSound(engine: SongEngine, project: Project): void {
    const named = projectForEngine(project, this.#host.defaultSoundfontId(), null);
    this.serverSound.update(engine, named, this.#lengthFrames);
  }

  async #start(sampleRateHz: number): Promise<SongEngine | null> {
    if (this.#engine?.context.sampleRate === sampleRateHz) return this.#engine;
    if (this.state === 'unavailable') return null;
    this.state = 'starting';
    const old = this.#engine;
    this.serverSound.stop(old);
    this.#engine = null;
    this.#sounding = null;
    this.playing = false;
    await old?.close();
    try {
      const engine = await SongEngine.create({ sampleRateHz, processorUrl: PROCESSOR_URL, wasmUrl: WASM_URL });
      engine.onStatus((status) => this.#report(engine, status));
      engine.onFailure((detail) => this.#broke(engine, detail));
      this.#engine = engine;
      this.reductions.ask(engine);
      this.rateHz = engine.context.sampleRate;
      this.state = 'ready';
      return engine;
    } catch (error) {
      this.state = 'unavailable';
      this.reason = error instanceof EngineUnavailableError ? error.reason : 'not_loaded';
      this.reasonDetail = reasonOf(error);
      return null;
    }
  }

  /** The engine stopped by itself: says so, and lets the next edit or Play start another. */
  #broke(engine: SongEngine, detail: string): void {
    if (engine !== this.#engine) return;
    this.serverSound.stop(null);
    this.#engine = null;
    this.#sounding = null;
    this.playing = false;
    this.state = 'off';
    this.#host.failed('The sound engine stopped; press Play to start it again', new Error(detail));
  }

  #applyMix(project: Project): void {
    const engine = this.#engine;
    if (!engine) return;
    for (const track of project.tracks) {
      if (!this.#trackIds.includes(track.id)) continue;
      engine.setTrackMix(track.id, {
        gainDb: track.volume_db,
        pan: track.pan,
        mute: track.mute,
        solo: track.solo,
      });
    }
    if (this.#trackIds.includes(AUDITION_TRACK_ID)) {
      const solo = project.tracks.some((track) => track.solo);
      engine.setTrackMix(AUDITION_TRACK_ID, { gainDb: 0, pan: 0, mute: false, solo });
    }
    engine.setMasterGain(project.master.volume_db);
  }

  /** Whether the song is over: past its last clip, and silent or as long as an export lets it ring. */
  #hasRungOut(engine: SongEngine, status: EngineStatus): boolean {
    const past = status.frame - this.#lengthFrames;
    const [left = 0, right = 0] = status.peaks.subarray(-2);
    if (past < 0 || Math.max(left, right) > SILENCE) this.#silentSinceFrame = status.frame;
    const { sampleRate } = engine.context;
    const silentFrames = status.frame - this.#silentSinceFrame;
    return past >= 0 && (silentFrames > SILENCE_SECS * sampleRate || past > (TAIL_SECS + SILENCE_SECS) * sampleRate);
  }

  #report(engine: SongEngine, status: EngineStatus): void {
    if (engine !== this.#engine) return;
    const nowMs = performance.now();
    this.#playhead.report(status.frame, status.playing, engine.context.sampleRate, nowMs);
    this.meters.update([...this.#trackIds, MASTER_ID], status.peaks, nowMs);
    if (this.playing && this.#lengthFrames > 0 && this.#hasRungOut(engine, status)) {
      this.stop();
      this.seekTick(0);
    }
    if (nowMs - this.#figuresAtMs < FIGURES_MS) return;
    this.#figuresAtMs = nowMs;
    this.load = status.load;
    this.underruns = status.underruns;
    this.latencyMs = this.#latencySecs(engine) * 1000;
  }
}

function tellChange(engine: SongEngine, change: LiveChange): void {
  if (change.kind === 'send') {
    engine.setSendGain(change.trackId, change.send, change.levelDb);
    return;
  }
  const trackId = change.owner === MASTER_ID ? null : change.owner;
  if (change.kind === 'parameter') engine.setEffectParameter(trackId, change.effectId, change.parameter, change.value);
  else if (change.kind === 'effect-bypass') engine.setEffectBypass(trackId, change.effectId, change.bypass);
  else engine.setBypass(trackId, change.bypass);
}
