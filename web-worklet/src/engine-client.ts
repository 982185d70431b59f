/** Sends commands from the page to the engine on the audio thread, and receives its reports. */
import type { Project, TempoPoint, TimeSignature } from '@songfoundry/schemas';
import { compileSession, equalizerResponse, gainFromDb, initSync, presetsUsed, type CompiledSession } from '../pkg/dsp_wasm.js';
import {
  PROCESSOR_NAME,
  type BulkCommands,
  type EffectName,
  type EngineCommand,
  type EngineReport,
  type EngineStatus,
  type MasterMeters,
  type ProcessorOptions,
  type TrackAudio,
  type TrackBlock,
  type WantedAudio,
} from './protocol';
import { ProjectCompiler } from './project-compiler';

/** Options of `EngineClient.create`. */
export type EngineOptions = {
  sampleRateHz: number;
  /** Address of the bundled `processor.ts`. */
  processorUrl: string;
  /** Address of `dsp_wasm_bg.wasm`. */
  wasmUrl: string;
};

/** Fader, pan, mute and solo of a track. */
export type TrackMix = { gainDb: number; pan: number; mute: boolean; solo: boolean };

/** The length of a compiled project, and its track ids in the engine's order. */
export type SessionInfo = { lengthFrames: number; trackIds: string[] };

/** Reason why the page cannot play sound. */
export type UnavailableReason = 'insecure_context' | 'no_audio_worklet' | 'no_wasm' | 'not_loaded';

/** Thrown if the engine cannot run in this browser, at this address, or cannot be loaded. */
export class EngineUnavailableError extends Error {
  readonly reason: UnavailableReason;

  constructor(reason: UnavailableReason, message: string) {
    super(message);
    this.name = 'EngineUnavailableError';
    this.reason = reason;
  }
}

/** Number of bank slots of the engine. */
export const MAX_BANKS = 64;
/**
 * Maximum bytes of a message with a piece of a file: copying it takes a small part of a render
 * quantum.
 */
const PIECE_BYTES = 64 * 1024;

/**
 * The recorded output of a plugin: of the effect `effectId`, or of the instrument of the track if
 * it is null. If `trackId` is null, the effect is one of the master's. `audioId` is the id of an
 * audio file of the engine.
 */
export type PluginOutput = { trackId: string | null; effectId: string | null; audioId: string };

/** An audio file in a slot of the engine; `frames` is its length at the engine's sample rate. */
type AudioFile = { slot: number; frames: number; fileRateHz: number; isStreamed: boolean };

/** Yields copies of the parts of a chunk, each of at most `PIECE_BYTES` bytes. */
function* piecesOf(chunk: Uint8Array): Generator<Uint8Array<ArrayBuffer>> {
  for (let start = 0; start < chunk.length; start += PIECE_BYTES) yield chunk.slice(start, start + PIECE_BYTES);
}

type PendingReply = { resolve: () => void; reject: (error: Error) => void };

const EMPTY_PROJECT: Project = { schema_version: 1, project_id: 'empty', tracks: [] };

/** The page's client of an engine that runs in an AudioWorklet and plays to the audio output. */
export class EngineClient {
  /** The engine's audio context, at the requested sample rate. */
  readonly context: AudioContext;
  /** The engine's output, connected to the context's destination. */
  readonly output: AudioNode;
  readonly #port: MessagePort;
  readonly #slots = new Map<string, number>();
  readonly #pending = new Map<number, PendingReply>();
  readonly #audio = new Map<string, AudioFile>();
  readonly #wantedListeners = new Set<(wantedAudio: WantedAudio[]) => void>();
  readonly #statusListeners = new Set<(status: EngineStatus) => void>();
  #onReductions: ((db: Float32Array) => void) | null = null;
  readonly #meterListeners = new Set<(meters: MasterMeters) => void>();
  #onRefused: ((command: string, detail: string) => void) | null = null;
  #onWantedTrackAudio: ((wanted: TrackBlock[]) => void) | null = null;
  readonly #failureListeners = new Set<(detail: string) => void>();
  #session: CompiledSession;
  readonly #compiler = new ProjectCompiler();
  #requestCount = 0;
  /** The reason why the engine ended; null while the engine runs. */
  #endReason: string | null = null;

