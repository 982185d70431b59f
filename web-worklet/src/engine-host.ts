/** The engine on the audio thread: carries out commands, fills buffers and reports its state. */
import { initSync, WasmEngine } from '../pkg/dsp_wasm.js';
import { LoadGauge } from './load-gauge';
import {
  STATUS_FRAME,
  STATUS_LOAD,
  STATUS_PEAKS,
  STATUS_PLAYING,
  STATUS_UNDERRUNS,
  type EffectName,
  type EngineCommand,
  type EngineReport,
  type TrackAudio,
  type WantedAudio,
} from './protocol';

/** Length of the engine's buffers in frames. */
const BLOCK_FRAMES = 256;
/** Length of a buffer in bytes. */
const BLOCK_BYTES = 4 * BLOCK_FRAMES;
/** Numbers for each block of streamed audio in the engine's list. */
const WANTED_NUMBERS = 6;
/** Frames between two reports: 31 a second at 48 kHz. */
const REPORT_FRAMES = 1536;
/** Meter reports per second. */
const METER_REPORTS_PER_SECOND = 10;
/** Index of the spectrum in the engine's meter values. */
const METER_SPECTRUM = 8;

/** A channel of a track with external input, and the engine's buffer for it. */
type Input = { audio: Float32Array; buffer: Float32Array };

export class EngineHost {
  readonly #engine: WasmEngine;
  readonly #memory: WebAssembly.Memory;
  readonly #post: (report: EngineReport) => void;
  readonly #gauge: LoadGauge;
  readonly #audioOf = new Map<string, TrackAudio>();
  #trackIds: string[] = [];
  #watched: EffectName[] = [];
  #inputs: Input[] = [];
  #left = new Float32Array(0);
  #right = new Float32Array(0);
  #peaks = new Float32Array(0);
  #status = { type: 'status' as const, values: new Float64Array(STATUS_PEAKS + 2) };
  #framesToReport = 0;
  readonly #meterFrames: number;
  #framesToMeters = 0;
  #metersWatched = false;
  /** The frame of a pending seek. */
  #seekFrame: number | undefined;
  #meters = new Float32Array(0);
  #hasFailed = false;

  /**
   * `post` sends a report to the page; the report's memory is reused afterwards. `nowMs` is a
   * clock.
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
    this.#meterFrames = sampleRateHz / METER_REPORTS_PER_SECOND;
    this.#gauge = new LoadGauge(sampleRateHz, nowMs);
    this.#updateViews();
  }

  /** Carries out a command. May allocate; never called while `render` runs. */
  receive(command: EngineCommand): void {
    if (this.#hasFailed) {
      if ('request' in command) this.#reply(command.request, 'the engine has failed; reload the page');
      return;
    }
    try {
      if (command.type !== 'seek') this.#seek();
      this.#carryOut(command);
    } catch (error) {
      const detail = error instanceof Error ? error.message : String(error);
      if (error instanceof WebAssembly.RuntimeError) this.#fail(detail);
      if ('request' in command) this.#reply(command.request, detail);
    }
    this.#updateViews();
  }

