/** Sends faders, pans, mutes and solos to the engine: only those that it does not have yet. */
import type { EngineClient } from '@songfoundry/web-worklet';
import { AUDITION_TRACK_ID } from '../project/engine-project';
import type { Project } from '../project/model';

type TrackMix = Parameters<EngineClient['setTrackMix']>[1];

export class MixSender {
  /** The mix that the engine has of each of its tracks, by the track's id. */
  #sent = new Map<string, TrackMix>();
  #sentMasterDb = NaN;

  /**
   * Records that the engine has received a new session of a project, which contains its mix.
   * `trackIds` are the ids of the tracks of the session.
   */
  receivedSession(project: Project, trackIds: readonly string[]): void {
    this.#sent = mixesOf(project, new Set(trackIds));
    this.#sentMasterDb = project.master.volume_db;
  }

  /** Sets the master fader, and the fader, pan, mute and solo of each track that has changed. */
  send(engine: EngineClient, project: Project): void {
    for (const [id, mix] of mixesOf(project, this.#sent)) {
      if (isEqual(this.#sent.get(id), mix)) continue;
      engine.setTrackMix(id, mix);
      this.#sent.set(id, mix);
    }
    if (project.master.volume_db === this.#sentMasterDb) return;
    engine.setMasterGain(project.master.volume_db);
    this.#sentMasterDb = project.master.volume_db;
  }
}

/** Returns the mixes of those tracks that the engine has. */
function mixesOf(project: Project, engineTracks: { has: (id: string) => boolean }): Map<string, TrackMix> {
  const mixes = new Map<string, TrackMix>();
  for (const { id, volume_db: gainDb, pan, mute, solo } of project.tracks) {
    if (engineTracks.has(id)) mixes.set(id, { gainDb, pan, mute, solo });
  }
  if (engineTracks.has(AUDITION_TRACK_ID)) {
    // The audition track stays audible while other tracks are soloed.
    mixes.set(AUDITION_TRACK_ID, { gainDb: 0, pan: 0, mute: false, solo: project.tracks.some((track) => track.solo) });
  }
  return mixes;
}

function isEqual(a: TrackMix | undefined, b: TrackMix): boolean {
  return a !== undefined && a.gainDb === b.gainDb && a.pan === b.pan && a.mute === b.mute && a.solo === b.solo;
}