  private constructor(context: AudioContext, node: AudioWorkletNode) {
    this.context = context;
    this.output = node;
    this.#port = node.port;
    this.#session = compileSession(EMPTY_PROJECT, {}, undefined, context.sampleRate, undefined, undefined);
    this.#port.onmessage = (event: MessageEvent<EngineReport>) => this.#receive(event.data);
    node.onprocessorerror = () => this.#fail('an error occurred on the audio thread');
    node.connect(context.destination);
  }

  /**
   * Starts an engine. Compiles its WebAssembly module on this thread, not on the audio thread.
   * @throws {EngineUnavailableError} with the reason why the page cannot play sound.
   */
  static async create(options: EngineOptions): Promise<EngineClient> {
    if (typeof WebAssembly === 'undefined') {
      throw new EngineUnavailableError('no_wasm', 'this browser does not run WebAssembly');
    }
    if (!globalThis.isSecureContext) {
      throw new EngineUnavailableError('insecure_context', 'browsers allow sound only on HTTPS pages and localhost');
    }
    const context = new AudioContext({ sampleRate: options.sampleRateHz, latencyHint: 'interactive' });
    try {
      if (typeof AudioWorkletNode === 'undefined') {
        throw new EngineUnavailableError('no_audio_worklet', 'this browser has no AudioWorklet');
      }
      const [module] = await Promise.all([
        compileModule(options.wasmUrl),
        context.audioWorklet.addModule(options.processorUrl),
      ]);
      initSync({ module });
      const processorOptions: ProcessorOptions = { module };
      const node = new AudioWorkletNode(context, PROCESSOR_NAME, {
        numberOfInputs: 0,
        numberOfOutputs: 1,
        outputChannelCount: [2],
        processorOptions,
      });
      return new EngineClient(context, node);
    } catch (error) {
      await context.close();
      if (error instanceof EngineUnavailableError) throw error;
      const detail = error instanceof Error ? error.message : String(error);
      throw new EngineUnavailableError('not_loaded', `the sound engine could not be loaded: ${detail}`);
    }
  }

  /** Whether the engine was closed or has failed. Such an engine ignores commands. */
  get hasEnded(): boolean {
    return this.#endReason !== null;
  }

  /**
   * Returns the presets that each track may select in its SoundFont, in the order of the tracks. A
   * preset is written as its bank and program number, such as `128:0`. The list of a track without
   * a SoundFont is empty. Notes are ignored.
   */
  presetsUsed(project: Project): string[][] {
    return presetsUsed(project).map((text) => (text === '' ? [] : text.split(',')));
  }

