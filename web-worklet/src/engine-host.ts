/**
 * Runs the engine on the audio thread: carries out commands, renders audio and reports the engine's
 * state.
 */
import { initSync, WasmEngine } from '../pkg/dsp_wasm.js';
import { LiveInserts } from './live/live-inserts';
import { LoadGauge } from './load-gauge';
import type { EngineCommand, EngineReport, EngineStatus, TrackBlock } from './protocol';
import { STREAM_CHANNELS, TrackStream, type LoopRegion } from './track-stream';

/** Length of the engine's buffers in frames. */
const BLOCK_FRAMES = 256;
/** Length of one of the engine's buffers in bytes; a sample has 4 bytes. */
const BLOCK_BYTES = 4 * BLOCK_FRAMES;
/** Frames between two status reports: 31 reports a second at 48 kHz. */
const REPORT_FRAMES = 1536;
/** Meter reports per second. */
const METER_REPORTS_PER_SECOND = 10;
/** Longest time for which Play waits until a live chain is clear, in seconds. */
const PREPARE_MAX_SECS = 0.5;

/** Commands whose errors the reply to the last command of the same file reports. */
const PIECES: ReadonlySet<EngineCommand['type']> = new Set(['addToBank', 'addToAudio']);

/** The audio that a track plays instead of its notes, and the engine's input buffers for it. */
type Input = { stream: TrackStream; buffers: readonly Float32Array[] };