  /** Renders the next frames, any number of them. Allocates nothing. */
  render(left: Float32Array, right: Float32Array): void {
    if (this.#hasFailed) return;
    this.#gauge.begin(left.length);
    try {
      this.#seek();
      for (let done = 0; done < left.length; done += BLOCK_FRAMES) {
        this.#renderBlock(left, right, done, Math.min(BLOCK_FRAMES, left.length - done));
      }
    } catch (error) {
      this.#fail(error instanceof Error ? error.message : String(error));
    }
    this.#gauge.end();
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
      case 'dropBank':
        engine.dropBank(command.slot);
        break;
      case 'setSession':
        engine.setSession(command.bytes);
        this.#trackIds = command.trackIds;
        this.#assignInputs();
        this.#reply(command.request);
        break;
      case 'play':
        engine.play();
        break;
      case 'stop':
        engine.stop();
        break;
      case 'seek':
        this.#seekFrame = command.frame;
        break;
      case 'noteOn':
        this.#withTrack(command.trackId, (track) => engine.noteOn(track, command.key, command.velocity));
        break;
      case 'noteOff':
        this.#withTrack(command.trackId, (track) => engine.noteOff(track, command.key));
        break;
      case 'allNotesOff':
        engine.allNotesOff();
        break;
      case 'setTrackMix': {
        const { gain, pan, mute, solo } = command.mix;
        this.#withTrack(command.trackId, (track) => engine.setTrackMix(track, gain, pan, mute, solo));
        break;
      }
      case 'setMasterGain':
        engine.setMasterGain(command.gain);
        break;
      case 'setSendGain':
        this.#withTrack(command.trackId, (track) => engine.setSendGain(track, command.send, command.gain));
        break;
      case 'setEffectParameter':
        this.#withEffect(command, (track, effect) =>
          engine.setEffectParameter(track, effect, command.parameter, command.value),
        );
        break;
      case 'setEffectBypass':
        this.#withEffect(command, (track, effect) => engine.setEffectBypass(track, effect, command.bypass));
        break;
      case 'setBypass':
        this.#withOwner(command.trackId, (track) => engine.setBypass(track, command.bypass));
        break;
      case 'watchReductions':
        this.#watched = command.effects;
        break;
      case 'watchMeters':
        engine.watchMeters(command.watch);
        this.#metersWatched = command.watch;
        break;
      case 'resetMeters':
        engine.resetMeters();
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
      case 'dropAudio':
        engine.dropAudio(command.slot);
        break;
      case 'fillAudio':
        engine.fillAudio(command.slot, command.sourceFrame, command.left, command.right);
        break;
      case 'setTrackAudio':
        if (command.audio) this.#audioOf.set(command.trackId, command.audio);
        else this.#audioOf.delete(command.trackId);
        this.#assignInputs();
        break;
    }
  }

  /**
   * Carries out the last seek, before the next block or other command. While a user drags the
   * playhead, seeks arrive faster than blocks, and each may take longer than a block.
   */
  #seek(): void {
    if (this.#seekFrame === undefined) return;
    this.#engine.seek(this.#seekFrame);
    this.#seekFrame = undefined;
  }

  #renderBlock(left: Float32Array, right: Float32Array, start: number, frames: number): void {
    const engine = this.#engine;
    if (this.#left.length === 0) this.#updateViews();
    if (engine.playing) this.#feedInputs(engine.position, frames);
    engine.process(frames);
    for (let frame = 0; frame < frames; frame++) {
      left[start + frame] = this.#left[frame] ?? 0;
      right[start + frame] = this.#right[frame] ?? 0;
    }
  }

  #feedInputs(position: number, frames: number): void {
    for (const { audio, buffer } of this.#inputs) {
      for (let frame = 0; frame < frames; frame++) buffer[frame] = audio[position + frame] ?? 0;
    }
  }

  /** Tells the engine which tracks have external input, after a change of tracks or audio. */
  #assignInputs(): void {
    this.#trackIds.forEach((id, track) => this.#engine.setTakesInput(track, this.#audioOf.has(id)));
    for (const id of this.#audioOf.keys()) {
      if (!this.#trackIds.includes(id)) this.#audioOf.delete(id);
    }
  }

  /** Creates the views of the engine's buffers: growing memory detaches the old ones. */
  #updateViews(): void {
    if (this.#hasFailed) return;
    const { buffer } = this.#memory;
    const block = (address: number): Float32Array<ArrayBuffer> => new Float32Array(buffer as ArrayBuffer, address, BLOCK_FRAMES);
    this.#left = block(this.#engine.outputLeft());
    this.#right = block(this.#engine.outputRight());
    this.#inputs = [];
    this.#trackIds.forEach((id, track) => {
      const audio = this.#audioOf.get(id);
      if (!audio) return;
      const address = this.#engine.trackInput(track);
      if (address === 0) return;
      [audio.left, audio.right, audio.reverb, audio.chorus].forEach((channel, number) => {
        this.#inputs.push({ audio: channel, buffer: block(address + number * BLOCK_BYTES) });
      });
    });
    this.#meters = new Float32Array(buffer as ArrayBuffer, this.#engine.readMeters(), this.#engine.meterCount);
    const peakCount = this.#engine.peakCount;
    this.#peaks = new Float32Array(buffer as ArrayBuffer, this.#engine.peaks(), peakCount);
    if (this.#status.values.length !== STATUS_PEAKS + peakCount) {
      this.#status.values = new Float64Array(STATUS_PEAKS + peakCount);
    }
  }

  #report(): void {
    this.#framesToReport = REPORT_FRAMES;
    if (this.#hasFailed) return;
    const engine = this.#engine;
    const { values } = this.#status;
    values[STATUS_FRAME] = Math.max(0, engine.position - (engine.playing ? engine.latencyFrames : 0));
    values[STATUS_PLAYING] = engine.playing ? 1 : 0;
    values[STATUS_LOAD] = this.#gauge.load;
    values[STATUS_UNDERRUNS] = this.#gauge.underruns + engine.audioUnderruns();
    engine.takePeaks();
    values.set(this.#peaks, STATUS_PEAKS);
    this.#post(this.#status);
    this.#reportWantedAudio();
    if (this.#watched.length > 0) this.#reportReductions();
  }

  #reportReductions(): void {
    const db = new Float32Array(this.#watched.length).fill(NaN);
    this.#watched.forEach((name, index) => {
      this.#withEffect(name, (track, effect) => (db[index] = this.#engine.gainReductionDb(track, effect) ?? NaN));
    });
    this.#post({ type: 'reductions', db });
  }

  #reportMeters(): void {
    this.#framesToMeters = this.#meterFrames;
    if (this.#hasFailed) return;
    this.#engine.readMeters();
    const [momentaryLufs = 0, shortTermLufs = 0, integratedLufs = 0, truePeakDbtp = 0, samplePeakDbfs = 0, correlation = 0, left = 0, right = 0] =
      this.#meters;
    this.#post({
      type: 'meters',
      momentaryLufs,
      shortTermLufs,
      integratedLufs,
      truePeakDbtp,
      samplePeakDbfs,
      correlation,
      rmsDb: [left, right],
      spectrumDb: this.#meters.slice(METER_SPECTRUM),
    });
  }

  /** Reports the blocks of streamed audio that clips need. */
  #reportWantedAudio(): void {
    const numbers = this.#engine.wantedAudio();
    const wanted: WantedAudio[] = [];
    for (let start = 0; start < numbers.length; start += WANTED_NUMBERS) {
      const [track = 0, clip = 0, slot = 0, sourceFrame = 0, frames = 0, aheadFrames = 0] =
        numbers.subarray(start, start + WANTED_NUMBERS);
      const trackId = this.#trackIds[track];
      if (trackId === undefined) continue;
      wanted.push({ trackId, clip, slot, sourceFrame, frames, aheadFrames });
    }
    if (wanted.length > 0) this.#post({ type: 'wanted', wanted });
  }

  /** Calls `act` with the index of a track, or without one for the master. */
  #withOwner(trackId: string | null, act: (track: number | undefined) => void): void {
    if (trackId === null) act(undefined);
    else this.#withTrack(trackId, act);
  }

  #withEffect(name: EffectName, act: (track: number | undefined, effect: number) => void): void {
    this.#withOwner(name.trackId, (track) => {
      const effect = this.#engine.effectIndex(track, name.effectId);
      if (effect !== undefined) act(track, effect);
    });
  }

  #withTrack(trackId: string, act: (track: number) => void): void {
    const track = this.#trackIds.indexOf(trackId);
    if (track >= 0) act(track);
  }

  #reply(request: number, error?: string): void {
    this.#post(error === undefined ? { type: 'reply', request } : { type: 'reply', request, error });
  }

  #fail(detail: string): void {
    this.#hasFailed = true;
    this.#post({ type: 'failed', detail });
  }
}
