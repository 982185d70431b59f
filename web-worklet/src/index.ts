/** The Songfoundry engine for a page. */
export {
  EngineUnavailableError,
  MAX_BANKS,
  SongEngine,
  type EngineOptions,
  type EngineStatus,
  type SessionInfo,
  type TrackMix,
  type UnavailableReason,
} from './song-engine';
export type { MasterMeters } from './protocol';
