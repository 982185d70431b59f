/**
 * Plays the effects of tracks and of the master live: the service processes them block by block,
 * instead of rendering their plugins in advance. Chains without plugins stay in the engine.
 */
import type { ChannelFigures, EngineClient } from '@songfoundry/web-worklet';
import type { LiveFigures, LivePluginState, WorkerReport } from '@songfoundry/web-worklet';
import type { Api } from '../api/client';
import { channelOf, hasPlugins, liveProblem, withoutEffectsOf, withoutUnneededEffects } from '../project/live-chain';
import { MASTER_ID, type Project } from '../project/model';
import { readStored, writeStored } from '../state/local-storage';
import { LiveConnectionOfChannel } from './live-connection.svelte';

/** How the plugins of a channel become audible: rendered in advance, or processed live. */
export type PluginSoundMode = 'cached' | 'live';

/** Most channels that are live at a time; each has a connection and a worker. */
export const LIVE_CHANNELS_MAX = 16;
/** Most choices that a browser keeps. */
const CHOICES_MAX = 200;
const STORAGE_KEY = 'liveChannels';
const isList = (value: unknown): value is string[] => Array.isArray(value) && value.every((entry) => typeof entry === 'string');

/** The master is live in all songs, a track in its song. */
const choiceOf = (project: Project, channelId: string): string => (channelId === MASTER_ID ? MASTER_ID : `${project.project_id} ${channelId}`);

export class LiveChannels {
  /** The channels that the user wants to be live, the latest last. */
  #choices = $state.raw<readonly string[]>(readStored(STORAGE_KEY, [], isList));
  /** The open connections by channel. */
  #connections = $state.raw<ReadonlyMap<string, LiveConnectionOfChannel>>(new Map());
  /** Why the service has refused channels. */
  #refusals = $state.raw<ReadonlyMap<string, string>>(new Map());
  readonly #api: Api;
  readonly #onRefusal: () => void;
  #engine: EngineClient | null = null;

  /** `onRefusal` is called when a channel can no longer be live. */
  constructor(api: Api, onRefusal: () => void) {
    this.#api = api;
    this.#onRefusal = onRefusal;
  }

  modeOf(project: Project, channelId: string): PluginSoundMode {
    return this.#choices.includes(choiceOf(project, channelId)) ? 'live' : 'cached';
  }

  setMode(project: Project, channelId: string, mode: PluginSoundMode): void {
    const choice = choiceOf(project, channelId);
    const others = this.#choices.filter((candidate) => candidate !== choice);
    this.#choices = mode === 'live' ? [...others, choice].slice(-CHOICES_MAX) : others;
    // A place may be free now.
    this.#refusals = new Map();
    writeStored(STORAGE_KEY, this.#choices.length > 0 ? this.#choices : null);
  }

  /** Returns why a channel that the user wants to be live is not; null if it is. */
  problemOf(project: Project, channelId: string): string | null {
    const chain = channelOf(project, channelId);
    const problem = (chain && liveProblem(chain)) ?? this.#refusals.get(channelId) ?? null;
    if (problem !== null || this.#liveIds(project).has(channelId)) return problem;
    return `${LIVE_CHANNELS_MAX} channels are live, the maximum. Choose Rendered for one of them first.`;
  }

  /** Whether the service processes the effects of a channel live. */
  processes(project: Project, channelId: string): boolean {
    return this.#liveIds(project).has(channelId);
  }

  /** Returns the state of the plugin of an effect; null if it is not live. */
  stateOf(channelId: string, effectId: string): LivePluginState | null {
    return this.reportOf(channelId)?.plugins.find(([id]) => id === effectId)?.[1] ?? null;
  }

  /** Returns what the worker of a channel reported last; null without a live chain. */
  reportOf(channelId: string): WorkerReport | null {
    return this.#connections.get(channelId)?.report ?? null;
  }

  /** Returns the figures of the audio thread for a channel; null without a live chain. */
  figuresOf(channelId: string): LiveFigures | null {
    return this.#connections.get(channelId)?.figures ?? null;
  }

  /** Returns the song for the engine: without the effects that are live. */
  projectForEngine(project: Project): Project {
    return withoutEffectsOf(project, this.#liveIds(project));
  }

  /**
   * Returns the song for the rendering of plugins, and the channels whose plugins are not rendered.
   * Effects that are live stay if a rendered plugin processes their sound.
   */
  projectForSounds(project: Project): { project: Project; liveIds: ReadonlySet<string> } {
    const liveIds = this.#liveIds(project);
    return { project: withoutUnneededEffects(project, liveIds), liveIds };
  }

  /** Sends the chains and their automation to the service, as far as they have changed. */
  update(engine: EngineClient, project: Project): void {
    if (this.#engine !== engine) this.leave();
    this.#engine = engine;
    const liveIds = this.#liveIds(project);
    const connections = new Map(this.#connections);
    for (const [id, connection] of connections) {
      if (liveIds.has(id)) continue;
      connection.close();
      connections.delete(id);
    }
    for (const id of liveIds) {
      const connection = connections.get(id) ?? new LiveConnectionOfChannel(engine, this.#api, id, (reason) => this.#refuse(id, reason));
      connections.set(id, connection);
      connection.update(project);
    }
    const isSame = connections.size === this.#connections.size && [...connections.keys()].every((id) => this.#connections.has(id));
    if (!isSame) this.#connections = connections;
  }

  setFigures(figures: readonly ChannelFigures[]): void {
    for (const { trackId, ...values } of figures) {
      const connection = this.#connections.get(trackId ?? MASTER_ID);
      if (connection) connection.figures = values;
    }
  }

  /** Ends all live chains; the engine plays the channels without them. */
  leave(): void {
    for (const connection of this.#connections.values()) connection.close();
    this.#connections = new Map();
    this.#engine = null;
  }

  /** Returns the live channels of a song, at most {@link LIVE_CHANNELS_MAX}: those chosen first. */
  #liveIds(project: Project): ReadonlySet<string> {
    const ids = [MASTER_ID, ...project.tracks.map(({ id }) => id)].filter((id) => {
      const chain = channelOf(project, id);
      const canBeLive = chain !== null && hasPlugins(chain) && liveProblem(chain) === null;
      return canBeLive && !this.#refusals.has(id) && this.modeOf(project, id) === 'live';
    });
    const order = (id: string): number => this.#choices.indexOf(choiceOf(project, id));
    return new Set(ids.sort((a, b) => order(a) - order(b)).slice(0, LIVE_CHANNELS_MAX));
  }

  #refuse(channelId: string, reason: string): void {
    if (this.#refusals.has(channelId)) return;
    this.#refusals = new Map(this.#refusals).set(channelId, reason);
    this.#onRefusal();
  }
}
