/**
 * Messages between the page and the engine on the audio thread. The engine itself defines commands
 * without bulk data, and what it reports (`dsp-wasm/src/messages.rs`).
 */
import type { ControlCommand, MasterMeters, WantedAudio } from '../pkg/dsp_wasm.js';

export type { EffectName, MasterMeters, WantedAudio } from '../pkg/dsp_wasm.js';

/**
 * The outputs of a track, rendered outside the engine: left, right, reverb send and chorus send.
 * Frame 0 is the start of the session.
 */
export type TrackAudio = { left: Float32Array; right: Float32Array; reverb: Float32Array; chorus: Float32Array };

/** The commands with bulk data, by name. Commands with a `request` are answered by a `reply`. */
export type BulkCommands = {
  /** Begins to receive an SF2 file for a slot. */
  beginBank: { request: number; slot: number; sizeBytes: number };
  /** Appends a piece of the file. */
  addToBank: { slot: number; piece: Uint8Array };
  /** Loads the file. Its answer also reports errors of the pieces. */
  endBank: { request: number; slot: number };
  /** Continues with a compiled session. */
  setSession: { request: number; bytes: Uint8Array };
  /** Begins to receive an audio file for a slot: for clips, or an impulse response. */
  beginAudio: { request: number; slot: number; sizeBytes: number };
  /** Appends a piece of the file: little-endian 32-bit floats, channels interleaved. */
  addToAudio: { slot: number; piece: Uint8Array };
  /** Makes the file audible. Its answer also reports errors of the pieces. */
  endAudio: { request: number; slot: number; channels: number };
  /** Makes a slot hold streamed audio. */
  streamAudio: { request: number; slot: number; frames: number };
  /** Delivers a block of streamed audio, which may be shorter than wanted. */
  fillAudio: { slot: number; sourceFrame: number; left: Float32Array; right: Float32Array };
  /** Makes a track play audio instead of its notes; null returns to the notes. */
  setTrackAudio: { trackId: string; audio: TrackAudio | null };
};

/** A message to the engine. */
export type EngineCommand =
  | ControlCommand
  | { [Name in keyof BulkCommands]: { type: Name } & BulkCommands[Name] }[keyof BulkCommands];

/** The state of the engine. */
export type EngineStatus = {
  /** The frame of the session that is audible. */
  frame: number;
  playing: boolean;
  /** Left and right of each track in the session's order, then of the master; linear. */
  peaks: Float32Array;
  /** Rendering time as a fraction of the audio's duration. */
  load: number;
  /** Drop-outs since the engine started, those of late streamed audio included. */
  underruns: number;
};

/** The reports of the engine to the page, by name. */
export type EngineReports = {
  /** The answer to a command with a `request`; `error` if it failed. */
  reply: { request: number; error?: string };
  /** Position, load and peaks, about 30 times a second. */
  status: EngineStatus;
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

/** Options of the processor's constructor. */
export type ProcessorOptions = { module: WebAssembly.Module };

/** Name of the registered processor. */
export const PROCESSOR_NAME = 'songfoundry-engine';
