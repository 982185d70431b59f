/**
 * The connection of a live chain to the service: sends blocks and commands over a WebSocket, and
 * connects again with the chain and its values after a loss.
 */
import { BLOCK_VALUES, FLAG_FLUSH, FLAG_PLAYING, type BlockHeader, type BlockRing } from './block-ring';
import { laneValueAt } from './lane-value';
import type { LiveChainSettings, LiveConnection, LiveLane, LivePluginState, LiveServiceFigures, WorkerReport } from './messages';

/** Most blocks on their way to the service and back; usually also most that wait to be sent. */
const QUEUE_MAX = 32;
/** Times between attempts to connect, in milliseconds; the last one repeats. */
const RECONNECT_MS = [500, 1000, 2000, 4000, 8000];
/** Number of further attempts to open a plugin, and the milliseconds before each attempt. */
const OPEN_ATTEMPTS = 8;
const OPEN_AGAIN_MS = 500;
/** Time without another late block after which a plugin counts as running, in milliseconds. */
const LATE_MS = 2000;
/** A connection on which the service owes an answer for so long is given up, in milliseconds. */
const SILENCE_MS = 20_000;

/** The parts of a WebSocket that a link uses. */
export type LinkSocket = Pick<WebSocket, 'send' | 'close' | 'bufferedAmount' | 'readyState' | 'binaryType' | 'onopen' | 'onclose' | 'onmessage'>;

export type LinkHost = {
  connect: () => LinkSocket;
  /** Calls a function after a time in milliseconds. */
  later: (action: () => void, ms: number) => void;
  /** Receives a processed block. */
  onBlock: (number: number, values: Float32Array) => void;
  /** The chain is clear for a frame of the song. */
  onPrepared: (songFrame: number) => void;
  /** Receives the latency of the chain in frames; null while the service cannot be reached. */
  onLatency: (chainFrames: number | null) => void;
  onReport: (report: WorkerReport) => void;
};

/** A text message of the service. */
type Answer = { cmd: string; effect?: string; detail?: string; code?: string; restarting?: boolean; total?: number };
type Stats = Answer & { mean_ms: number; p99_ms: number; plugins: { late_blocks: number }[] };

const laneKey = (effect: string, param: string): string => JSON.stringify([effect, param]);

export class LiveLink {
  readonly #host: LinkHost;
  readonly #sent: BlockRing;
  /** Blocks that wait for being sent, at most. */
  readonly #waitingMax: number;
  #socket: LinkSocket | null = null;
  #chain: LiveChainSettings | null = null;
  #lanes: readonly LiveLane[] = [];
  /** The automated values that the service has, by effect and parameter. */
  #automated = new Map<string, number>();
  #nextNumber = 1;
  /** Numbers of the blocks that the service has not answered, in their order. */
  #inFlight: number[] = [];
  #needsFlush = true;
  #isFlushing = false;
  /** Number of the block before which the chain was cleared. */
  #flushedBefore = 0;
  /** Position for which the chain is cleared or was cleared last. */
  #flushFrame = 0;
  /** Position for which the audio thread waits; null if it does not wait. */
  #prepareFrame: number | null = null;
  #connection: LiveConnection = { kind: 'connecting' };
  #hasChain = false;
  #failures = 0;
  #plugins = new Map<string, LivePluginState>();
  #openAttempts = new Map<string, number>();
  #chainFrames = 0;
  #droppedBlocks = 0;
  #refusal: string | null = null;
  #service: LiveServiceFigures | null = null;
  #isClosed = false;
  /** Number of messages of the service. */
  #heard = 0;
  readonly #values = new Float32Array(BLOCK_VALUES);

  /** Blocks that may wait are at least `bufferBlocks`, those from sending to playing. */
  constructor(sent: BlockRing, host: LinkHost, bufferBlocks = 0) {
    this.#waitingMax = Math.max(QUEUE_MAX, bufferBlocks);
    this.#sent = sent;
    this.#host = host;
  }

