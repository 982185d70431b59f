/**
 * Lets the service render the plugins of a song: instruments play their notes, and effects process
 * their input. The engine plays the rendered sounds. After an edit, it plays the earlier sounds
 * until the new ones have arrived. Without a sound, an instrument is silent, and an effect passes
 * its input.
 */
import type { PluginOutput } from '@songfoundry/web-worklet';
import { reasonOf, type Api } from '../api/client';
import { renderPluginSounds } from '../api/plugins';
import type { PluginOutcome } from '../api/types';
import { isPluginEngine, MASTER_ID, type PluginEffect, type PluginEngine, type Project, type Track } from '../project/model';

/** Time after an edit until the service renders, in milliseconds. */
const SETTLE_MS = 700;
/** Time after which the sounds count as being rendered if the service has not answered. */
const SLOW_MS = 300;

const NO_CHANNELS: ReadonlySet<string> = new Set();

/** Prefix of the ids of sounds among the ids of audio files. */
const SOUND_PREFIX = 'plugin-sound:';

/** State of a plugin of the song. */
export type PluginState =
  | { kind: 'rendering' }
  /**
   * The engine plays the sound. `isSilent`: an instrument made no sound although there are notes.
   * `warnings`: faults of the sound, as sentences.
   */
  | { kind: 'ready'; isSilent: boolean; warnings: readonly string[] }
  /** The plugin or the request failed. `playsLastSound`: the engine plays an earlier sound. */
  | { kind: 'failed'; reason: string; playsLastSound: boolean }
  /** The service cannot use the plugin. */
  | { kind: 'missing'; reason: string };

/** Number of plugins of the song that have or get a sound, and how many of them have it. */
export type PluginCount = { requested: number; ready: number };

/** Identifies a plugin in the song; see {@link PluginOutput}. */
type PluginOutputId = Pick<PluginOutput, 'trackId' | 'effectId'>;

/**
 * A plugin in the song. If its identity changes, its earlier sounds are not played any more. If one
 * of its settings changes, which are compared by reference, its sound is outdated.
 */
type PluginInSong = PluginOutputId & { identity: string; settings: readonly unknown[] };

/** A sound that the service has rendered; see {@link PluginState}. */
type Sound = { fileId: string; isSilent: boolean; warnings: readonly string[] };

/** A plugin, its last sound and the sound that the engine plays. */
type Plugin = PluginInSong & { isOutdated: boolean; newest: Sound | null; playedFileId: string | null };

/**
 * An answer of the service, and the plugins as they were when the service was asked, by their keys.
 */
type Answer = { outcomes: readonly PluginOutcome[]; requested: ReadonlyMap<string, PluginInSong> };

/** Returns the id of a sound among the ids of audio files. */
export const fileIdOfSound = (soundId: string): string => SOUND_PREFIX + soundId;

/** Returns the id of a sound from its id among the audio files; null for other files. */
export const soundIdOf = (fileId: string): string | null => (fileId.startsWith(SOUND_PREFIX) ? fileId.slice(SOUND_PREFIX.length) : null);

const keyOf = ({ trackId, effectId }: PluginOutputId): string => JSON.stringify([trackId, effectId]);

/**
 * Returns the plugins of a song by their keys, except instruments without notes and the effects of
 * live channels.
 */
function pluginsOf(project: Project, liveIds: ReadonlySet<string>): Map<string, PluginInSong> {
  const plugins = new Map<string, PluginInSong>();
  const time = JSON.stringify([project.tempo_map, project.sample_rate_hz]);
  const add = (outputId: PluginOutputId, plugin: PluginEngine | PluginEffect, ...otherSettings: unknown[]): void => {
    const identity = `${plugin.type} ${plugin.plugin_id} ${time}`;
    plugins.set(keyOf(outputId), { ...outputId, identity, settings: [plugin, project.time_signatures, ...otherSettings] });
  };
  const addEffects = ({ effects = [], automation }: Pick<Track, 'effects' | 'automation'>, trackId: string | null): void => {
    for (const effect of effects) if (effect.type !== 'builtin') add({ trackId, effectId: effect.id }, effect, automation);
  };
  for (const track of project.tracks) {
    const engine = track.synth_engine;
    if (track.kind === 'instrument' && isPluginEngine(engine) && hasNotes(track)) {
      add({ trackId: track.id, effectId: null }, engine, track.items, track.automation);
    }
    if (!liveIds.has(track.id)) addEffects(track, track.id);
  }
  if (!liveIds.has(MASTER_ID)) addEffects(project.master, null);
  return plugins;
}