  /**
   * Reserves a slot for a bank. Projects set from now on may name the bank; their tracks become
   * audible when the bank is loaded. @throws {Error} when all slots are in use.
   */
  addBank(bankId: string): void {
    if (this.#slots.has(bankId)) return;
    const usedSlots = new Set(this.#slots.values());
    const slot = Array.from({ length: MAX_BANKS }, (_, index) => index).find((index) => !usedSlots.has(index));
    if (slot === undefined) throw new Error(`the engine holds at most ${MAX_BANKS} SoundFonts at a time`);
    this.#slots.set(bankId, slot);
  }

  /**
   * Loads the SF2 file of a bank that has a slot, while playback continues. Rejects with a message
   * that names the defect of the file.
   */
  async loadBank(bankId: string, sizeBytes: number, pieces: AsyncIterable<Uint8Array>): Promise<void> {
    const slot = this.#slots.get(bankId);
    if (slot === undefined) throw new Error(`the SoundFont ${bankId} has no slot in the engine`);
    await this.#request((request) => this.#send({ type: 'beginBank', request, slot, sizeBytes }));
    for await (const chunk of pieces) {
      if (this.hasEnded) break;
      for (const piece of piecesOf(chunk)) this.#send({ type: 'addToBank', slot, piece }, [piece.buffer]);
    }
    await this.#request((request) => this.#send({ type: 'endBank', request, slot }));
  }

  /** Removes a bank and frees its slot. Tracks that use the bank become silent. */
  dropBank(bankId: string): void {
    const slot = this.#slots.get(bankId);
    if (slot === undefined) return;
    this.#slots.delete(bankId);
    this.#send({ type: 'dropBank', slot });
  }

  /**
   * Loads an audio file as a whole, for clips or as an impulse response. Its bytes are
   * little-endian 32-bit floats at the engine's sample rate with interleaved channels. Playback
   * continues meanwhile, even that of the same file if it is streamed. Projects set from now on may
   * use the file's id. Resolves without loading if the file is removed meanwhile. Rejects with a
   * message that names the defect of the file; a file that was streamed before is then streamed
   * again.
   */
  async loadAudio(
    fileId: string,
    { frames, channels }: { frames: number; channels: number },
    fileRateHz: number,
    pieces: AsyncIterable<Uint8Array>,
  ): Promise<void> {
    const wasStreamed = this.#audio.get(fileId)?.isStreamed;
    const file = this.#assignSlot(fileId, { frames, fileRateHz, isStreamed: false });
    const { slot } = file;
    const sizeBytes = frames * channels * Float32Array.BYTES_PER_ELEMENT;
    // After a removal, another file may use the slot.
    const isRemoved = (): boolean => this.#audio.get(fileId) !== file;
    try {
      await this.#request((request) => this.#send({ type: 'beginAudio', request, slot, sizeBytes }));
      for await (const chunk of pieces) {
        if (this.hasEnded || isRemoved()) break;
        for (const piece of piecesOf(chunk)) this.#send({ type: 'addToAudio', slot, piece }, [piece.buffer]);
      }
      if (!isRemoved()) await this.#request((request) => this.#send({ type: 'endAudio', request, slot, channels }));
    } catch (error) {
      // `streamAudio` and `dropAudio` remove the received pieces. The file keeps its slot, because
      // sessions may use the slot.
      if (!isRemoved() && wasStreamed) await this.streamAudio(fileId, frames, fileRateHz);
      else if (!isRemoved()) this.#send({ type: 'dropAudio', slot });
      throw error;
    }
  }

  /**
   * Declares a streamed audio file of `frames` frames at the engine's sample rate. `onWantedAudio`
   * reports the blocks that clips need. Projects set from now on may use the file's id.
   */
  async streamAudio(fileId: string, frames: number, fileRateHz: number): Promise<void> {
    const { slot } = this.#assignSlot(fileId, { frames, fileRateHz, isStreamed: true });
    await this.#request((request) => this.#send({ type: 'streamAudio', request, slot, frames }));
  }

  /** Removes an audio file and frees its slot. Clips that use the file become silent. */
  dropAudio(fileId: string): void {
    const file = this.#audio.get(fileId);
    if (!file) return;
    this.#audio.delete(fileId);
    this.#send({ type: 'dropAudio', slot: file.slot });
  }

  /**
   * Delivers a block of streamed audio that `onWantedAudio` reported. The block may be shorter than
   * reported. The arrays are transferred.
   */
  fillAudio(wantedAudio: WantedAudio, left: Float32Array, right: Float32Array): void {
    const { slot, sourceFrame } = wantedAudio;
    const transfer = left.buffer === right.buffer ? [left.buffer] : [left.buffer, right.buffer];
    this.#send({ type: 'fillAudio', slot, sourceFrame, left, right }, transfer);
  }

  /** Returns the id of the audio file in a slot; undefined for an empty slot. */
  audioIn(slot: number): string | undefined {
    return [...this.#audio].find(([, file]) => file.slot === slot)?.[0];
  }

  /**
   * Calls `listener` about 30 times a second with the blocks of streamed audio that clips need,
   * until the returned function is called. A block is listed until it is delivered.
   */
  onWantedAudio(listener: (wantedAudio: WantedAudio[]) => void): () => void {
    this.#wantedListeners.add(listener);
    return () => this.#wantedListeners.delete(listener);
  }

  #assignSlot(fileId: string, properties: Omit<AudioFile, 'slot'>): AudioFile {
    const usedSlots = new Set([...this.#audio.values()].map((file) => file.slot));
    const free = Array.from({ length: usedSlots.size + 1 }, (_, slot) => slot).find((slot) => !usedSlots.has(slot));
    const slot = this.#audio.get(fileId)?.slot ?? free ?? 0;
    const file = { slot, ...properties };
    this.#audio.set(fileId, file);
    return file;
  }

  /**
   * Replaces the project and continues at the current position. Tracks whose bank is not loaded, or
   * that have no `soundfont_id`, are silent. Plugins play their outputs; without output, an
   * instrument is silent, and an effect passes its input. Rejects if the project cannot be played;
   * the old project then continues.
   */
  async setProject(project: Project, pluginOutputs: readonly PluginOutput[] = []): Promise<SessionInfo> {
    const slots = Object.fromEntries(this.#slots);
    const session = this.#compiler.compile(project, {
      bankSlots: slots,
      sampleRateHz: this.context.sampleRate,
      audio: Object.fromEntries(this.#audio),
      pluginOutputs,
    });
    const { bytes, trackIds } = session;
    try {
      await this.#request((request) => this.#send({ type: 'setSession', request, bytes }, [bytes.buffer]));
    } catch (error) {
      session.free();
      throw error;
    }
    this.#session.free();
    this.#session = session;
    return { lengthFrames: session.lengthFrames, trackIds };
  }

  /** Sets a track's fader, pan, mute and solo with a short ramp. */
  setTrackMix(trackId: string, mix: TrackMix): void {
    const { gainDb, pan, mute, solo } = mix;
    this.#send({ type: 'setTrackMix', trackId, gain: gainFromDb(gainDb), pan, mute, solo });
  }

  /**
   * Sets the level of a track's send with a short ramp; `send` is its index in the track's sends.
   */
  setSendGain(trackId: string, send: number, gainDb: number): void {
    this.#send({ type: 'setSendGain', trackId, send, gain: gainFromDb(gainDb) });
  }

  /**
   * Sets a parameter of an effect to a value in the parameter's unit. If `trackId` is null, the
   * effect is one of the master's.
   */
  setEffectParameter(trackId: string | null, effectId: string, parameter: string, value: number): void {
    this.#send({ type: 'setEffectParameter', trackId, effectId, parameter, value });
  }

  /** Bypasses an effect or reactivates it. */
  setEffectBypass(trackId: string | null, effectId: string, bypass: boolean): void {
    this.#send({ type: 'setEffectBypass', trackId, effectId, bypass });
  }

  /** Bypasses or reactivates all effects of a track, or of the master if `trackId` is null. */
  setBypass(trackId: string | null, bypass: boolean): void {
    this.#send({ type: 'setBypass', trackId, bypass });
  }

  /** Sets the master fader with a short ramp. */
  setMasterGain(gainDb: number): void {
    this.#send({ type: 'setMasterGain', gain: gainFromDb(gainDb) });
  }

  /**
   * Makes a track play streamed audio instead of its notes, once its first block has arrived; null
   * makes it play its notes again. The audio passes the track's effects and fader.
   * `onWantedTrackAudio` reports the blocks that the track plays next.
   */
  setTrackAudio(trackId: string, audio: TrackAudio | null): void {
    this.#send({ type: 'setTrackAudio', trackId, audio });
  }

  /**
   * Delivers a block that `onWantedTrackAudio` reported: left, right, reverb send and chorus send.
   * The arrays are transferred.
   */
  fillTrackAudio(block: TrackBlock, channels: readonly Float32Array[]): void {
    this.#send({ type: 'fillTrackAudio', block, channels }, channels.map((channel) => channel.buffer));
  }

  /**
   * Calls `listener` about 30 times a second with the blocks of the audio of tracks that are played
   * next. A block is listed until it is delivered. Replaces the listener of the previous call; null
   * removes it.
   */
  onWantedTrackAudio(listener: ((wanted: TrackBlock[]) => void) | null): void {
    this.#onWantedTrackAudio = listener;
  }

  /**
   * Lets the signal of a track, or of the master for null, pass the worker at a port before the
   * fader; the chain null ends that. {@link LiveChain} calls this.
   */
  setLiveChain(trackId: string | null, chain: BulkCommands['setLiveChain']['chain']): void {
    this.#send({ type: 'setLiveChain', trackId, chain }, chain ? [chain.port] : []);
  }

  /**
   * Resumes a suspended audio context, then plays from the current position, after a count-in of a
   * number of bars.
   */
  async play(countInBars = 0): Promise<void> {
    if (this.context.state === 'suspended') await this.context.resume();
    this.#send({ type: 'play', countInBars });
  }

  /**
   * Sets the frames of the session that playback repeats; null ends the repetition. Playback jumps
   * when it reaches `endFrame`. The engine ignores a region of less than 256 frames.
   */
  setLoop(region: { startFrame: number; endFrame: number } | null): void {
    this.#send({ type: 'setLoop', region });
  }

  /**
   * Sets whether clicks accompany playback, and the level of all clicks. Exports have no clicks.
   */
  setMetronome(on: boolean, gainDb: number): void {
    this.#send({ type: 'setMetronome', on, gain: gainFromDb(gainDb) });
  }

  /** Sets the beats on which the metronome clicks: tempo changes and time signatures. */
  setBeats(tempo: readonly TempoPoint[], signatures: readonly TimeSignature[]): void {
    this.#send({
      type: 'setBeats',
      tempo: tempo.map(({ tick, bpm }) => ({ tick, bpm })),
      signatures: signatures.map(({ tick, numerator, denominator }) => ({ tick, numerator, denominator })),
    });
  }

  /** Sets a MIDI controller of a track live; `controller` and `value` are 0 to 127. */
  setController(trackId: string, controller: number, value: number): void {
    this.#send({ type: 'setController', trackId, controller, value });
  }

  /** Bends the pitch of a track live, from -8192 to 8191. */
  setPitchBend(trackId: string, value: number): void {
    this.#send({ type: 'setPitchBend', trackId, value });
  }

  /** Stops playback and releases all notes. */
  stop(): void {
    this.#send({ type: 'stop' });
  }

  /** Moves to a frame of the session. */
  seek(frame: number): void {
    this.#send({ type: 'seek', frame });
  }

  /** Presses a key of a track; `velocity` is 0 to 1. */
  noteOn(trackId: string, key: number, velocity: number): void {
    const midiVelocity = Math.min(127, Math.max(1, Math.round(velocity * 127)));
    this.#send({ type: 'noteOn', trackId, key, velocity: midiVelocity });
  }

  /** Releases a key of a track. */
  noteOff(trackId: string, key: number): void {
    this.#send({ type: 'noteOff', trackId, key });
  }

  /** Releases all notes. */
  allNotesOff(): void {
    this.#send({ type: 'allNotesOff' });
  }

  /**
   * Returns the magnitude response in decibels of the built-in equalizer at each of some
   * frequencies. `values` are its parameters in the order of the equalizer's parameter table.
   */
  equalizerResponse(values: Float64Array, frequenciesHz: Float64Array): Float64Array {
    return equalizerResponse(values, frequenciesHz, this.context.sampleRate);
  }

  /** Returns the frame at a tick of the current project, rounded as the engine rounds it. */
  tickToFrame(tick: number): number {
    return this.#session.tickToFrame(tick);
  }

  /** Returns the tick at a frame of the current project. */
  frameToTick(frame: number): number {
    return this.#session.frameToTick(frame);
  }

  /**
   * Calls `listener` with the engine's status about 30 times a second until the returned function
   * is called.
   */
  onStatus(listener: (status: EngineStatus) => void): () => void {
    this.#statusListeners.add(listener);
    return () => this.#statusListeners.delete(listener);
  }

  /**
   * Calls `listener` about 30 times a second with the gain reductions in decibels of `effects`, in
   * the same order. The value is NaN for an effect that reports no gain reduction. Replaces the
   * effects and the listener of the previous call.
   */
  watchReductions(effects: EffectName[], listener: (db: Float32Array) => void): void {
    this.#onReductions = listener;
    this.#send({ type: 'watchReductions', effects });
  }

  /**
   * Calls `listener` ten times a second with the values of the master's meters, until the returned
   * function is called. The engine measures only while there is a listener.
   */
  onMeters(listener: (meters: MasterMeters) => void): () => void {
    if (this.#meterListeners.size === 0) this.#send({ type: 'watchMeters', watch: true });
    this.#meterListeners.add(listener);
    return () => {
      if (this.#meterListeners.delete(listener) && this.#meterListeners.size === 0) {
        this.#send({ type: 'watchMeters', watch: false });
      }
    };
  }

  /**
   * Resets the integrated loudness and the peaks of the master's meters. Playing from the start
   * also resets them.
   */
  resetMeters(): void {
    this.#send({ type: 'resetMeters' });
  }

  /**
   * Calls `listener` if the engine refuses a command that has no answer. Replaces the listener of
   * the previous call.
   */
  onRefused(listener: (command: string, detail: string) => void): void {
    this.#onRefused = listener;
  }

  /** Calls `listener` if the engine fails or is closed. The engine then stays silent. */
  onFailure(listener: (detail: string) => void): () => void {
    this.#failureListeners.add(listener);
    return () => this.#failureListeners.delete(listener);
  }

  /** Ends the engine and frees its memory. */
  async close(): Promise<void> {
    this.#fail('the engine was closed');
    this.#statusListeners.clear();
    this.#meterListeners.clear();
    this.#onReductions = null;
    this.#onRefused = null;
    this.#onWantedTrackAudio = null;
    this.#wantedListeners.clear();
    this.output.disconnect();
    this.#port.onmessage = null;
    this.#port.close();
    this.#compiler.free();
    await this.context.close();
  }

  #send(command: EngineCommand, transfer: (ArrayBufferLike | MessagePort)[] = []): void {
    this.#port.postMessage(command, transfer as Transferable[]);
  }

  #request(send: (request: number) => void): Promise<void> {
    if (this.#endReason !== null) return Promise.reject(new Error(this.#endReason));
    const request = ++this.#requestCount;
    return new Promise((resolve, reject) => {
      this.#pending.set(request, { resolve, reject });
      send(request);
    });
  }

  #receive(report: EngineReport): void {
    switch (report.type) {
      case 'reply': {
        const pendingRequest = this.#pending.get(report.request);
        this.#pending.delete(report.request);
        if (report.error === undefined) pendingRequest?.resolve();
        else pendingRequest?.reject(new Error(report.error));
        break;
      }
      case 'status':
        for (const listener of this.#statusListeners) listener(report);
        break;
      case 'reductions':
        this.#onReductions?.(report.db);
        break;
      case 'meters':
        for (const listener of this.#meterListeners) listener(report);
        break;
      case 'wanted':
        for (const listener of this.#wantedListeners) listener(report.wanted);
        break;
      case 'refused':
        this.#onRefused?.(report.command, report.detail);
        break;
      case 'wantedTrackAudio':
        this.#onWantedTrackAudio?.(report.wanted);
        break;
      case 'failed':
        this.#fail(report.detail);
        break;
    }
  }

  #fail(detail: string): void {
    this.#endReason ??= detail;
    for (const { reject } of this.#pending.values()) reject(new Error(detail));
    this.#pending.clear();
    for (const listener of this.#failureListeners) listener(detail);
    this.#failureListeners.clear();
  }
}

async function compileModule(url: string): Promise<WebAssembly.Module> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`the request for ${url} failed with status ${response.status}`);
  return WebAssembly.compile(await response.arrayBuffer());
}