  /** Connects to the service. */
  open(): void {
    if (this.#isClosed) return;
    const socket = this.#host.connect();
    this.#socket = socket;
    this.#watch(socket);
    socket.binaryType = 'arraybuffer';
    socket.onopen = () => {
      if (socket !== this.#socket) return;
      this.#heard += 1;
      this.#connection = { kind: 'open' };
      this.#failures = 0;
      this.#sendChain();
      this.#report();
    };
    socket.onmessage = ({ data }: MessageEvent<string | ArrayBuffer>) => {
      if (socket !== this.#socket) return;
      this.#heard += 1;
      if (typeof data === 'string') this.#receive(JSON.parse(data) as Answer | Stats);
      else this.#receiveBlock(new Float32Array(data));
    };
    socket.onclose = ({ code, reason }) => {
      if (socket === this.#socket) this.#lose(reason === '' ? `the connection ended with code ${code}` : reason);
    };
  }

  /** Gives up a connection on which the service is silent although it owes an answer. */
  #watch(socket: LinkSocket): void {
    const heard = this.#heard;
    const wasOwed = this.#isOwed;
    this.#host.later(() => {
      if (socket !== this.#socket) return;
      if (!wasOwed || !this.#isOwed || heard !== this.#heard) return this.#watch(socket);
      this.#lose(`the service has not answered for ${SILENCE_MS / 1000} seconds`);
      socket.close();
    }, SILENCE_MS);
  }

  /** Whether the service owes an answer. */
  get #isOwed(): boolean {
    const owesChain = this.#chain !== null && !this.#hasChain;
    return this.#connection.kind !== 'open' || owesChain || this.#isFlushing || this.#inFlight.length > 0;
  }

  close(): void {
    this.#isClosed = true;
    this.#socket?.close();
    this.#socket = null;
  }

  #lose(detail: string): void {
    if (this.#isClosed) return;
    this.#socket = null;
    this.#connection = { kind: 'lost', detail };
    this.#hasChain = false;
    this.#isFlushing = false;
    this.#needsFlush = true;
    this.#inFlight = [];
    this.#plugins = new Map([...this.#plugins.keys()].map((id) => [id, { kind: 'opening' }]));
    this.#host.onLatency(null);
    this.#finishPrepare();
    this.#host.later(() => this.open(), RECONNECT_MS[Math.min(this.#failures, RECONNECT_MS.length - 1)] ?? 0);
    this.#failures += 1;
    this.#report();
  }

  setChain(chain: LiveChainSettings, lanes: readonly LiveLane[]): void {
    this.#chain = chain;
    this.#refusal = null;
    this.#openAttempts.clear();
    this.#plugins = new Map(
      chain.effects.flatMap(({ id, type }) => (type === 'builtin' ? [] : [[id, this.#plugins.get(id) ?? { kind: 'opening' }]])),
    );
    this.setLanes(lanes);
    this.#sendChain();
    this.#report();
  }

  setLanes(lanes: readonly LiveLane[]): void {
    const kept = new Set(lanes.map(({ effect, param }) => laneKey(effect, param)));
    const hasLost = [...this.#automated.keys()].some((key) => !kept.has(key));
    this.#lanes = lanes;
    // A parameter that is no longer automated gets its value of the chain again.
    if (hasLost) this.#sendChain();
    this.#automated.clear();
  }

  setParameter(effect: string, param: string, value: unknown): void {
    this.#change(effect, (params) => ({ params: { ...params, [param]: value } }));
    // The next block sets an automated value again.
    this.#automated.delete(laneKey(effect, param));
    if (this.#hasChain) this.#command({ cmd: 'SET_PARAM', effect, param, value });
  }

  setBypass(effect: string, bypass: boolean): void {
    this.#change(effect, () => ({ bypass }));
    if (this.#hasChain) this.#command({ cmd: 'bypass', effect, bypass });
  }

  /** Changes the chain that the next connection starts with. */
  #change(effectId: string, change: (params: Record<string, unknown>) => object): void {
    if (!this.#chain) return;
    const effects = this.#chain.effects.map((effect) => (effect.id === effectId ? { ...effect, ...change(effect.params ?? {}) } : effect));
    this.#chain = { ...this.#chain, effects };
  }

  /** Clears the chain for a frame of the song, and drops the blocks below a number. */
  prepare(songFrame: number, nextNumber: number): void {
    this.#nextNumber = nextNumber;
    this.#prepareFrame = songFrame;
    if (!this.#hasChain) this.#finishPrepare();
    else if (!this.#isFlushing) this.#flush(songFrame);
  }

  #finishPrepare(): void {
    if (this.#prepareFrame === null) return;
    const songFrame = this.#prepareFrame;
    this.#prepareFrame = null;
    this.#host.onPrepared(songFrame);
  }

  /** Sends the blocks of the ring, as far as the queue has room. */
  pump(): void {
    const { newest } = this.#sent;
    if (!this.#hasChain) {
      this.#nextNumber = Math.max(this.#nextNumber, newest + 1);
      this.#needsFlush = true;
      return;
    }
    const waiting = newest - this.#nextNumber + 1;
    if (waiting > this.#waitingMax) {
      this.#droppedBlocks += waiting - this.#waitingMax;
      this.#nextNumber = newest + 1 - this.#waitingMax;
    }
    while (this.#nextNumber <= newest && !this.#isFlushing && !this.#isFull()) {
      const number = this.#nextNumber;
      const header = this.#sent.header(number);
      // While the song is stopped and silent, the audio thread leaves out blocks.
      if (!this.#sent.read(number, this.#values)) {
        this.#nextNumber += 1;
        continue;
      }
      const flushes = this.#needsFlush || (header.flags & FLAG_FLUSH) !== 0;
      if (flushes && this.#flushedBefore !== number) {
        this.#flushedBefore = number;
        this.#flush(header.songFrame);
        return;
      }
      this.#needsFlush = false;
      this.#automate(header);
      this.#inFlight.push(number);
      this.#nextNumber += 1;
      this.#socket?.send(this.#values.slice());
    }
  }

  #isFull(): boolean {
    return this.#inFlight.length >= QUEUE_MAX || (this.#socket?.bufferedAmount ?? 0) > QUEUE_MAX * 4 * BLOCK_VALUES;
  }

  /** Sends the automated values that change with a block, before the block. */
  #automate({ flags, songFrame }: BlockHeader): void {
    if ((flags & FLAG_PLAYING) === 0) return;
    for (const { effect, param, points } of this.#lanes) {
      const value = laneValueAt(points, songFrame);
      const key = laneKey(effect, param);
      if (value === null || this.#automated.get(key) === value) continue;
      this.#automated.set(key, value);
      this.#command({ cmd: 'SET_PARAM', effect, param, value });
    }
  }

  #flush(frame: number): void {
    this.#isFlushing = true;
    this.#flushFrame = frame;
    this.#needsFlush = false;
    this.#automated.clear();
    this.#command({ cmd: 'flush', frame });
  }

  #receiveBlock(values: Float32Array): void {
    const number = this.#inFlight.shift();
    if (number !== undefined) this.#host.onBlock(number, values);
    this.pump();
  }

  /** Asks the service for its figures. */
  askForFigures(): void {
    if (this.#hasChain) this.#command({ cmd: 'stats' });
  }

  #receive(answer: Answer | Stats): void {
    const { cmd, effect = '', detail = '', code = '', restarting = false, total = 0 } = answer;
    if ('mean_ms' in answer) {
      const dryBlocks = answer.plugins.reduce((sum, plugin) => sum + plugin.late_blocks, 0);
      this.#service = { meanMs: answer.mean_ms, p99Ms: answer.p99_ms, dryBlocks };
      return;
    }
    switch (cmd) {
      case 'latency':
        this.#hasChain = true;
        this.#chainFrames = total;
        this.#host.onLatency(total);
        if (this.#prepareFrame !== null && !this.#isFlushing) this.#flush(this.#prepareFrame);
        break;
      case 'flush_done':
        this.#isFlushing = false;
        // Play may wait for another position by now.
        if (this.#prepareFrame !== null && this.#prepareFrame !== this.#flushFrame) this.#flush(this.#prepareFrame);
        else this.#finishPrepare();
        this.pump();
        return;
      case 'plugin_ready':
        this.#openAttempts.delete(effect);
        this.#plugins.set(effect, { kind: 'running' });
        break;
      case 'plugin_late':
        this.#setLate(effect, detail);
        break;
      case 'plugin_failed':
        this.#plugins.set(effect, { kind: restarting ? 'restarting' : 'missing', detail });
        if (!restarting) this.#openAgain(effect);
        break;
      case 'error':
        if (code === 'too_many_plugins') this.#refusal = detail.replace(/^effect \d+ is left out: /, '');
        // An effect that is left out names no effect, so it concerns those that do not open.
        for (const [id, state] of this.#plugins) if (state.kind === 'opening') this.#plugins.set(id, { kind: 'missing', detail });
        break;
      default:
        return;
    }
    this.#report();
  }

  #setLate(effect: string, detail: string): void {
    const state: LivePluginState = { kind: 'late', detail };
    this.#plugins.set(effect, state);
    this.#host.later(() => {
      if (this.#plugins.get(effect) !== state) return;
      this.#plugins.set(effect, { kind: 'running' });
      this.#report();
    }, LATE_MS);
  }

  #openAgain(effect: string): void {
    const attempts = (this.#openAttempts.get(effect) ?? 0) + 1;
    this.#openAttempts.set(effect, attempts);
    if (attempts > OPEN_ATTEMPTS) return;
    this.#host.later(() => {
      if (this.#plugins.get(effect)?.kind === 'missing') this.#sendChain();
    }, OPEN_AGAIN_MS);
  }

  #sendChain(): void {
    if (!this.#chain || this.#connection.kind !== 'open') return;
    const { sampleRateHz, seed, trackId, bpm, effects } = this.#chain;
    this.#automated.clear();
    this.#command({ cmd: 'chain', sample_rate: sampleRateHz, seed, track_id: trackId, bpm, effects });
  }

  #command(command: object): void {
    this.#socket?.send(JSON.stringify(command));
  }

  /** Reports the state to the page. */
  #report(): void {
    this.#host.onReport(this.report);
  }

  get report(): WorkerReport {
    return {
      connection: this.#connection,
      plugins: [...this.#plugins],
      chainFrames: this.#chainFrames,
      queuedBlocks: this.#inFlight.length,
      droppedBlocks: this.#droppedBlocks,
      refusal: this.#refusal,
      service: this.#service,
    };
  }
}
