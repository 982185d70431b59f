/** The lanes with the takes of a track, whose scripts are not loaded with the page. */
import type { TimeView } from '../../canvas/time-view.svelte';
import type { Track } from '../../project/model';
import { LazyPart } from '../../ui/lazy-part';

export type TakeLanesProps = {
  track: Track;
  view: TimeView;
  /** Top of the first lane in the visible part of the lanes, in pixels; negative if above it. */
  topPx: number;
  /** Height of the visible part of the lanes, in pixels. */
  windowPx: number;
};

export const TAKE_LANES = new LazyPart<TakeLanesProps>('The takes', () => import('./take-lanes.svelte'));
export const TAKE_HEADERS = new LazyPart<{ track: Track }>('The takes', () => import('./take-headers.svelte'));
