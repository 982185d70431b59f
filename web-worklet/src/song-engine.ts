/** The page's handle on the engine. */
import type { Project } from '@songfoundry/schemas';
import { compileSession, equalizerResponse, gainFromDb, initSync, presetsUsed, type CompiledSession } from '../pkg/dsp_wasm.js';
import {
  PROCESSOR_NAME,
  STATUS_FRAME,
  STATUS_LOAD,
  STATUS_PEAKS,
  STATUS_PLAYING,
  STATUS_UNDERRUNS,
  type EffectName,
  type EngineCommand,
  type EngineReport,
  type MasterMeters,
  type ProcessorOptions,
  type TrackAudio,
  type WantedAudio,
} from './protocol';

/** What an engine is started with. */
export type EngineOptions = {
  sampleRateHz: number;
  /** Address of the bundled `processor.ts`. */
  processorUrl: string;
  /** Address of `dsp_wasm_bg.wasm`. */
  wasmUrl: string;
};

/** Where a track's fader, pan and switches stand. */
export type TrackMix = { gainDb: number; pan: number; mute: boolean; solo: boolean };

/** Where the engine is. */
export type EngineStatus = {
  /** The frame of the session that is heard. */
  frame: number;
  playing: boolean;
  /** Left and right of each track in the session's order, then of the master; linear. */
  peaks: Float32Array;
  /** Share of the audio's time that rendering takes. */
  load: number;
  /** Drop-outs since the engine started. */
  underruns: number;
};

/** What a project became. */
export type SessionInfo = { lengthFrames: number; trackIds: string[] };

/** Why there is no sound. */
export type UnavailableReason = 'insecure_context' | 'no_audio_worklet' | 'no_wasm' | 'not_loaded';

/** The browser, or the address of the page, rules the engine out. */
export class EngineUnavailableError extends Error {
  readonly reason: UnavailableReason;

  constructor(reason: UnavailableReason, message: string) {
    super(message);
    this.name = 'EngineUnavailableError';
    this.reason = reason;
  }
}

/** Banks that the engine holds at most. */
export const MAX_BANKS = 64;
/** Bytes of a file that are handed over at a time: copying them takes a small part of a render quantum. */
const PIECE_BYTES = 64 * 1024;

/** Audio that the engine has: its slot, its length at the engine's rate, the rate of its file, and how it comes. */
type AudioFile = { slot: number; frames: number; fileRateHz: number; isStreamed: boolean };

/** The parts of a piece that are handed over one by one. */
function* cut(chunk: Uint8Array): Generator<Uint8Array<ArrayBuffer>> {
  for (let start = 0; start < chunk.length; start += PIECE_BYTES) yield chunk.slice(start, start + PIECE_BYTES);
}

type PendingReply = { resolve: () => void; reject: (error: Error) => void };

const EMPTY_PROJECT: Project = { schema_version: 1, project_id: 'empty', tracks: [] };

/** The engine in an AudioWorklet of its own, connected to the loudspeakers. */
export class SongEngine {
  /** The context that it plays in, at the sample rate asked for. */
  readonly context: AudioContext;
  /** Where its sound comes out; connected to the context's destination. */
  readonly output: AudioNode;
  readonly #port: MessagePort;
  readonly #slots = new Map<string, number>();
  readonly #pending = new Map<number, PendingReply>();
  readonly #audio = new Map<string, AudioFile>();
  readonly #wantedListeners = new Set<(wanted: WantedAudio[]) => void>();
  readonly #statusListeners = new Set<(status: EngineStatus) => void>();
  #onReductions: ((db: Float32Array) => void) | null = null;
  readonly #meterListeners = new Set<(meters: MasterMeters) => void>();
  readonly #failureListeners = new Set<(detail: string) => void>();
  #session: CompiledSession;
  #requests = 0;
  /** Why it answers no more. */
  #end: string | null = null;

  private constructor(context: AudioContext, node: AudioWorkletNode) {
    this.context = context;
    this.output = node;
    this.#port = node.port;
    this.#session = compileSession(EMPTY_PROJECT, {}, undefined, context.sampleRate, undefined);
    this.#port.onmessage = (event: MessageEvent<EngineReport>) => this.#take(event.data);
    node.onprocessorerror = () => this.#fail('the audio thread stopped the engine');
    node.connect(context.destination);
  }

  /**
   * Starts an engine. Its module is compiled here, off the audio thread.
   * @throws {EngineUnavailableError} with the reason why there can be no sound.
   */
  static async create(options: EngineOptions): Promise<SongEngine> {
    if (typeof WebAssembly === 'undefined') {
      throw new EngineUnavailableError('no_wasm', 'this browser does not run WebAssembly');
    }
    if (!globalThis.isSecureContext) {
      throw new EngineUnavailableError('insecure_context', 'browsers give sound only to HTTPS pages and localhost');
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
      return new SongEngine(context, node);
    } catch (error) {
      await context.close();
      if (error instanceof EngineUnavailableError) throw error;
      const detail = error instanceof Error ? error.message : String(error);
      throw new EngineUnavailableError('not_loaded', `the sound engine could not be loaded: ${detail}`);
    }
  }

