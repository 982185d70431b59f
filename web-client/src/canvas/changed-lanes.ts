/** Finds the lanes of the arrangement that an edit has changed, so that only these are drawn again. */
import type { Project } from '../project/model';
import { audibleTracks } from '../project/routing';
import { LANE_PX, type ClipsScene } from './draw-clips';
import type { Band } from './band';

/** The data from which the lanes were drawn. Lanes are drawn from the same data if it is equal. */
export type LanesData = {
  project: Project;
  audible: ReadonlyMap<string, boolean>;
  scrollTopPx: number;
  /** Values that change the drawing of all lanes. */
  common: readonly unknown[];
};

/** Returns the data of a scene. `others` are further values that change the drawing of all lanes. */
export function lanesDataOf(scene: ClipsScene, others: readonly unknown[]): LanesData {
  const { view, project, scrollTopPx, selectedItemIds, selectedTrackId } = scene;
  const common = [view.startTick, view.ticksPerPx, selectedItemIds, selectedTrackId, project.tempo_map, project.time_signatures];
  return { project, audible: audibleTracks(project), scrollTopPx, common: [...common, ...others] };
}

/** Returns the bands of the lanes that have changed; null if all lanes may have changed. */
export function changedLanes(before: LanesData | null, after: LanesData): Band[] | null {
  if (!before || before.project.tracks.length !== after.project.tracks.length || before.scrollTopPx !== after.scrollTopPx) return null;
  if (before.common.length !== after.common.length || before.common.some((value, index) => value !== after.common[index])) return null;
  const { scrollTopPx } = after;
  return after.project.tracks.flatMap((track, lane): Band[] => {
    const oldTrack = before.project.tracks[lane];
    if (oldTrack === track && before.audible.get(track.id) === after.audible.get(track.id)) return [];
    const topPx = lane * LANE_PX - scrollTopPx;
    return [{ topPx, bottomPx: topPx + LANE_PX }];
  });
}
