/** Messages between the page and the engine on the audio thread. Types only. */

/** Where a track's fader, pan and switches stand; `gain` is linear. */
export type TrackGain = { gain: number; pan: number; mute: boolean; solo: boolean };

/** An effect by its id; without a track it is one of the master's. */
export type EffectName = { trackId: string | null; effectId: string };

/** Audio that a clip will want: see `wantedAudio` of the engine. The fewer frames are ahead, the more urgent. */
export type WantedAudio = {
  trackId: string;
  clip: number;
  slot: number;
  sourceFrame: number;
  frames: number;
  aheadFrames: number;
};

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
  /** A send by its place among the track's; `gain` is linear. */
  setSendGain: { trackId: string; send: number; gain: number };
  /** A parameter by its place in the table of the effect's kind, in its own unit. */
  setEffectParameter: EffectName & { parameter: number; value: number };
  setEffectBypass: EffectName & { bypass: boolean };
  /** All effects of a track, or of the master. */
  setBypass: { trackId: string | null; bypass: boolean };
  /** Report from now on how much these effects turn their input down; replaces those of before. */
  watchReductions: { effects: EffectName[] };
  /** Measure the master from now on and report it, or no longer. */
  watchMeters: { watch: boolean };
  /** Begin integrated loudness and peaks of the master anew. */
  resetMeters: object;
  /** Make room for whole audio in a slot: what clips play, or an impulse response. Answered. */
  beginAudio: { request: number; slot: number; sizeBytes: number };
  /** The next piece of it: little-endian 32-bit floats, channels interleaved. */
  addToAudio: { slot: number; piece: Uint8Array };
  /** The audio is whole: let it sound. Answered; what was wrong with a piece is said here. */
  endAudio: { request: number; slot: number; channels: number };
  /** Audio for a slot that is handed over as it is wanted. Answered. */
  streamAudio: { request: number; slot: number; frames: number };
  /** Let the audio in a slot go. */
  dropAudio: { slot: number };
  /** Audio that was wanted, by its slot and where it begins in its file; may be less. */
  fillAudio: { slot: number; sourceFrame: number; left: Float32Array; right: Float32Array };
  setTrackAudio: { trackId: string; audio: TrackAudio | null };
};

/** One message to the engine. */
export type EngineCommand = {
  [Name in keyof EngineCommands]: { type: Name } & EngineCommands[Name];
}[keyof EngineCommands];

/**
 * What the meters of the master measure. Silence is -Infinity. The measurement begins when the meters are watched, when
 * the song plays from its start, and when they are reset.
 */
export type MasterMeters = {
  /** Loudness of the last 0.4 s, of the last 3 s, and of what has played since the measurement began (ITU-R BS.1770, EBU R 128). */
  momentaryLufs: number;
  shortTermLufs: number;
  integratedLufs: number;
  /** Highest level between samples since the measurement began. */
  truePeakDbtp: number;
  /** Highest sample since then. */
  samplePeakDbfs: number;
  /** How alike left and right were in the last 0.3 s: 1 the same, 0 unrelated, -1 opposed. */
  correlation: number;
  /** Root mean square of left and right over the last 0.3 s: a sine of full scale has -3.01. */
  rmsDb: [left: number, right: number];
  /** Levels of the 31 third-octave bands from 20 Hz to 20 kHz, mean of both channels: a sine of full scale has 0. */
  spectrumDb: Float32Array;
};

/** What the engine tells the page, by the name of the message. */
export type EngineReports = {
  /** The answer to a command that carries a `request`; `error` when it failed. */
  reply: { request: number; error?: string };
  /** Where it is; see the `STATUS_` places. */
  status: { values: Float64Array };
  /** How much the watched effects turn their input down, in decibels, in their order; NaN where there is no such thing. */
  reductions: { db: Float32Array };
  /** What the meters of the master measure, ten times a second while they are watched. */
  meters: MasterMeters;
  /** Audio that clips will want, again and again until it comes. */
  wanted: { wanted: WantedAudio[] };
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
/** ... drop-outs so far, those of clips whose audio came too late included, and from here on the peaks: left, right of each track, then the master. */
export const STATUS_UNDERRUNS = 3;
export const STATUS_PEAKS = 4;

/** What the processor is constructed with. */
export type ProcessorOptions = { module: WebAssembly.Module };

/** Name under which the processor is registered. */
export const PROCESSOR_NAME = 'songfoundry-engine';