  /** Whether it was closed or broke: then it takes nothing any more. */
  get ended(): boolean {
    return this.#end !== null;
  }

  /**
   * The presets that each track can ask its SoundFont for, by the tracks' order: bank and program
   * numbers such as `128:0`, none for a track without a SoundFont. Notes do not matter.
   */
  presetsUsed(project: Project): string[][] {
    return presetsUsed(project).map((text) => (text === '' ? [] : text.split(',')));
  }

  /**
   * Keeps a place for a bank under an id: projects set from now on may name it, and their tracks
   * sound when it is loaded.
   * @throws {Error} when the engine has no place left.
   */
  addBank(bankId: string): void {
    if (this.#slots.has(bankId)) return;
    const taken = new Set(this.#slots.values());
    const slot = Array.from({ length: MAX_BANKS }, (_, place) => place).find((place) => !taken.has(place));
    if (slot === undefined) throw new Error(`the engine holds at most ${MAX_BANKS} sound banks`);
    this.#slots.set(bankId, slot);
  }

  /**
   * Loads the SF2 file of a bank that has a place, piece by piece as they come, while everything
   * else sounds on. Rejects with what is wrong with the file.
   */
  async loadBank(bankId: string, sizeBytes: number, pieces: AsyncIterable<Uint8Array>): Promise<void> {
    const slot = this.#slots.get(bankId);
    if (slot === undefined) throw new Error(`the sound bank ${bankId} has no place in the engine`);
    await this.#ask((request) => this.#send({ type: 'beginBank', request, slot, sizeBytes }));
    for await (const chunk of pieces) {
      if (this.ended) break;
      for (const piece of cut(chunk)) this.#send({ type: 'addToBank', slot, piece }, [piece.buffer]);
    }
    await this.#ask((request) => this.#send({ type: 'endBank', request, slot }));
  }

  /** Lets a bank and its place go; nothing if there is none. Tracks that play it fall silent. */
  dropBank(bankId: string): void {
    const slot = this.#slots.get(bankId);
    if (slot === undefined) return;
    this.#slots.delete(bankId);
    this.#send({ type: 'dropBank', slot });
  }

  /**
   * Takes the audio of a file of the service, at the engine's sample rate, whole: what clips play, or an
   * impulse response. It comes in pieces of little-endian 32-bit floats, channels interleaved, while everything else
   * sounds on, also what was handed over of the same file. Projects set from now on may name it. Resolves without it when
   * it is dropped meanwhile; rejects with what is wrong with it: if it was handed over as it is wanted, it goes on to be.
   */
  async loadAudio(
    fileId: string,
    { frames, channels }: { frames: number; channels: number },
    fileRateHz: number,
    pieces: AsyncIterable<Uint8Array>,
  ): Promise<void> {
    const wasStreamed = this.#audio.get(fileId)?.isStreamed;
    const file = this.#takeSlot(fileId, { frames, fileRateHz, isStreamed: false });
    const { slot } = file;
    const sizeBytes = frames * channels * Float32Array.BYTES_PER_ELEMENT;
    // The slot may hold another file later.
    const dropped = (): boolean => this.#audio.get(fileId) !== file;
    try {
      await this.#ask((request) => this.#send({ type: 'beginAudio', request, slot, sizeBytes }));
      for await (const chunk of pieces) {
        if (this.ended || dropped()) break;
        for (const piece of cut(chunk)) this.#send({ type: 'addToAudio', slot, piece }, [piece.buffer]);
      }
      if (!dropped()) await this.#ask((request) => this.#send({ type: 'endAudio', request, slot, channels }));
    } catch (error) {
      // What has come of it goes. The file keeps its place, as sessions may name it.
      if (!dropped() && wasStreamed) await this.streamAudio(fileId, frames, fileRateHz);
      else if (!dropped()) this.#send({ type: 'dropAudio', slot });
      throw error;
    }
  }

  /**
   * Says that a file of the service, of so many frames at the engine's sample rate, is handed over as it is
   * wanted: see `onWantedAudio`. Projects set from now on may name it.
   */
  async streamAudio(fileId: string, frames: number, fileRateHz: number): Promise<void> {
    const { slot } = this.#takeSlot(fileId, { frames, fileRateHz, isStreamed: true });
    await this.#ask((request) => this.#send({ type: 'streamAudio', request, slot, frames }));
  }

  /** Lets the audio of a file go; nothing if there is none. Clips that play it fall silent. */
  dropAudio(fileId: string): void {
    const file = this.#audio.get(fileId);
    if (!file) return;
    this.#audio.delete(fileId);
    this.#send({ type: 'dropAudio', slot: file.slot });
  }

  /** Hands over audio that was wanted, from the frame that was named on; may be less. The arrays are taken over. */
  fillAudio(wanted: WantedAudio, left: Float32Array, right: Float32Array): void {
    const { slot, sourceFrame } = wanted;
    const transfer = left.buffer === right.buffer ? [left.buffer] : [left.buffer, right.buffer];
    this.#send({ type: 'fillAudio', slot, sourceFrame, left, right }, transfer);
  }

  /** The id of the file whose audio is in a slot. */
  audioIn(slot: number): string | undefined {
    return [...this.#audio].find(([, file]) => file.slot === slot)?.[0];
  }

  /**
   * Calls `listener` with what clips will want of audio that is handed over, about 30 times a second while
   * there is any, until the function it returns is called. The same is wanted until it comes.
   */
  onWantedAudio(listener: (wanted: WantedAudio[]) => void): () => void {
    this.#wantedListeners.add(listener);
    return () => this.#wantedListeners.delete(listener);
  }

  #takeSlot(fileId: string, facts: Omit<AudioFile, 'slot'>): AudioFile {
    const taken = new Set([...this.#audio.values()].map((file) => file.slot));
    const free = Array.from({ length: taken.size + 1 }, (_, slot) => slot).find((slot) => !taken.has(slot));
    const slot = this.#audio.get(fileId)?.slot ?? free ?? 0;
    const file = { slot, ...facts };
    this.#audio.set(fileId, file);
    return file;
  }

  /**
   * Goes on with a project from where it is. A track's `soundfont_id` names a bank; tracks whose bank
   * is not loaded, or that name none, are silent. Rejects when the project cannot be played; the
   * old one then plays on.
   */
  async setProject(project: Project): Promise<SessionInfo> {
    const slots = Object.fromEntries(this.#slots);
    const session = compileSession(project, slots, undefined, this.context.sampleRate, Object.fromEntries(this.#audio));
    const { bytes, trackIds } = session;
    try {
      await this.#ask((request) => this.#send({ type: 'setSession', request, bytes, trackIds }, [bytes.buffer]));
    } catch (error) {
      session.free();
      throw error;
    }
    this.#session.free();
    this.#session = session;
    return { lengthFrames: session.lengthFrames, trackIds };
  }

  /** Moves a track's fader, pan, mute and solo, gliding. */
  setTrackMix(trackId: string, mix: TrackMix): void {
    const { gainDb, pan, mute, solo } = mix;
    this.#send({ type: 'setTrackMix', trackId, mix: { gain: gainFromDb(gainDb), pan, mute, solo } });
  }

  /** Moves a send of a track, by its place among those, gliding. */
  setSendGain(trackId: string, send: number, gainDb: number): void {
    this.#send({ type: 'setSendGain', trackId, send, gain: gainFromDb(gainDb) });
  }

  /**
   * Moves a parameter of an effect, by its place in the table of the effect's kind, to a value in its unit;
   * without a track the effect is the master's.
   */
  setEffectParameter(trackId: string | null, effectId: string, parameter: number, value: number): void {
    this.#send({ type: 'setEffectParameter', trackId, effectId, parameter, value });
  }

  /** Passes the sound around an effect, or no longer. */
  setEffectBypass(trackId: string | null, effectId: string, bypass: boolean): void {
    this.#send({ type: 'setEffectBypass', trackId, effectId, bypass });
  }

  /** Passes the sound around all effects of a track or of the master, or no longer. */
  setBypass(trackId: string | null, bypass: boolean): void {
    this.#send({ type: 'setBypass', trackId, bypass });
  }

  /** Moves the master fader, gliding. */
  setMasterGain(gainDb: number): void {
    this.#send({ type: 'setMasterGain', gain: gainFromDb(gainDb) });
  }

  /**
   * Lets a track play audio that was rendered elsewhere, before its fader, instead of its notes;
   * null goes back to the notes. The arrays are taken over.
   */
  setTrackAudio(trackId: string, audio: TrackAudio | null): void {
    const transfer = audio ? [audio.left, audio.right, audio.reverb, audio.chorus].map((channel) => channel.buffer) : [];
    this.#send({ type: 'setTrackAudio', trackId, audio }, transfer as ArrayBuffer[]);
  }

  /** Plays from the current position, once the browser lets sound out. */
  async play(): Promise<void> {
    if (this.context.state === 'suspended') await this.context.resume();
    this.#send({ type: 'play' });
  }

  /** Stands still; notes ring out. */
  stop(): void {
    this.#send({ type: 'stop' });
  }

  /** Moves to a frame of the session. */
  seek(frame: number): void {
    this.#send({ type: 'seek', frame });
  }

  /** Strikes a key of a track now; `velocity` is 0..1. */
  noteOn(trackId: string, key: number, velocity: number): void {
    const midiVelocity = Math.min(127, Math.max(1, Math.round(velocity * 127)));
    this.#send({ type: 'noteOn', trackId, key, velocity: midiVelocity });
  }

  /** Lets a key of a track go. */
  noteOff(trackId: string, key: number): void {
    this.#send({ type: 'noteOff', trackId, key });
  }

  /** Ends every note with its release. */
  allNotesOff(): void {
    this.#send({ type: 'allNotesOff' });
  }

  /**
   * What an equalizer does to sines of some frequencies once its parameters rest, in decibels. `values` are
   * those of its parameters in the order of the kind's table.
   */
  equalizerResponse(values: Float64Array, frequenciesHz: Float64Array): Float64Array {
    return equalizerResponse(values, frequenciesHz, this.context.sampleRate);
  }

  /** The frame nearest to a tick of the current project, as the engine counts. */
  tickToFrame(tick: number): number {
    return this.#session.tickToFrame(tick);
  }

  /** The tick that sounds at a frame of the current project. */
  frameToTick(frame: number): number {
    return this.#session.frameToTick(frame);
  }

  /** Calls `listener` about 30 times a second until the function it returns is called. */
  onStatus(listener: (status: EngineStatus) => void): () => void {
    this.#statusListeners.add(listener);
    return () => this.#statusListeners.delete(listener);
  }

  /**
   * Calls `listener` about 30 times a second with how much some effects turn their input down, in decibels
   * in their order, NaN where there is no such thing; in place of those that were watched before.
   */
  watchReductions(effects: EffectName[], listener: (db: Float32Array) => void): void {
    this.#onReductions = listener;
    this.#send({ type: 'watchReductions', effects });
  }

  /**
   * Calls `listener` ten times a second with what the master's meters measure, until the function it returns is
   * called. The engine measures only while there is a listener.
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

  /** Begins integrated loudness and peaks of the master's meters anew, as playing from the start does. */
  resetMeters(): void {
    this.#send({ type: 'resetMeters' });
  }

  /** Calls `listener` if the engine breaks; it is silent from then on. */
  onFailure(listener: (detail: string) => void): () => void {
    this.#failureListeners.add(listener);
    return () => this.#failureListeners.delete(listener);
  }

  /** Ends the engine and lets its memory go. */
  async close(): Promise<void> {
    this.#fail('the engine was closed');
    this.#statusListeners.clear();
    this.#meterListeners.clear();
    this.#onReductions = null;
    this.#wantedListeners.clear();
    this.output.disconnect();
    this.#port.onmessage = null;
    this.#port.close();
    await this.context.close();
  }

  #send(command: EngineCommand, transfer: ArrayBufferLike[] = []): void {
    this.#port.postMessage(command, transfer as ArrayBuffer[]);
  }

  #ask(send: (request: number) => void): Promise<void> {
    if (this.#end !== null) return Promise.reject(new Error(this.#end));
    const request = ++this.#requests;
    return new Promise((resolve, reject) => {
      this.#pending.set(request, { resolve, reject });
      send(request);
    });
  }

  #take(report: EngineReport): void {
    switch (report.type) {
      case 'reply': {
        const pending = this.#pending.get(report.request);
        this.#pending.delete(report.request);
        if (report.error === undefined) pending?.resolve();
        else pending?.reject(new Error(report.error));
        break;
      }
      case 'status': {
        const { values } = report;
        const status: EngineStatus = {
          frame: values[STATUS_FRAME] ?? 0,
          playing: values[STATUS_PLAYING] === 1,
          load: values[STATUS_LOAD] ?? 0,
          underruns: values[STATUS_UNDERRUNS] ?? 0,
          peaks: Float32Array.from(values.subarray(STATUS_PEAKS)),
        };
        for (const listener of this.#statusListeners) listener(status);
        break;
      }
      case 'reductions':
        this.#onReductions?.(report.db);
        break;
      case 'meters':
        for (const listener of this.#meterListeners) listener(report);
        break;
      case 'wanted':
        for (const listener of this.#wantedListeners) listener(report.wanted);
        break;
      case 'failed':
        this.#fail(report.detail);
        break;
    }
  }

  #fail(detail: string): void {
    this.#end ??= detail;
    for (const { reject } of this.#pending.values()) reject(new Error(detail));
    this.#pending.clear();
    for (const listener of this.#failureListeners) listener(detail);
    this.#failureListeners.clear();
  }
}

async function compileModule(url: string): Promise<WebAssembly.Module> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url} answered ${response.status}`);
  return WebAssembly.compile(await response.arrayBuffer());
}
