/** Messages between the page and the engine on the audio thread. Types only. */

/** Fader, pan, mute and solo of a track; `gain` is linear. */
export type TrackGain = { gain: number; pan: number; mute: boolean; solo: boolean };

/** An effect by its id: of a track, or of the master without a track. */
export type EffectName = { trackId: string | null; effectId: string };

/** A block of streamed audio that a clip needs: see `wantedAudio` of the engine. Fewer frames ahead are more urgent. */
export type WantedAudio = {
  trackId: string;
  clip: number;
  slot: number;
  sourceFrame: number;
  frames: number;
  aheadFrames: number;
};

/**
 * The outputs of a track, rendered outside the engine: left, right, reverb send and chorus send.
 * Frame 0 is the start of the session.
 */
export type TrackAudio = { left: Float32Array; right: Float32Array; reverb: Float32Array; chorus: Float32Array };

/** The commands of the page to the engine, by name. Commands with a `request` are answered by a `reply`. */
export type EngineCommands = {
  /** Begins to receive an SF2 file for a slot. */
  beginBank: { request: number; slot: number; sizeBytes: number };
  /** Appends a piece of the file. */
  addToBank: { slot: number; piece: Uint8Array };
  /** Loads the file. Its answer also reports errors of the pieces. */
  endBank: { request: number; slot: number };
  /** Removes the bank in a slot. */
  dropBank: { slot: number };
  /** Continues with a compiled session; `trackIds` in the order of its tracks. */
  setSession: { request: number; bytes: Uint8Array; trackIds: string[] };
  play: object;
  stop: object;
  seek: { frame: number };
  noteOn: { trackId: string; key: number; velocity: number };
  noteOff: { trackId: string; key: number };
  allNotesOff: object;
  setTrackMix: { trackId: string; mix: TrackGain };
  setMasterGain: { gain: number };
  /** The send at an index of the track; `gain` is linear. */
  setSendGain: { trackId: string; send: number; gain: number };
  /** A parameter by its index in the table of the effect's kind, in its own unit. */
  setEffectParameter: EffectName & { parameter: number; value: number };
  setEffectBypass: EffectName & { bypass: boolean };
  /** All effects of a track, or of the master. */
  setBypass: { trackId: string | null; bypass: boolean };
  /** Reports the gain reduction of these effects from now on, instead of those watched before. */
  watchReductions: { effects: EffectName[] };
  /** Starts or stops measuring the master. */
  watchMeters: { watch: boolean };
  /** Resets integrated loudness and peaks of the master. */
  resetMeters: object;
  /** Begins to receive an audio file for a slot: for clips, or an impulse response. */
  beginAudio: { request: number; slot: number; sizeBytes: number };
  /** Appends a piece of the file: little-endian 32-bit floats, channels interleaved. */
  addToAudio: { slot: number; piece: Uint8Array };
  /** Makes the file audible. Its answer also reports errors of the pieces. */
  endAudio: { request: number; slot: number; channels: number };
  /** Makes a slot hold streamed audio. */
  streamAudio: { request: number; slot: number; frames: number };
  /** Removes the audio in a slot. */
  dropAudio: { slot: number };
  /** Delivers a block of streamed audio, which may be shorter than wanted. */
  fillAudio: { slot: number; sourceFrame: number; left: Float32Array; right: Float32Array };
  setTrackAudio: { trackId: string; audio: TrackAudio | null };
};

/** A message to the engine. */
export type EngineCommand = {
  [Name in keyof EngineCommands]: { type: Name } & EngineCommands[Name];
}[keyof EngineCommands];

/**
 * The values of the master's meters. Silence is -Infinity. A measurement begins when the page
 * watches the meters, when the song plays from its start, and when the meters are reset.
 */
export type MasterMeters = {
  /** Loudness of the last 0.4 s, of the last 3 s, and since the measurement began (ITU-R BS.1770, EBU R 128). */
  momentaryLufs: number;
  shortTermLufs: number;
  integratedLufs: number;
  /** True peak since the measurement began. */
  truePeakDbtp: number;
  /** Sample peak since the measurement began. */
  samplePeakDbfs: number;
  /** Correlation of left and right over the last 0.3 s: 1 the same, 0 unrelated, -1 opposed. */
  correlation: number;
  /** RMS of left and right over the last 0.3 s: a sine at full scale has -3.01. */
  rmsDb: [left: number, right: number];
  /** Levels of the 31 third-octave bands from 20 Hz to 20 kHz, mean of both channels: a sine at full scale has 0. */
  spectrumDb: Float32Array;
};

/** The reports of the engine to the page, by name. */
export type EngineReports = {
  /** The answer to a command with a `request`; `error` if it failed. */
  reply: { request: number; error?: string };
  /** Position, load and peaks: see the `STATUS_` indices. */
  status: { values: Float64Array };
  /** Gain reductions of the watched effects in decibels, in their order; NaN for effects that have none. */
  reductions: { db: Float32Array };
  /** The values of the master's meters, ten times a second while they are watched. */
  meters: MasterMeters;
  /** Blocks of streamed audio that clips need; each is listed until it is delivered. */
  wanted: { wanted: WantedAudio[] };
  /** The engine has failed and stays silent. */
  failed: { detail: string };
};

/** A message from the engine. */
export type EngineReport = {
  [Name in keyof EngineReports]: { type: Name } & EngineReports[Name];
}[keyof EngineReports];

/** Indices in the values of a `status`. The frame that is audible: */
export const STATUS_FRAME = 0;
/** Whether the session plays, 0 or 1: */
export const STATUS_PLAYING = 1;
/** Rendering time as a fraction of the audio's duration, 0 and above: */
export const STATUS_LOAD = 2;
/** Number of drop-outs, those of late streamed audio included: */
export const STATUS_UNDERRUNS = 3;
/** The first of the sample peaks: left and right of each track, then of the master. */
export const STATUS_PEAKS = 4;

/** Options of the processor's constructor. */
export type ProcessorOptions = { module: WebAssembly.Module };

/** Name of the registered processor. */
export const PROCESSOR_NAME = 'songfoundry-engine';