function areEqual(a: PluginInSong, b: PluginInSong): boolean {
  return a.identity === b.identity && a.settings.every((setting, index) => setting === b.settings[index]);
}

const hasNotes = ({ items }: Track): boolean => items.some((item) => item.type === 'midi' && item.notes.length > 0);

/** Returns a text that changes with every part of a song that can change a sound. */
function inputsOf({ tracks, tempo_map, time_signatures, master, settings, sample_rate_hz }: Project): string {
  const audibleTracks = tracks.map(({ name: _name, color: _color, ...track }) => track);
  return JSON.stringify([audibleTracks, tempo_map, time_signatures, master, settings, sample_rate_hz]);
}

/** Returns the state of a plugin whose newest sound is that of the current song. */
function stateOfSound({ newest, playedFileId }: Plugin): PluginState {
  return newest && newest.fileId === playedFileId ? { kind: 'ready', isSilent: newest.isSilent, warnings: newest.warnings } : { kind: 'rendering' };
}

export class PluginSounds {
  #states = $state.raw<ReadonlyMap<string, PluginState>>(new Map());
  readonly #api: Api;
  /** Called when there are sounds that the engine does not have. */
  readonly #onSounds: () => void;
  readonly #plugins = new Map<string, Plugin>();
  #project: Project | null = null;
  /** The inputs of the last answer, or of the request in progress. */
  #inputs = '';
  #timer: ReturnType<typeof setTimeout> | undefined;
  #request: AbortController | null = null;
  /** The plugins of the request in progress, by their keys. */
  #requested: ReadonlyMap<string, PluginInSong> = new Map();
  #lastAnswer: Answer | null = null;
  /** Sounds that could not be loaded, although the service had rendered them. */
  readonly #lostFileIds = new Set<string>();

  constructor(api: Api, onSounds: () => void) {
    this.#api = api;
    this.#onSounds = onSounds;
  }

  /** Returns the state of a plugin; null if the song plays without it. */
  stateOf(trackId: string | null, effectId: string | null): PluginState | null {
    return this.#states.get(keyOf({ trackId, effectId })) ?? null;
  }

