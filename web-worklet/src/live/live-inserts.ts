/** The live chains of an engine on the audio thread: that of the master and those of tracks. */
import { BLOCK_FRAMES } from './block-ring';
import { LiveInsert, type InsertBuffers } from './live-insert';
import type { ChannelFigures, LiveConnectionPorts } from './messages';

/** Length of one of the engine's buffers in bytes; a sample has 4 bytes. */
const BLOCK_BYTES = 4 * BLOCK_FRAMES;

/** The part of the engine that live chains use. */
export type InsertEngine = {
  /** Sets the latency of the effects outside the engine of a track or the master; null removes them. */
  setLatency: (trackId: string | null, latencyFrames: number | null) => void;
  /** Returns the address of the buffers of these effects; 0 if the session does not have the track. */
  buffersOf: (trackId: string | null) => number;
};

type Channel = {
  readonly trackId: string | null;
  readonly insert: LiveInsert;
  readonly figures: ChannelFigures;
  /** Null while the session does not have the track. */
  buffers: InsertBuffers | null;
  /** Whether the output is for the next block, and the latency of the input in frames. */
  state: Uint32Array;
};

export class LiveInserts {
  readonly #engine: InsertEngine;
  readonly #onPrepared: () => void;
  #channels: Channel[] = [];

  /** `onPrepared` is called when all chains are clear after {@link prepare}. */
  constructor(engine: InsertEngine, onPrepared: () => void) {
    this.#engine = engine;
    this.#onPrepared = onPrepared;
  }

  get isEmpty(): boolean {
    return this.#channels.length === 0;
  }

  /** Whether the service processes blocks of any chain. */
  get isConnected(): boolean {
    return this.#channels.some(({ insert }) => insert.isConnected);
  }

  /** Figures of each chain, in objects that the next call changes. */
  get figures(): ChannelFigures[] {
    return this.#channels.map(({ insert, figures }) => {
      figures.latencyFrames = insert.latencyFrames;
      figures.lateBlocks = insert.lateBlocks;
      return figures;
    });
  }

  /** Lets the signal of a track or the master pass a live chain; null ends that. */
  set(trackId: string | null, ports: LiveConnectionPorts | null): void {
    const previous = this.#channels.find((channel) => channel.trackId === trackId);
    previous?.insert.end();
    this.#channels = this.#channels.filter((channel) => channel !== previous);
    if (!ports) {
      this.#engine.setLatency(trackId, null);
      return;
    }
    const { port, rings, bufferBlocks } = ports;
    const insert = new LiveInsert(
      port,
      rings,
      () => this.#engine.setLatency(trackId, insert.latencyFrames),
      () => {
        if (!this.#channels.some((channel) => channel.insert.isPreparing)) this.#onPrepared();
      },
      bufferBlocks,
    );
    const figures = { trackId, latencyFrames: insert.latencyFrames, lateBlocks: 0 };
    this.#channels.push({ trackId, insert, figures, buffers: null, state: new Uint32Array(2) });
    this.#engine.setLatency(trackId, insert.latencyFrames);
  }

  /** Sets the latencies again, for tracks that a new session has added. */
  renew(): void {
    for (const { trackId, insert } of this.#channels) this.#engine.setLatency(trackId, insert.latencyFrames);
  }

  /** Returns the addresses of the engine's buffers for {@link view}. */
  addresses(): number[] {
    return this.#channels.map(({ trackId }) => this.#engine.buffersOf(trackId));
  }

  /** Creates new views of the engine's buffers at {@link addresses}. */
  view(memory: ArrayBuffer, addresses: readonly number[]): void {
    this.#channels.forEach((channel, index) => {
      const address = addresses[index] ?? 0;
      [channel.buffers, channel.state] = [null, new Uint32Array(2)];
      if (address === 0) return;
      const side = (number: number): Float32Array => new Float32Array(memory, address + number * BLOCK_BYTES, BLOCK_FRAMES);
      channel.buffers = { input: [side(0), side(1)], output: [side(2), side(3)] };
      channel.state = new Uint32Array(memory, address + 4 * BLOCK_BYTES, 2);
    });
  }

  /** Returns how many of the next frames belong to the same block of every chain. */
  framesOfBlock(frames: number): number {
    let least = frames;
    for (const { insert } of this.#channels) least = insert.framesOfBlock(least);
    return least;
  }

  /** Passes the outputs of the chains for the next frames to the engine. */
  fill(frames: number, updateViews: () => void): void {
    for (const channel of this.#channels) {
      const hasOutput = channel.buffers !== null && channel.insert.fill(channel.buffers, frames);
      // A changed latency may have moved the buffers.
      updateViews();
      channel.state[0] = hasOutput ? 1 : 0;
    }
  }

  /** Takes the frames that entered the chains; `position` is that of the engine before them. */
  take(frames: number, position: number, isPlaying: boolean): void {
    for (const { insert, buffers, state } of this.#channels) {
      if (buffers) insert.take(buffers, frames, Math.max(0, position - (state[1] ?? 0)), isPlaying);
    }
  }

  /** Clears all chains for a start of playback at a frame of the song. */
  prepare(songFrame: number): void {
    for (const { insert } of this.#channels) if (insert.isConnected) insert.prepare(songFrame);
  }

  /** Forgets {@link prepare}. */
  cancel(): void {
    for (const { insert } of this.#channels) insert.cancel();
  }

  /** Starts anew: the engine has cleared its audio. */
  start(): void {
    for (const { insert } of this.#channels) insert.start();
  }
}
