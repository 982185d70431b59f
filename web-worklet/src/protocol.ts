/**
 * Messages between the page and the engine on the audio thread. `dsp-wasm/src/messages.rs` defines
 * the commands without bulk data and the contents of some reports.
 */
import type { ChannelFigures, LiveConnectionPorts } from './live/messages';
import type { ControlCommand, MasterMeters, WantedAudio } from '../pkg/dsp_wasm.js';

export type { EffectName, MasterMeters, WantedAudio } from '../pkg/dsp_wasm.js';

/**
 * Audio of a track that was rendered outside the engine and is streamed in blocks. It is `frames`
 * frames long and begins at the start of the session. `version` is a number that differs from that
 * of earlier audio of the track.
 */
export type TrackAudio = { version: number; frames: number; blockFrames: number };

/** A block of a track's audio. Each block begins at a multiple of the audio's `blockFrames`. */
export type TrackBlock = { trackId: string; version: number; startFrame: number };

/**
 * The commands with bulk data, by name. The engine answers a command that has a `request` number
 * with a `reply`.
 */
export type BulkCommands = {
  /** Begins to receive an SF2 file of `sizeBytes` bytes for a bank slot. */
  beginBank: { request: number; slot: number; sizeBytes: number };
  /** Appends a piece to the SF2 file for a slot. */
  addToBank: { slot: number; piece: Uint8Array };
  /** Loads the received SF2 file. The reply also reports errors in earlier pieces. */
  endBank: { request: number; slot: number };
  /** Replaces the session with a compiled session and continues at the current position. */
  setSession: { request: number; bytes: Uint8Array };
  /**
   * Begins to receive an audio file of `sizeBytes` bytes for an audio slot, for clips or an impulse
   * response.
   */
  beginAudio: { request: number; slot: number; sizeBytes: number };
  /**
   * Appends a piece to the audio file for a slot: little-endian 32-bit floats with interleaved
   * channels.
   */
  addToAudio: { slot: number; piece: Uint8Array };
  /** Makes the received audio file audible. The reply also reports errors in earlier pieces. */
  endAudio: { request: number; slot: number; channels: number };
  /** Declares that the audio of a slot is streamed and `frames` frames long. */
  streamAudio: { request: number; slot: number; frames: number };
  /**
   * Delivers a block of streamed audio, which may be shorter than the block that `wanted` listed.
   */
  fillAudio: { slot: number; sourceFrame: number; left: Float32Array; right: Float32Array };
  /**
   * Makes a track play audio instead of its notes, from the time on when the audio at the playhead
   * has arrived, during playback also the next blocks; null makes it play its notes again.
   */
  setTrackAudio: { trackId: string; audio: TrackAudio | null };
  /** Delivers a block that `wantedTrackAudio` listed: left, right, reverb send and chorus send. */
  fillTrackAudio: { block: TrackBlock; channels: readonly Float32Array[] };
  /**
   * Lets the signal of a track, or of the master for null, pass a live chain before the fader; the
   * chain null ends that.
   */
  setLiveChain: { trackId: string | null; chain: LiveConnectionPorts | null };
};

/** A message to the engine. */
export type EngineCommand =
  | ControlCommand
  | { [Name in keyof BulkCommands]: { type: Name } & BulkCommands[Name] }[keyof BulkCommands];

/** The state of the engine. */
export type EngineStatus = {
  /**
   * The position in the session, in frames. During playback it is earlier by the engine's latency,
   * but not by the latency of the browser's output.
   */
  frame: number;
  playing: boolean;
  /** Frames until the count-in ends and the session plays; 0 if there is no count-in. */
  countInFrames: number;
  /** Time in the audio context at which the audio context plays `frame`, in seconds. */
  contextSecs: number;
  /** Linear peaks: left and right of each track in the session's order, then of the master. */
  peaks: Float32Array;
  /** Rendering time as a fraction of the audio's duration. */
  load: number;
  /**
   * Number of drop-outs since the engine started, including those that late streamed audio caused.
   */
  underruns: number;
  /** Bytes of the audio of tracks that the audio thread keeps around the playhead. */
  streamedBytes: number;
  /** Figures of the live chains. */
  live: ChannelFigures[];
};

/** The reports of the engine to the page, by name. */
export type EngineReports = {
  /**
   * The answer to the command with the same `request` number. It has an `error` if the command
   * failed.
   */
  reply: { request: number; error?: string };
  /** Position, load and peaks, about 30 times a second. */
  status: EngineStatus;
  /**
   * Gain reductions in decibels, in the order of the watched effects. NaN for an effect that
   * reports no gain reduction.
   */
  reductions: { db: Float32Array };
  /** The values of the master's meters, ten times a second while they are watched. */
  meters: MasterMeters;
  /** Blocks of streamed audio that clips need. A block is listed until it is delivered. */
  wanted: { wanted: WantedAudio[] };
  /**
   * Blocks of the audio of tracks that are played next, the most urgent ones of each track first. A
   * block is listed until it is delivered.
   */
  wantedTrackAudio: { wanted: TrackBlock[] };
  /** The engine refused a command that has no `request` number. */
  refused: { command: EngineCommand['type']; detail: string };
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