  /** Counts the plugins, except those that failed or are missing. */
  get count(): PluginCount {
    const states = [...this.#states.values()].filter(({ kind }) => kind === 'rendering' || kind === 'ready');
    return { requested: states.length, ready: states.filter(({ kind }) => kind === 'ready').length };
  }

  /** Whether the song has plugins that need sounds. */
  get hasPlugins(): boolean {
    return this.#plugins.size > 0;
  }

  /**
   * Renders the sounds of a song that changed since the last call, except the effects of channels
   * that are live.
   */
  update(project: Project, liveIds: ReadonlySet<string> = NO_CHANNELS): void {
    if (project === this.#project) return;
    const isFirst = this.#project?.project_id !== project.project_id;
    this.#project = project;
    const plugins = pluginsOf(project, liveIds);
    if (plugins.size === 0) return this.stop();
    const states = new Map<string, PluginState>();
    for (const key of [...this.#plugins.keys()]) if (!plugins.has(key)) this.#plugins.delete(key);
    for (const [key, plugin] of plugins) {
      const knownPlugin = this.#plugins.get(key);
      const isSame = knownPlugin?.identity === plugin.identity;
      const hasChanged = !knownPlugin || !areEqual(plugin, knownPlugin);
      const sound = isSame ? { newest: knownPlugin.newest, playedFileId: knownPlugin.playedFileId } : { newest: null, playedFileId: null };
      this.#plugins.set(key, { ...plugin, ...sound, isOutdated: hasChanged || knownPlugin?.isOutdated === true });
      const state = this.#states.get(key);
      if (hasChanged) states.set(key, { kind: 'rendering' });
      else if (state) states.set(key, state);
    }
    this.#states = states;
    this.#schedule(isFirst ? 0 : SETTLE_MS);
  }

  /** Renders all sounds again, for example after a scan has found other plugins. */
  renderAgain(): void {
    this.#inputs = '';
    if (this.#plugins.size > 0) this.#schedule(0);
  }

  /** Forgets all sounds. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#request?.abort();
    this.#request = null;
    this.#plugins.clear();
    this.#project = null;
    this.#inputs = '';
    this.#lastAnswer = null;
    this.#states = new Map();
  }

  /** Returns the ids of the audio files that the engine plays or needs. */
  get fileIds(): string[] {
    const ids = [...this.#plugins.values()].flatMap(({ newest, playedFileId }) => [newest?.fileId ?? null, playedFileId]);
    return [...new Set(ids.filter((id) => id !== null))];
  }

  /**
   * Returns the outputs that the engine plays from the next session on. `canPlay` says whether the
   * engine has an audio file.
   */
  takeOutputs(canPlay: (fileId: string) => boolean): PluginOutput[] {
    const states = new Map(this.#states);
    const outputs: PluginOutput[] = [];
    for (const [key, plugin] of this.#plugins) {
      const { trackId, effectId, newest } = plugin;
      if (newest && canPlay(newest.fileId)) {
        plugin.playedFileId = newest.fileId;
        if (this.#request === null && !plugin.isOutdated && states.has(key)) states.set(key, stateOfSound(plugin));
      }
      const { playedFileId } = plugin;
      if (playedFileId !== null && canPlay(playedFileId)) outputs.push({ trackId, effectId, audioId: playedFileId });
    }
    this.#states = states;
    return outputs;
  }

  /** Reports a sound that the engine cannot load. The service may have deleted it since. */
  loadFailed(fileId: string, error: unknown): void {
    for (const [key, plugin] of this.#plugins) {
      if (plugin.playedFileId === fileId) plugin.playedFileId = null;
      if (plugin.newest?.fileId !== fileId) continue;
      plugin.newest = null;
      this.#setFailed(key, plugin, error);
    }
    if (this.#lostFileIds.has(fileId)) return;
    this.#lostFileIds.add(fileId);
    this.renderAgain();
  }

  #schedule(delayMs: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#render(), delayMs);
  }

  async #render(): Promise<void> {
    const project = this.#project;
    if (!project) return;
    const inputs = inputsOf(project);
    this.#requested = new Map(this.#plugins);
    if (inputs === this.#inputs) {
      // The edits since then were undone, so the answer applies, also if it has not arrived yet.
      if (this.#request === null && this.#lastAnswer) this.#receive({ ...this.#lastAnswer, requested: this.#requested });
      return;
    }
    this.#inputs = inputs;
    this.#request?.abort();
    const request = new AbortController();
    this.#request = request;
    const slowTimer = setTimeout(() => this.#setAllRendering(), SLOW_MS);
    try {
      const outcomes = await renderPluginSounds(this.#api, project, request.signal);
      if (this.#request !== request) return;
      this.#request = null;
      this.#receive({ outcomes, requested: this.#requested });
    } catch (error) {
      if (this.#request !== request) return;
      this.#request = null;
      this.#inputs = '';
      for (const [key, plugin] of this.#plugins) if (this.#states.has(key)) this.#setFailed(key, plugin, error);
    } finally {
      clearTimeout(slowTimer);
    }
  }

  #setAllRendering(): void {
    this.#states = new Map([...this.#states].map(([key, state]) => [key, state.kind === 'missing' ? state : { kind: 'rendering' }]));
  }

  /**
   * Receives the sounds of an answer, except those of plugins that have been replaced since the
   * request.
   */
  #receive(answer: Answer): void {
    this.#lastAnswer = answer;
    const outcomes = new Map(answer.outcomes.map((outcome) => [keyOf({ trackId: outcome.track_id, effectId: outcome.effect_id }), outcome]));
    const states = new Map<string, PluginState>();
    for (const [key, plugin] of this.#plugins) {
      const requested = answer.requested.get(key);
      const outcome = requested?.identity === plugin.identity ? outcomes.get(key) : undefined;
      plugin.isOutdated = !requested || !areEqual(plugin, requested);
      if (outcome?.state === 'ready') {
        const isSilent = outcome.effect_id === null && outcome.is_silent;
        plugin.newest = { fileId: fileIdOfSound(outcome.sound_id), isSilent, warnings: outcome.warnings };
      } else if (outcome) {
        Object.assign(plugin, { newest: null, playedFileId: null });
      }
      if (plugin.isOutdated) states.set(key, { kind: 'rendering' });
      else if (outcome?.state === 'ready') states.set(key, stateOfSound(plugin));
      else if (outcome?.state === 'failed') states.set(key, { kind: 'failed', reason: outcome.reason, playsLastSound: false });
      else if (outcome) states.set(key, { kind: 'missing', reason: outcome.reason });
    }
    this.#states = states;
    this.#onSounds();
  }

  #setFailed(key: string, { playedFileId }: Plugin, error: unknown): void {
    this.#setState(key, { kind: 'failed', reason: reasonOf(error), playsLastSound: playedFileId !== null });
  }

  #setState(key: string, state: PluginState): void {
    this.#states = new Map(this.#states).set(key, state);
  }
}
