/** Messages of a live chain between the page, its worker and the audio thread. */
import type { BlockHeader } from './block-ring';

/** An effect of the chain, as in a project. */
export type LiveEffect = {
  id: string;
  type: string;
  name?: string;
  plugin_id?: string;
  state?: string;
  params?: Record<string, unknown>;
  bypass?: boolean;
};

/** A chain for the service. `seed` is that of the project, `bpm` its first tempo. */
export type LiveChainSettings = { sampleRateHz: number; seed: number; bpm: number; effects: readonly LiveEffect[] };

/** A point of an automated parameter; `curve` as in a project. */
export type LivePoint = { frame: number; value: number; curve: 'linear' | 'step' | number };

/** The automation of a parameter of an effect of the chain. */
export type LiveLane = { effect: string; param: string; points: readonly LivePoint[] };

/** From the page to the worker. */
export type WorkerCommand =
  | {
      type: 'open';
      url: string;
      protocols: string[];
      /** The port to the audio thread. */
      port: MessagePort;
      /** The rings in shared memory; null if the page has none. */
      rings: { sent: SharedArrayBuffer; returned: SharedArrayBuffer } | null;
      /** The chosen number of blocks from sending to playing; null for the usual one. */
      bufferBlocks: number | null;
    }
  | { type: 'chain'; chain: LiveChainSettings; lanes: readonly LiveLane[] }
  | { type: 'lanes'; lanes: readonly LiveLane[] }
  | { type: 'parameter'; effect: string; param: string; value: unknown }
  | { type: 'bypass'; effect: string; bypass: boolean }
  /** The protocols of the next connections. */
  | { type: 'protocols'; protocols: string[] }
  | { type: 'close' };

/** State of the plugin of an effect in the service. */
export type LivePluginState =
  | { kind: 'opening' }
  | { kind: 'running' }
  | { kind: 'late'; detail: string }
  | { kind: 'restarting'; detail: string }
  | { kind: 'missing'; detail: string };

/** State of the connection to the service; `failed` if the worker cannot run at all. */
export type LiveConnection = { kind: 'connecting' } | { kind: 'open' } | { kind: 'lost'; detail: string } | { kind: 'failed'; detail: string };

/** The state that the worker reports to the page whenever it changes. */
export type WorkerReport = {
  connection: LiveConnection;
  /** Plugins by the ids of their effects. */
  plugins: readonly (readonly [string, LivePluginState])[];
  /** Latency of the chain, without that of the transport, in frames. */
  chainFrames: number;
  /** Blocks on their way to the service and back. */
  queuedBlocks: number;
  /** Blocks that were not sent, because the queue was full. */
  droppedBlocks: number;
};

/** From the audio thread to the worker. */
export type ToWorker =
  /**
   * Clears the chain, whose next block is at a frame of the song; answered by `prepared`. Blocks
   * with a number below `nextNumber` are dropped.
   */
  | { type: 'prepare'; songFrame: number; nextNumber: number }
  /** Blocks, if there is no shared memory. */
  | { type: 'blocks'; headers: BlockHeader[]; values: Float32Array };

/** From the worker to the audio thread. */
export type ToAudioThread =
  /** The chain is clear for a frame of the song. */
  | { type: 'prepared'; songFrame: number }
  /** Latency of the chain in frames; null while the service cannot be reached. */
  | { type: 'latency'; chainFrames: number | null }
  /** A processed block, if there is no shared memory. */
  | { type: 'block'; number: number; values: Float32Array };

/** Figures of the audio thread. */
export type LiveFigures = {
  /** Frames from the input of the chain to its output, with the transport. */
  latencyFrames: number;
  /** Blocks that were due and had not arrived. */
  lateBlocks: number;
};
