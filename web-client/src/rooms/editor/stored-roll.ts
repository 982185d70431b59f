/** The scale and the lanes of the piano roll, which the project's `client` stores. */
import type { Project } from '../../project/model';
import { SCALES, type ScaleChoice } from '../../project/scales';
import type { LaneId } from './lane-ids';

/** Maximum number of lanes below the notes. */
export const LANES_MAX = 4;

const NO_SCALE: ScaleChoice = { root: 0, scaleId: null };
const DEFAULT_LANES: readonly LaneId[] = ['velocity'];

type Stored = { scale?: unknown; lanes?: unknown };

/** Returns what a song stores about the piano roll: the same object until it changes. */
export function storedRollOf(project: Project): Stored | null {
  const { piano_roll: stored } = (project.client ?? {}) as { piano_roll?: unknown };
  return typeof stored === 'object' ? stored : null;
}

/** Returns the stored scale; none without a valid one. */
export function scaleOf(stored: Stored | null): ScaleChoice {
  const { root, scale_id: scaleId } = (stored?.scale ?? {}) as { root?: unknown; scale_id?: unknown };
  if (typeof root !== 'number' || !Number.isInteger(root) || root < 0 || root > 11) return NO_SCALE;
  return { root, scaleId: SCALES.find(({ id }) => id === scaleId)?.id ?? null };
}

/** Returns the stored lanes without invalid and repeated ones; the velocities if none remains. */
export function lanesOf(stored: Stored | null): readonly LaneId[] {
  const lanes = Array.isArray(stored?.lanes) ? [...new Set(stored.lanes as unknown[])].filter(isLaneId) : [];
  return lanes.length > 0 ? lanes.slice(0, LANES_MAX) : DEFAULT_LANES;
}

function isLaneId(value: unknown): value is LaneId {
  if (value === 'velocity' || value === 'bend' || value === 'pressure') return true;
  return typeof value === 'string' && /^cc(\d|[1-9]\d|1[01]\d|12[0-7])$/.test(value);
}

export const setScale = (project: Project, { root, scaleId }: ScaleChoice): Project => withStored(project, { scale: { root, scale_id: scaleId } });

export const setLanes = (project: Project, lanes: readonly LaneId[]): Project => withStored(project, { lanes });

function withStored(project: Project, change: Stored): Project {
  return { ...project, client: { ...(project.client as object | undefined), piano_roll: { ...storedRollOf(project), ...change } } };
}
