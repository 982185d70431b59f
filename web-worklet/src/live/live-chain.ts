/** The page's client of a live chain: effects of the master that the service processes. */
import type { EngineClient } from '../engine-client';
import { canShareMemory, RING_BYTES } from './block-ring';
import type { LiveChainSettings, LiveLane, WorkerCommand, WorkerReport } from './messages';

/** Options of a live chain. */
export type LiveChainOptions = {
  /** Address of the bundled `worker.ts`. */
  workerUrl: string;
  /** Address of the service's WebSocket. */
  url: string;
  /** Protocols of the WebSocket, one of which may contain a token. */
  protocols: string[];
  /** Receives each change of the state. */
  onReport: (report: WorkerReport) => void;
};

/** A live chain of an engine, from its creation until `close`. */
export class LiveChain {
  readonly #engine: EngineClient;
  readonly #worker: Worker;

  constructor(engine: EngineClient, { workerUrl, url, protocols, onReport }: LiveChainOptions) {
    this.#engine = engine;
    this.#worker = new Worker(workerUrl, { type: 'module' });
    this.#worker.onmessage = ({ data }: MessageEvent<WorkerReport>) => onReport(data);
    const rings = canShareMemory() ? { sent: new SharedArrayBuffer(RING_BYTES), returned: new SharedArrayBuffer(RING_BYTES) } : null;
    const { port1, port2 } = new MessageChannel();
    this.#send({ type: 'open', url, protocols, port: port1, rings }, [port1]);
    engine.setLiveChain({ port: port2, rings });
  }

  /** Sets the effects and their automation. */
  setChain(chain: LiveChainSettings, lanes: readonly LiveLane[]): void {
    this.#send({ type: 'chain', chain, lanes });
  }

  setLanes(lanes: readonly LiveLane[]): void {
    this.#send({ type: 'lanes', lanes });
  }

  /** Sets a parameter: in its unit, or from 0 to 1 for that of a plugin. */
  setParameter(effect: string, param: string, value: unknown): void {
    this.#send({ type: 'parameter', effect, param, value });
  }

  setBypass(effect: string, bypass: boolean): void {
    this.#send({ type: 'bypass', effect, bypass });
  }

  /** Disconnects from the service. */
  close(): void {
    if (!this.#engine.hasEnded) this.#engine.setLiveChain(null);
    this.#worker.onmessage = null;
    this.#send({ type: 'close' });
  }

  #send(command: WorkerCommand, transfer: Transferable[] = []): void {
    this.#worker.postMessage(command, transfer);
  }
}
