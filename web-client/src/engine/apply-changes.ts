/** Applies edits to the engine immediately, without a new session. */
import type { EngineClient } from '@songfoundry/web-worklet';
import { AUDITION_TRACK_ID } from '../project/engine-project';
import type { LiveChange } from '../project/live-changes';
import { MASTER_ID, type Project } from '../project/model';

/**
 * Sets the master fader, and the fader, pan, mute and solo of each track in the engine. `trackIds`
 * are the ids of the tracks that the engine has.
 */
export function applyMix(engine: EngineClient, project: Project, trackIds: readonly string[]): void {
  for (const { id, volume_db: gainDb, pan, mute, solo } of project.tracks) {
    if (trackIds.includes(id)) engine.setTrackMix(id, { gainDb, pan, mute, solo });
  }
  if (trackIds.includes(AUDITION_TRACK_ID)) {
    const solo = project.tracks.some((track) => track.solo);
    engine.setTrackMix(AUDITION_TRACK_ID, { gainDb: 0, pan: 0, mute: false, solo });
  }
  engine.setMasterGain(project.master.volume_db);
}

/** Applies a change of a send, an effect or a bypass. */
export function applyLiveChange(engine: EngineClient, change: LiveChange): void {
  if (change.kind === 'send') {
    engine.setSendGain(change.trackId, change.send, change.levelDb);
    return;
  }
  const trackId = change.channelId === MASTER_ID ? null : change.channelId;
  if (change.kind === 'parameter') engine.setEffectParameter(trackId, change.effectId, change.parameter, change.value);
  else if (change.kind === 'effect-bypass') engine.setEffectBypass(trackId, change.effectId, change.bypass);
  else engine.setBypass(trackId, change.bypass);
}
