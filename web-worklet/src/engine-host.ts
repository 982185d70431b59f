/** The engine on the audio thread: takes commands, fills buffers, reports where it is. */
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

/** Frames that the engine's buffers hold. */
const BLOCK_FRAMES = 256;
/** Bytes of one of them, of 32-bit floats. */
const BLOCK_BYTES = 4 * BLOCK_FRAMES;
/** Numbers by which the engine says what a clip wants. */
const WANTED_NUMBERS = 6;
/** Frames between two reports: 31 a second at 48 kHz. */
const REPORT_FRAMES = 1536;
/** Reports of the meters in a second. */
const METERS_A_SECOND = 10;
/** Places of the engine's meter figures; the spectrum follows them. */
const METER_SPECTRUM = 8;

/** A channel of a track that plays audio from outside, and the engine's buffer for it. */
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
  /** Where the engine is to move with the next command or block. */
  #soughtFrame: number | undefined;
  #meters = new Float32Array(0);
  #broken = false;

  /**
   * `post` sends a report to the page; a report's memory is used again after it returns.
   * `nowMs` is a clock.
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
    this.#meterFrames = sampleRateHz / METERS_A_SECOND;
    this.#gauge = new LoadGauge(sampleRateHz, nowMs);
    this.#findBuffers();
  }

  /** Carries out a command. May allocate; never called while `render` runs. */
  take(command: EngineCommand): void {
    if (this.#broken) {
      if ('request' in command) this.#reply(command.request, 'the engine has stopped; reload the page');
      return;
    }
    try {
      if (command.type !== 'seek') this.#seek();
      this.#carryOut(command);
    } catch (error) {
      const detail = error instanceof Error ? error.message : String(error);
      if (error instanceof WebAssembly.RuntimeError) this.#break(detail);
      if ('request' in command) this.#reply(command.request, detail);
    }
    this.#findBuffers();
  }

  /** Fills the next frames of the output, any number of them. Allocates nothing. */
  render(left: Float32Array, right: Float32Array): void {
    if (this.#broken) return;
    this.#gauge.begin(left.length);
    try {
      this.#seek();
      for (let done = 0; done < left.length; done += BLOCK_FRAMES) {
        this.#renderBlock(left, right, done, Math.min(BLOCK_FRAMES, left.length - done));
      }
    } catch (error) {
      this.#break(error instanceof Error ? error.message : String(error));
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
        this.#soughtFrame = command.frame;
        break;
      case 'noteOn':
        this.#withTrack(command.trackId, (place) => engine.noteOn(place, command.key, command.velocity));
        break;
      case 'noteOff':
        this.#withTrack(command.trackId, (place) => engine.noteOff(place, command.key));
        break;
      case 'allNotesOff':
        engine.allNotesOff();
        break;
      case 'setTrackMix': {
        const { gain, pan, mute, solo } = command.mix;
        this.#withTrack(command.trackId, (place) => engine.setTrackMix(place, gain, pan, mute, solo));
        break;
      }
      case 'setMasterGain':
        engine.setMasterGain(command.gain);
        break;
      case 'setSendGain':
        this.#withTrack(command.trackId, (place) => engine.setSendGain(place, command.send, command.gain));
        break;
      case 'setEffectParameter':
        this.#withEffect(command, (place, effect) =>
          engine.setEffectParameter(place, effect, command.parameter, command.value),
        );
        break;
      case 'setEffectBypass':
        this.#withEffect(command, (place, effect) => engine.setEffectBypass(place, effect, command.bypass));
        break;
      case 'setBypass':
        this.#withOwner(command.trackId, (place) => engine.setBypass(place, command.bypass));
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
   * Moves to where the last command wants to. Not at once: while somebody drags the playhead, commands come faster than
   * sound is wanted, and each may take longer than a block.
   */
  #seek(): void {
    if (this.#soughtFrame === undefined) return;
    this.#engine.seek(this.#soughtFrame);
    this.#soughtFrame = undefined;
  }

  #renderBlock(left: Float32Array, right: Float32Array, start: number, frames: number): void {
    const engine = this.#engine;
    if (this.#left.length === 0) this.#findBuffers();
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

  /** Tells the engine which tracks play audio from outside, after a change of tracks or audio. */
  #assignInputs(): void {
    this.#trackIds.forEach((id, place) => this.#engine.setTakesInput(place, this.#audioOf.has(id)));
    for (const id of this.#audioOf.keys()) {
      if (!this.#trackIds.includes(id)) this.#audioOf.delete(id);
    }
  }

  /** Looks at the engine's buffers anew: growing memory moves them. */
  #findBuffers(): void {
    if (this.#broken) return;
    const { buffer } = this.#memory;
    const block = (address: number): Float32Array<ArrayBuffer> => new Float32Array(buffer as ArrayBuffer, address, BLOCK_FRAMES);
    this.#left = block(this.#engine.outputLeft());
    this.#right = block(this.#engine.outputRight());
    this.#inputs = [];
    this.#trackIds.forEach((id, place) => {
      const audio = this.#audioOf.get(id);
      if (!audio) return;
      const address = this.#engine.trackInput(place);
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
    if (this.#broken) return;
    const engine = this.#engine;
    const { values } = this.#status;
    values[STATUS_FRAME] = Math.max(0, engine.position - (engine.playing ? engine.latencyFrames : 0));
    values[STATUS_PLAYING] = engine.playing ? 1 : 0;
    values[STATUS_LOAD] = this.#gauge.load;
    values[STATUS_UNDERRUNS] = this.#gauge.underruns + engine.audioUnderruns();
    engine.takePeaks();
    values.set(this.#peaks, STATUS_PEAKS);
    this.#post(this.#status);
    this.#askForAudio();
    if (this.#watched.length > 0) this.#reportReductions();
  }

  #reportReductions(): void {
    const db = new Float32Array(this.#watched.length).fill(NaN);
    this.#watched.forEach((name, index) => {
      this.#withEffect(name, (place, effect) => (db[index] = this.#engine.gainReductionDb(place, effect) ?? NaN));
    });
    this.#post({ type: 'reductions', db });
  }

  #reportMeters(): void {
    this.#framesToMeters = this.#meterFrames;
    if (this.#broken) return;
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

  /** Says what clips will want of audio that is handed over. */
  #askForAudio(): void {
    const numbers = this.#engine.wantedAudio();
    const wanted: WantedAudio[] = [];
    for (let start = 0; start < numbers.length; start += WANTED_NUMBERS) {
      const [place = 0, clip = 0, slot = 0, sourceFrame = 0, frames = 0, aheadFrames = 0] =
        numbers.subarray(start, start + WANTED_NUMBERS);
      const trackId = this.#trackIds[place];
      if (trackId === undefined) continue;
      wanted.push({ trackId, clip, slot, sourceFrame, frames, aheadFrames });
    }
    if (wanted.length > 0) this.#post({ type: 'wanted', wanted });
  }

  /** Does something with a track, or with the master, which has no place. */
  #withOwner(trackId: string | null, act: (place: number | undefined) => void): void {
    if (trackId === null) act(undefined);
    else this.#withTrack(trackId, act);
  }

  #withEffect(name: EffectName, act: (place: number | undefined, effect: number) => void): void {
    this.#withOwner(name.trackId, (place) => {
      const effect = this.#engine.effectPlace(place, name.effectId);
      if (effect !== undefined) act(place, effect);
    });
  }

  #withTrack(trackId: string, act: (place: number) => void): void {
    const place = this.#trackIds.indexOf(trackId);
    if (place >= 0) act(place);
  }

  #reply(request: number, error?: string): void {
    this.#post(error === undefined ? { type: 'reply', request } : { type: 'reply', request, error });
  }

  #break(detail: string): void {
    this.#broken = true;
    this.#post({ type: 'failed', detail });
  }
}