export class EngineHost {
  readonly #engine: WasmEngine;
  readonly #memory: WebAssembly.Memory;
  readonly #post: (report: EngineReport) => void;
  readonly #gauge: LoadGauge;
  /** The streamed audio of tracks, by their ids. */
  readonly #streams = new Map<string, TrackStream>();
  /** The tracks that play their audio. The others still wait for its first block. */
  readonly #streamingIds = new Set<string>();
  #loop: LoopRegion | null = null;
  /** Interruptions of audio that was replaced since. */
  #earlierUnderruns = 0;
  #reductionsWatched = false;
  #inputs: Input[] = [];
  #left = new Float32Array(0);
  #right = new Float32Array(0);
  #peaks = new Float32Array(0);
  readonly #status: { type: 'status' } & EngineStatus = {
    type: 'status',
    frame: 0,
    playing: false,
    countInFrames: 0,
    contextSecs: 0,
    peaks: new Float32Array(0),
    load: 0,
    underruns: 0,
    streamedBytes: 0,
    live: [],
  };
  #framesToReport = 0;
  readonly #sampleRateHz: number;
  readonly #meterFrames: number;
  #framesToMeters = 0;
  #metersWatched = false;
  /** The target frame of a pending seek. */
  #seekFrame: number | undefined;
  #hasFailed = false;
  readonly #inserts: LiveInserts;
  /** The command that begins playback when the live chains are clear. */
  #waitingPlay: (EngineCommand & { type: 'play' }) | null = null;
  /** Frames for which playback still waits. */
  #waitFrames = 0;

  /**
   * `post` sends a report to the page. It must copy the report, whose memory is reused afterwards.
   * `nowMs` returns the time in milliseconds.
   */
  constructor(
    module: WebAssembly.Module,
    sampleRateHz: number,
    post: (report: EngineReport) => void,
    nowMs: () => number = Date.now,
  ) {
    this.#memory = initSync({ module }).memory;
    this.#engine = new WasmEngine(sampleRateHz);
    this.#post = post;
    this.#sampleRateHz = sampleRateHz;
    this.#meterFrames = sampleRateHz / METER_REPORTS_PER_SECOND;
    this.#gauge = new LoadGauge(sampleRateHz, nowMs);
    const setLatency = (trackId: string | null, latencyFrames: number | null): void => {
      this.#engine.carryOut({ type: 'setInsert', trackId, latencyFrames });
      // The latency may have been allocated in grown memory.
      this.#left = new Float32Array(0);
    };
    const buffersOf = (trackId: string | null): number => this.#engine.insertBuffers(trackId);
    this.#inserts = new LiveInserts({ setLatency, buffersOf }, () => this.#startPlaying());
    this.#updateViews();
  }

  /** Carries out a command. May allocate; the audio thread never calls it while `render` runs. */
  receive(command: EngineCommand): void {
    if (this.#hasFailed) {
      if ('request' in command) this.#reply(command.request, 'the engine has failed');
      return;
    }
    try {
      if (command.type !== 'seek') this.#seek();
      this.#carryOut(command);
    } catch (error) {
      const detail = error instanceof Error ? error.message : String(error);
      if (error instanceof WebAssembly.RuntimeError) this.#fail(detail);
      if ('request' in command) this.#reply(command.request, detail);
      else if (!this.#hasFailed && !PIECES.has(command.type)) this.#post({ type: 'refused', command: command.type, detail });
    }
    this.#updateViews();
  }

  /**
   * Fills `left` and `right`, which have the same length, with the next frames. Allocates only for
   * reports and after the engine's memory has grown. `contextSecs` is the time of the first frame
   * in the audio context.
   */
  render(left: Float32Array, right: Float32Array, contextSecs = 0): void {
    if (this.#hasFailed) return;
    this.#gauge.begin(left.length);
    try {
      this.#seek();
      this.#waitFrames -= left.length;
      if (this.#waitingPlay && this.#waitFrames < 0) this.#startPlaying();
      for (let start = 0; start < left.length; ) {
        const contiguous = this.#engine.contiguousFrames(Math.min(BLOCK_FRAMES, left.length - start));
        const frames = this.#inserts.framesOfBlock(contiguous);
        this.#renderBlock(left, right, start, frames);
        start += frames;
      }
    } catch (error) {
      this.#fail(error instanceof Error ? error.message : String(error));
    }
    this.#gauge.end();
    this.#status.contextSecs = contextSecs + left.length / this.#sampleRateHz;
    this.#framesToReport -= left.length;
    if (this.#framesToReport <= 0) this.#report();
    this.#framesToMeters -= left.length;
    if (this.#metersWatched && this.#framesToMeters <= 0) this.#reportMeters();
  }

  #carryOut(command: EngineCommand): void {
    const engine = this.#engine;
    switch (command.type) {
      case 'beginBank':
        engine.beginBank(command.slot, command.sizeBytes);
        this.#reply(command.request);
        break;
      case 'addToBank':
        engine.addToBank(command.slot, command.piece);
        break;
      case 'endBank':
        engine.endBank(command.slot);
        this.#reply(command.request);
        break;
      case 'setSession':
        engine.setSession(command.bytes);
        this.#assignInputs();
        this.#inserts.renew();
        this.#reply(command.request);
        break;
      case 'seek':
        this.#seekFrame = command.frame;
        break;
      case 'watchReductions':
        this.#reductionsWatched = command.effects.length > 0;
        engine.carryOut(command);
        break;
      case 'watchMeters':
        this.#metersWatched = command.watch;
        engine.carryOut(command);
        break;
      case 'beginAudio':
        engine.beginAudio(command.slot, command.sizeBytes);
        this.#reply(command.request);
        break;
      case 'addToAudio':
        engine.addToAudio(command.slot, command.piece);
        break;
      case 'endAudio':
        engine.endAudio(command.slot, command.channels);
        this.#reply(command.request);
        break;
      case 'streamAudio':
        engine.streamAudio(command.slot, command.frames);
        this.#reply(command.request);
        break;
      case 'fillAudio':
        engine.fillAudio(command.slot, command.sourceFrame, command.left, command.right);
        break;
      case 'setTrackAudio':
        this.#earlierUnderruns += this.#streams.get(command.trackId)?.underruns ?? 0;
        this.#streams.delete(command.trackId);
        if (this.#streamingIds.delete(command.trackId)) this.#assignInputs();
        if (command.audio) {
          const { version, frames, blockFrames } = command.audio;
          this.#streams.set(command.trackId, new TrackStream(version, frames, blockFrames));
        }
        break;
      case 'fillTrackAudio':
        this.#fillTrackAudio(command.block, command.channels);
        break;
      case 'setLoop':
        this.#loop = command.region ?? null;
        engine.carryOut(command);
        break;
      case 'setLiveChain':
        this.#startPlaying();
        this.#inserts.set(command.trackId, command.chain);
        break;
      case 'play':
        if (this.#inserts.isConnected && !command.countInBars && !engine.playing) this.#prepare(command);
        else this.#carryOutPlay(command);
        break;
      case 'stop':
        this.#waitingPlay = null;
        this.#inserts.cancel();
        engine.carryOut(command);
        break;
      default:
        engine.carryOut(command);
    }
  }

  /**
   * Carries out the last of the received seeks, before the next block or other command. While a
   * user drags the playhead, seeks arrive faster than blocks are rendered, and a seek may take
   * longer than a block.
   */
  #seek(): void {
    if (this.#seekFrame === undefined) return;
    this.#engine.carryOut({ type: 'seek', frame: this.#seekFrame });
    for (const stream of this.#streams.values()) stream.cut();
    this.#seekFrame = undefined;
    if (this.#waitingPlay) this.#prepare(this.#waitingPlay);
    else if (this.#engine.playing) this.#inserts.start();
  }

  /** Starts playback when the live chains are clear. */
  #prepare(play: EngineCommand & { type: 'play' }): void {
    this.#waitingPlay = play;
    this.#waitFrames = PREPARE_MAX_SECS * this.#sampleRateHz;
    this.#inserts.prepare(this.#engine.position);
  }

  #startPlaying(): void {
    const play = this.#waitingPlay;
    this.#waitingPlay = null;
    if (play) this.#carryOutPlay(play);
  }

  #carryOutPlay(play: EngineCommand & { type: 'play' }): void {
    this.#engine.carryOut(play);
    if (this.#engine.playing) this.#inserts.start();
  }

  #renderBlock(left: Float32Array, right: Float32Array, start: number, frames: number): void {
    const engine = this.#engine;
    if (this.#left.length === 0) this.#updateViews();
    const wasPlaying = engine.playing;
    if (wasPlaying) this.#feedInputs(engine.position, frames);
    if (this.#inserts.isEmpty) {
      engine.process(frames);
    } else {
      const { position } = engine;
      this.#inserts.fill(frames, () => {
        if (this.#left.length === 0) this.#updateViews();
      });
      engine.process(frames);
      this.#inserts.take(frames, position, wasPlaying);
      // The end of a count-in starts playback.
      if (engine.playing && !wasPlaying) this.#inserts.start();
    }
    for (let frame = 0; frame < frames; frame++) {
      left[start + frame] = this.#left[frame] ?? 0;
      right[start + frame] = this.#right[frame] ?? 0;
    }
  }

  #feedInputs(position: number, frames: number): void {
    for (const { stream, buffers } of this.#inputs) stream.read(position, frames, buffers);
  }

  /** Stores a block of a track's audio. The track plays the audio once that can be heard. */
  #fillTrackAudio({ trackId, version, startFrame }: TrackBlock, channels: readonly Float32Array[]): void {
    const stream = this.#streams.get(trackId);
    if (!stream || stream.version !== version) return;
    const { position } = this.#engine;
    stream.fill(startFrame, channels, position, this.#loop);
    // A stream that starts during playback would be interrupted if its next blocks came late.
    const isReady = this.#engine.playing ? stream.wanted(position, this.#loop).length === 0 : stream.has(position);
    if (this.#streamingIds.has(trackId) || !isReady) return;
    this.#streamingIds.add(trackId);
    this.#assignInputs();
  }

  /** Frees the blocks of tracks that were played, and asks the page for those that are next. */
  #requestTrackAudio(): void {
    const { position } = this.#engine;
    const wanted: TrackBlock[] = [];
    for (const [trackId, stream] of this.#streams) {
      for (const startFrame of stream.wanted(position, this.#loop)) wanted.push({ trackId, version: stream.version, startFrame });
    }
    if (wanted.length > 0) this.#post({ type: 'wantedTrackAudio', wanted });
  }

  /**
   * Passes the ids of the tracks that play external audio to the engine, after a change of tracks
   * or audio.
   */
  #assignInputs(): void {
    this.#engine.setExternalInputs([...this.#streamingIds]);
  }

  /**
   * Creates new views of the engine's buffers. When WebAssembly memory grows, the old views are
   * detached.
   */
  #updateViews(): void {
    if (this.#hasFailed) return;
    // These calls come before the views are created, because passing an id may grow the memory.
    const inserts = this.#inserts.addresses();
    const inputs = [...this.#streamingIds].map((id) => ({ id, address: this.#engine.trackInput(id) }));
    const { buffer } = this.#memory;
    const block = (address: number): Float32Array<ArrayBuffer> => new Float32Array(buffer as ArrayBuffer, address, BLOCK_FRAMES);
    this.#left = block(this.#engine.outputLeft());
    this.#right = block(this.#engine.outputRight());
    this.#inserts.view(buffer as ArrayBuffer, inserts);
    this.#inputs = [];
    for (const { id, address } of inputs) {
      const stream = this.#streams.get(id);
      if (address === 0 || !stream) {
        // The session no longer has the track.
        this.#streams.delete(id);
        this.#streamingIds.delete(id);
        continue;
      }
      this.#inputs.push({ stream, buffers: Array.from({ length: STREAM_CHANNELS }, (_, number) => block(address + number * BLOCK_BYTES)) });
    }
    const peakCount = this.#engine.peakCount;
    this.#peaks = new Float32Array(buffer as ArrayBuffer, this.#engine.peaks(), peakCount);
    // The status has a copy of the peaks: posting a view would send the module's whole memory.
    if (this.#status.peaks.length !== peakCount) this.#status.peaks = new Float32Array(peakCount);
  }

  #report(): void {
    this.#framesToReport = REPORT_FRAMES;
    if (this.#hasFailed) return;
    const engine = this.#engine;
    engine.takePeaks();
    const status = this.#status;
    status.frame = engine.outputFrame;
    status.playing = engine.playing;
    status.countInFrames = engine.countInFrames;
    status.load = this.#gauge.load;
    status.underruns = this.#gauge.underruns + engine.audioUnderruns() + this.#streamUnderruns();
    status.streamedBytes = this.#streamedBytes();
    status.peaks.set(this.#peaks);
    status.live = this.#inserts.figures;
    this.#post(status);
    const wantedAudio = engine.wantedAudio();
    if (wantedAudio.length > 0) this.#post({ type: 'wanted', wanted: wantedAudio });
    this.#requestTrackAudio();
    if (this.#reductionsWatched) this.#post({ type: 'reductions', db: engine.gainReductionsDb() });
  }

  #streamedBytes(): number {
    let bytes = 0;
    for (const stream of this.#streams.values()) bytes += stream.keptBytes;
    return bytes;
  }

  #streamUnderruns(): number {
    let underruns = this.#earlierUnderruns;
    for (const stream of this.#streams.values()) underruns += stream.underruns;
    return underruns;
  }

  #reportMeters(): void {
    this.#framesToMeters = this.#meterFrames;
    if (this.#hasFailed) return;
    const meters = this.#engine.masterMeters();
    if (meters) this.#post({ type: 'meters', ...meters });
  }

  #reply(request: number, error?: string): void {
    this.#post(error === undefined ? { type: 'reply', request } : { type: 'reply', request, error });
  }

  #fail(detail: string): void {
    this.#hasFailed = true;
    this.#post({ type: 'failed', detail });
  }
}
