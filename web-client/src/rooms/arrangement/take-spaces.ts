/**
 * The positions of tracks of which some have lanes with their takes below. Clips are drawn and
 * found as if all tracks were adjacent; this class converts between these positions and the shown
 * ones. All are distances from the top of the first track, in pixels.
 */
import { LANE_PX } from '../../canvas/draw-clips';

/** Height of the lane of a take, in pixels. */
export const TAKE_PX = 30;

/** Adjacent tracks without takes between them: where they are shown, and how far they moved. */
export type TrackGroup = { topPx: number; bottomPx: number; shiftPx: number };

export class TakeSpaces {
  readonly groups: readonly TrackGroup[];
  readonly totalPx: number;

  /** `takeCounts` has the number of shown takes of each track. */
  constructor(takeCounts: readonly number[]) {
    const groups: TrackGroup[] = [];
    let topPx = 0;
    let shiftPx = 0;
    takeCounts.forEach((count, lane) => {
      if (count === 0 && lane < takeCounts.length - 1) return;
      const bottomPx = (lane + 1) * LANE_PX + shiftPx;
      groups.push({ topPx, bottomPx, shiftPx });
      shiftPx += count * TAKE_PX;
      topPx = bottomPx + count * TAKE_PX;
    });
    this.groups = groups.length > 0 ? groups : [{ topPx: 0, bottomPx: 0, shiftPx: 0 }];
    this.totalPx = topPx;
  }

  /** Returns the position of a shown one if all tracks were adjacent. */
  adjacentY(y: number): number {
    for (const { bottomPx, shiftPx, topPx } of this.groups) {
      // A point on the takes of a track belongs to the lower end of the track.
      if (y < topPx) return topPx - shiftPx - 1;
      if (y < bottomPx) return y - shiftPx;
    }
    return y - (this.groups.at(-1)?.shiftPx ?? 0);
  }

  /** Returns the top of the takes of a track. */
  takesTop(lane: number): number {
    const bottom = (lane + 1) * LANE_PX;
    const group = this.groups.find(({ bottomPx, shiftPx }) => bottom <= bottomPx - shiftPx);
    return bottom + (group?.shiftPx ?? 0);
  }
}
