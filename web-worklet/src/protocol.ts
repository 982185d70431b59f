/** Messages between the page and the engine on the audio thread. Types only. */

/** Where a track's fader and pan stand; `gain` is linear. */
export type TrackGain = { gain: number; pan: number; audible: boolean };

/**
 * A track's sound, rendered elsewhere, and what it sends to the reverb and the chorus of the mix;
 * frame 0 is the start of the session.
 */
export type TrackAudio = { left: Float32Array; right: Float32Array; reverb: Float32Array; chorus: Float32Array };

/** What the page tells the engine, by the name of the message. */
export type EngineCommands = {
  /** Make room for an SF2 file in a slot. Answered. */
  beginBank: { request: number; slot: number; sizeBytes: number };
  /** The next piece of the file. */
  addToBank: { slot: number; piece: Uint8Array };
  /** The file is whole: load it. Answered; what was wrong with a piece is said here. */
  endBank: { request: number; slot: number };
  /** Let the bank in a slot go. */
  dropBank: { slot: number };
  /** Go on with a compiled session; `trackIds` in the engine's order. Answered. */
  setSession: { request: number; bytes: Uint8Array; trackIds: string[] };
  play: object;
  stop: object;
  seek: { frame: number };
  noteOn: { trackId: string; key: number; velocity: number };
  noteOff: { trackId: string; key: number };
  allNotesOff: object;
  setTrackMix: { trackId: string; mix: TrackGain };
  setMasterGain: { gain: number };
  setTrackAudio: { trackId: string; audio: TrackAudio | null };
};

/** One message to the engine. */
export type EngineCommand = {
  [Name in keyof EngineCommands]: { type: Name } & EngineCommands[Name];
}[keyof EngineCommands];

/** What the meters of the master measure. Silence is -Infinity. */
export type MasterMeters = {
  /** Loudness of the last 0.4 s, of the last 3 s, and since playing began (ITU-R BS.1770, EBU R 128). */
  momentaryLufs: number;
  shortTermLufs: number;
  integratedLufs: number;
  /** Highest level between samples since playing began. */
  truePeakDbtp: number;
  /** How alike left and right are: 1 the same, 0 unrelated, -1 opposed. */
  correlation: number;
  /** Root mean square of left and right. */
  rmsDb: [left: number, right: number];
  /** Levels of the 31 third-octave bands from 20 Hz to 20 kHz. */
  spectrumDb: Float32Array;
};

/** What the engine tells the page, by the name of the message. */
export type EngineReports = {
  /** The answer to a command that carries a `request`; `error` when it failed. */
  reply: { request: number; error?: string };
  /** Where it is; see the `STATUS_` places. */
  status: { values: Float64Array };
  /** What the meters of the master measure, ten times a second. */
  meters: MasterMeters;
  /** The engine broke and is silent from here on. */
  failed: { detail: string };
};

/** One message from the engine. */
export type EngineReport = {
  [Name in keyof EngineReports]: { type: Name } & EngineReports[Name];
}[keyof EngineReports];

/** Places in the values of a `status`: the frame that is heard, whether it moves (0 or 1), ... */
export const STATUS_FRAME = 0;
export const STATUS_PLAYING = 1;
/** ... the share of the time of its audio that rendering took, 0..1 and above, ... */
export const STATUS_LOAD = 2;
/** ... drop-outs so far, and from here on the peaks: left, right of each track, then the master. */
export const STATUS_UNDERRUNS = 3;
export const STATUS_PEAKS = 4;

/** What the processor is constructed with. */
export type ProcessorOptions = { module: WebAssembly.Module };

/** Name under which the processor is registered. */
export const PROCESSOR_NAME = 'songfoundry-engine';
