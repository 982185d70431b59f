/** The page's client of a live chain: effects of a track or the master that the service processes. */
import type { EngineClient } from '../engine-client';
import { canShareMemory, RING_BYTES } from './block-ring';
import type { LiveChainSettings, LiveConnection, LiveLane, WorkerCommand, WorkerReport } from './messages';

/** Options of a live chain. */
export type LiveChainOptions = {
  /** Id of the track whose signal passes the chain; null for the master. */
  trackId: string | null;
  /** Address of the bundled `worker.ts`. */
  workerUrl: string;
  /** Address of the service's WebSocket. */
  url: string;
  /** Protocols of the WebSocket, one of which may contain a token. */
  protocols: string[];
  /**
   * Blocks from sending to playing at first and at least, at most `BUFFER_CHOICE_MAX`; null for the
   * usual ones.
   */
  bufferBlocks: number | null;
  /** Receives each change of the state. */
  onReport: (report: WorkerReport) => void;
};

/** A live chain of an engine, from its creation until `close`. */
export class LiveChain {
  readonly #engine: EngineClient;
  readonly #worker: Worker;
  readonly #trackId: string | null;

  constructor(engine: EngineClient, { trackId, workerUrl, url, protocols, bufferBlocks, onReport }: LiveChainOptions) {
    this.#engine = engine;
    this.#trackId = trackId;
    this.#worker = new Worker(workerUrl, { type: 'module' });
    this.#worker.onerror = ({ message }) => {
      const connection: LiveConnection = { kind: 'failed', detail: message || 'the script of the live plugins cannot be loaded' };
      onReport({ connection, plugins: [], chainFrames: 0, queuedBlocks: 0, droppedBlocks: 0, refusal: null, service: null });
    };
    this.#worker.onmessage = ({ data }: MessageEvent<WorkerReport>) => onReport(data);
    const rings = canShareMemory() ? { sent: new SharedArrayBuffer(RING_BYTES), returned: new SharedArrayBuffer(RING_BYTES) } : null;
    const { port1, port2 } = new MessageChannel();
    this.#send({ type: 'open', url, protocols, port: port1, rings, bufferBlocks }, [port1]);
    engine.setLiveChain(trackId, { port: port2, rings, bufferBlocks });
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

  /** Sets the protocols of the next connections, one of which may contain a token. */
  setProtocols(protocols: string[]): void {
    this.#send({ type: 'protocols', protocols });
  }

  /** Disconnects from the service. */
  close(): void {
    if (!this.#engine.hasEnded) this.#engine.setLiveChain(this.#trackId, null);
    this.#worker.onmessage = null;
    this.#worker.onerror = null;
    this.#send({ type: 'close' });
  }

  #send(command: WorkerCommand, transfer: Transferable[] = []): void {
    this.#worker.postMessage(command, transfer);
  }
}
