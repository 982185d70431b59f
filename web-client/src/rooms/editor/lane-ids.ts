/** Ids of the lanes below the piano roll: `velocity`, `bend`, `pressure`, or `cc` and a number. */
import { USUAL_CONTROLLERS } from '../../project/controller-names';
import { lanesWithPoints, nameOfLane, type ControlLane } from '../../project/control-lanes';
import type { Control } from '../../project/model';

export type LaneId = 'velocity' | 'bend' | 'pressure' | `cc${number}`;

/** Returns the lane with an id; null for velocities, which are no controls but parts of notes. */
export function laneOfId(id: LaneId): ControlLane | null {
  if (id === 'velocity') return null;
  if (id === 'bend' || id === 'pressure') return { kind: id };
  return { kind: 'cc', controller: Number(id.slice(2)) };
}

export function idOfLane(lane: ControlLane): LaneId {
  return lane.kind === 'cc' ? `cc${lane.controller}` : lane.kind;
}

/** A choice of a list of lanes. */
export type LaneChoice = { id: LaneId; name: string };
export type LaneChoices = { used: LaneChoice[]; usual: LaneChoice[]; others: LaneChoice[] };

/** Returns all lanes: those with points in a clip, the usual ones, and all other controllers. */
export function laneChoices(controls: readonly Control[]): LaneChoices {
  const choiceOf = (lane: ControlLane): LaneChoice => ({ id: idOfLane(lane), name: nameOfLane(lane) });
  const controllers = (numbers: readonly number[]): LaneChoice[] => numbers.map((controller) => choiceOf({ kind: 'cc', controller }));
  const used = lanesWithPoints(controls).map(choiceOf);
  const usual: LaneChoice[] = [{ id: 'velocity', name: 'Velocity' }, choiceOf({ kind: 'bend' }), choiceOf({ kind: 'pressure' }), ...controllers(USUAL_CONTROLLERS)];
  const isUsed = ({ id }: LaneChoice): boolean => used.some((choice) => choice.id === id);
  const otherNumbers = Array.from({ length: 128 }, (_, number) => number).filter((number) => !USUAL_CONTROLLERS.includes(number));
  return { used, usual: usual.filter((choice) => !isUsed(choice)), others: controllers(otherNumbers).filter((choice) => !isUsed(choice)) };
}
