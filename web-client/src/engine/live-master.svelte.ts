/**
 * Plays the effects of the master live: the service processes them block by block, instead of
 * rendering them in advance. Chains without plugins stay in the engine.
 */
import { BUFFER_CHOICE_MAX, LiveChain, type EngineClient, type LiveChainSettings, type LiveFigures, type LivePluginState, type WorkerReport } from '@songfoundry/web-worklet';
import type { Api } from '../api/client';
import { hasMasterPlugins, liveChainOf, liveEdits, liveLanesOf, liveProblem, withoutMasterEffects } from '../project/live-chain';
import type { Project } from '../project/model';
import { readStored, writeStored } from '../state/local-storage';
import { LIVE_WORKER_URL } from './build-urls';

/** How the plugins of the master become audible: rendered in advance, or processed live. */
export type PluginSoundMode = 'cached' | 'live';

const isMode = (value: unknown): value is PluginSoundMode => value === 'cached' || value === 'live';
const STORAGE_KEY = 'masterPlugins';
/**
 * Key of the browser's storage for a larger buffer, which slow connections and busy machines need.
 */
const BUFFER_KEY = 'liveBufferBlocks';
const isBufferChoice = (value: unknown): value is number | null =>
  Number.isInteger(value) && Number(value) >= 8 && Number(value) <= BUFFER_CHOICE_MAX;

export class LiveMaster {
  mode = $state<PluginSoundMode>(readStored(STORAGE_KEY, 'cached', isMode));
  /** The last report of the worker; null if there is no live chain. */
  report = $state.raw<WorkerReport | null>(null);
  /** Figures of the audio thread; null if there is no live chain. */
  figures = $state.raw<LiveFigures | null>(null);
  readonly #api: Api;
  #engine: EngineClient | null = null;
  #chain: LiveChain | null = null;
  #sentChain: LiveChainSettings | null = null;
  /** The parts of the song of which the service has the chain and its automation. */
  #sentInputs: readonly unknown[] = [];
  /** The token of the next connections. */
  #sentToken: string | null = null;

  constructor(api: Api) {
    this.#api = api;
  }

  /** Whether the service processes the master's effects of a song live. */
  processes(project: Project): boolean {
    return this.mode === 'live' && hasMasterPlugins(project) && liveProblem(project) === null;
  }

  setMode(mode: PluginSoundMode): void {
    this.mode = mode;
    writeStored(STORAGE_KEY, mode);
  }

  /** Returns the state of the plugin of a master's effect; null if it is not live. */
  stateOf(effectId: string): LivePluginState | null {
    return this.report?.plugins.find(([id]) => id === effectId)?.[1] ?? null;
  }

  /** Returns the song for the engine: without the effects that are live. */
  projectForEngine(project: Project): Project {
    return this.processes(project) ? withoutMasterEffects(project) : project;
  }

  /** Sends the chain and its automation to the service, as far as they have changed. */
  update(engine: EngineClient, project: Project): void {
    if (!this.processes(project)) return this.leave();
    if (this.#engine !== engine) this.leave();
    if (!this.#chain) {
      this.#engine = engine;
      this.#chain = new LiveChain(engine, {
        workerUrl: LIVE_WORKER_URL,
        url: socketUrl(),
        protocols: this.#protocols(),
        bufferBlocks: readStored<number | null>(BUFFER_KEY, null, isBufferChoice),
        onReport: (report) => {
          this.report = report;
          // The page may have got another token, as after a change of the password.
          if (this.#api.token !== this.#sentToken) this.#chain?.setProtocols(this.#protocols());
        },
      });
    }
    const inputs = [project.master, project.tempo_map, project.sample_rate_hz, project.settings];
    if (inputs.every((input, index) => input === this.#sentInputs[index])) return;
    const chain = liveChainOf(project);
    const [sentMaster, sentTempo] = this.#sentInputs as [Project['master']?, Project['tempo_map']?];
    const haveLanesChanged = project.master.automation !== sentMaster?.automation || project.tempo_map !== sentTempo;
    const edits = this.#sentChain && liveEdits(this.#sentChain, chain);
    if (!edits) this.#chain.setChain(chain, liveLanesOf(project));
    else {
      if (haveLanesChanged) this.#chain.setLanes(liveLanesOf(project));
      for (const edit of edits) {
        if ('param' in edit) this.#chain.setParameter(edit.effect, edit.param, edit.value);
        else this.#chain.setBypass(edit.effect, edit.bypass);
      }
    }
    this.#sentChain = chain;
    this.#sentInputs = inputs;
  }

  #protocols(): string[] {
    this.#sentToken = this.#api.token;
    return ['songfoundry.v1', ...(this.#sentToken === null ? [] : [`bearer.${this.#sentToken}`])];
  }

  /** Ends the live chain; the engine plays the master without it. */
  leave(): void {
    this.#chain?.close();
    this.#chain = null;
    this.#engine = null;
    this.#sentChain = null;
    this.#sentInputs = [];
    this.report = null;
    this.figures = null;
  }
}

function socketUrl(): string {
  const url = new URL('/api/v1/plugins/ws/fx-realtime', window.location.href);
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  return url.href;
}
