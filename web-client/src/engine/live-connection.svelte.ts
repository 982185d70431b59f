/** The live chain of a channel in the service. */
import { BUFFER_CHOICE_MAX, LiveChain, type EngineClient, type LiveChainSettings, type LiveFigures, type WorkerReport } from '@songfoundry/web-worklet';
import type { Api } from '../api/client';
import { channelOf, liveChainOf, liveEdits, liveLanesOf, type LiveSource } from '../project/live-chain';
import { MASTER_ID, type Project } from '../project/model';
import { readStored } from '../state/local-storage';
import { LIVE_WORKER_URL } from './build-urls';

/** Where a browser keeps a larger buffer, for slow connections and busy machines. */
const BUFFER_KEY = 'liveBufferBlocks';
const isBufferChoice = (value: unknown): value is number | null =>
  Number.isInteger(value) && Number(value) >= 8 && Number(value) <= BUFFER_CHOICE_MAX;

/** The parts of a song of which the service has the chain and its automation. */
type SentInputs = { source: LiveSource; tempo: Project['tempo_map']; rate: number; settings: Project['settings'] };

export class LiveConnectionOfChannel {
  /** What the worker reported last. */
  report = $state.raw<WorkerReport | null>(null);
  /** Figures of the audio thread. */
  figures = $state.raw<LiveFigures | null>(null);
  readonly #api: Api;
  readonly #channelId: string;
  readonly #chain: LiveChain;
  #sentChain: LiveChainSettings | null = null;
  #sentInputs: SentInputs | null = null;
  /** The token of the next connections. */
  #sentToken: string | null = null;

  /** `onRefusal` gets the reason if the service runs too many plugins. */
  constructor(engine: EngineClient, api: Api, channelId: string, onRefusal: (reason: string) => void) {
    this.#api = api;
    this.#channelId = channelId;
    this.#chain = new LiveChain(engine, {
      trackId: channelId === MASTER_ID ? null : channelId,
      workerUrl: LIVE_WORKER_URL,
      url: socketUrl(),
      protocols: this.#protocols(),
      bufferBlocks: readStored<number | null>(BUFFER_KEY, null, isBufferChoice),
      onReport: (report) => {
        this.report = report;
        if (report.refusal !== null) onRefusal(report.refusal);
        // The page may have got another token, as after a change of the password.
        if (this.#api.token !== this.#sentToken) this.#chain.setProtocols(this.#protocols());
      },
    });
  }

  /** Sends the chain and its automation to the service, as far as they have changed. */
  update(project: Project): void {
    const source = channelOf(project, this.#channelId);
    if (!source) return;
    const inputs: SentInputs = { source, tempo: project.tempo_map, rate: project.sample_rate_hz, settings: project.settings };
    const sent = this.#sentInputs;
    if (sent && sent.source === source && sent.tempo === inputs.tempo && sent.rate === inputs.rate && sent.settings === inputs.settings) return;
    const chain = liveChainOf(project, this.#channelId);
    const edits = this.#sentChain && liveEdits(this.#sentChain, chain);
    if (!edits) this.#chain.setChain(chain, liveLanesOf(project, source));
    else {
      if (source.automation !== sent?.source.automation || inputs.tempo !== sent?.tempo) this.#chain.setLanes(liveLanesOf(project, source));
      for (const edit of edits) {
        if ('param' in edit) this.#chain.setParameter(edit.effect, edit.param, edit.value);
        else this.#chain.setBypass(edit.effect, edit.bypass);
      }
    }
    this.#sentChain = chain;
    this.#sentInputs = inputs;
  }

  /** Ends the live chain; the engine plays the channel without it. */
  close(): void {
    this.#chain.close();
  }

  #protocols(): string[] {
    this.#sentToken = this.#api.token;
    return ['songfoundry.v1', ...(this.#sentToken === null ? [] : [`bearer.${this.#sentToken}`])];
  }
}

function socketUrl(): string {
  const url = new URL('/api/v1/plugins/ws/fx-realtime', window.location.href);
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  return url.href;
}
