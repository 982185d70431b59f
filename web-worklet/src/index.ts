/** The exports of this package: a client of the Songfoundry engine for a page. */
export {
  EngineClient,
  EngineUnavailableError,
  MAX_BANKS,
  type EngineOptions,
  type PluginOutput,
  type SessionInfo,
  type TrackMix,
  type UnavailableReason,
} from './engine-client';
export { AudioInput } from './audio-input';
export type { InputBlock } from './block-collector';
export { BUFFER_CHOICE_MAX } from './live/block-ring';
export { LiveChain, type LiveChainOptions } from './live/live-chain';
export type { ChannelFigures, LiveChainSettings, LiveConnection, LiveEffect, LiveFigures, LiveLane, LivePluginState, WorkerReport } from './live/messages';
export type { EngineStatus, MasterMeters, TrackAudio, TrackBlock } from './protocol';
export { KEPT_BLOCKS_MAX, STREAM_CHANNELS } from './track-stream';
