/** The Songfoundry engine for a page. */
export {
  EngineUnavailableError,
  MAX_BANKS,
  SongEngine,
  type EngineOptions,
  type SessionInfo,
  type TrackMix,
  type UnavailableReason,
} from './song-engine';
export type { EngineStatus, MasterMeters } from './protocol';
