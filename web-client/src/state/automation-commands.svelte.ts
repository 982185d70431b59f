/** The selected point of automation, and what keys and buttons do to it. */
import type { App } from './app.svelte';
import { addLane, insertPoint, lanesOf, movePoint, removeLane, setCurve, setPoints, valueAtTick, type Curve } from '../project/automation';
import { targetsOf, type AutomationTarget } from '../project/automation-targets';
import { inSentence } from '../project/effect-kinds';
import { snapTick } from '../project/grid';
import type { AutomationPoint } from '../project/model';

export type PointPlace = { owner: string; target: string; index: number };

export class AutomationCommands {
  readonly #app: App;
  /** The point that is selected; it may be gone. */
  #selected = $state.raw<PointPlace | null>(null);
  /** What of the selected track, or the master, can be automated. */
  readonly targets: AutomationTarget[] = $derived.by(() => {
    const { song, effectTable } = this.#app;
    const owner = song.selectedOwner;
    return owner === null ? [] : targetsOf(song.project, owner, (effect) => effectTable.kindOf(effect));
  });

  constructor(app: App) {
    this.#app = app;
  }

  /** Place of the selected point in a lane; null when none of its points is selected. */
  selectedIn(owner: string, target: string): number | null {
    const selected = this.#selected;
    if (selected?.owner !== owner || selected.target !== target) return null;
    return selected.index < this.pointsOf(owner, target).length ? selected.index : null;
  }

  pointsOf(owner: string, target: string): readonly AutomationPoint[] {
    return lanesOf(this.#app.song.project, owner).find((lane) => lane.target === target)?.points ?? [];
  }

  select(place: PointPlace | null): void {
    this.#selected = place;
    this.#app.song.focus = 'automation';
  }

  addLane(owner: string, added: AutomationTarget): void {
    const { target, current } = added;
    this.#app.song.edit(`Automate ${inSentence(added)}`, (project) => addLane(project, owner, target, current));
    this.select({ owner, target, index: 0 });
  }

  removeLane(owner: string, target: string): void {
    this.#app.song.edit('Remove automation', (project) => removeLane(project, owner, target));
    this.#selected = null;
  }

  setPoints(label: string, owner: string, target: string, points: AutomationPoint[], gesture: string | null = null): void {
    this.#app.song.edit(label, (project) => setPoints(project, owner, target, points), gesture);
  }

  /** Adds a point where the playhead stands, on the line. */
  addAtPlayhead(owner: string, { target, stepped, current }: AutomationTarget): void {
    const points = this.pointsOf(owner, target);
    const tick = Math.round(this.#app.player.positionTick());
    const value = valueAtTick(points, this.#app.song.project.tempo_map, tick) ?? current;
    const added = insertPoint(points, { tick, value, curve: stepped ? 'step' : 'linear' });
    this.setPoints('Add point', owner, target, added.points);
    this.select({ owner, target, index: added.index });
  }

  setValue(place: PointPlace, value: number, gesture: string | null = null): void {
    const points = this.pointsOf(place.owner, place.target);
    const point = points[place.index];
    if (!point) return;
    this.setPoints('Change point', place.owner, place.target, movePoint(points, place.index, point.tick, value), gesture);
  }

  setCurve(place: PointPlace, curve: Curve, gesture: string | null = null): void {
    const points = this.pointsOf(place.owner, place.target);
    this.setPoints('Bend line', place.owner, place.target, setCurve(points, place.index, curve), gesture);
  }

  removeSelected(): void {
    const selected = this.#selected;
    if (!selected) return;
    const points = this.pointsOf(selected.owner, selected.target);
    if (!points[selected.index]) return;
    this.setPoints('Delete point', selected.owner, selected.target, points.toSpliced(selected.index, 1));
    this.#selected = points.length > 1 ? { ...selected, index: Math.max(0, selected.index - 1) } : null;
  }

  /** Moves the selected point by steps of the grid and by steps of its value. */
  nudgeSelected(bySteps: number, byValue: number): void {
    const selected = this.#selected;
    const target = this.targets.find((one) => one.target === selected?.target);
    if (!selected || !target) return;
    const points = this.pointsOf(selected.owner, selected.target);
    const point = points[selected.index];
    if (!point) return;
    const { song, preferences } = this.#app;
    const step = preferences.snapTicks || 240;
    const tick = bySteps === 0 ? point.tick : snapTick(song.project.time_signatures, point.tick + bySteps * step, step);
    const value = Math.min(target.max, Math.max(target.min, point.value + byValue * target.stepAt(point.value)));
    const rounded = Number(value.toPrecision(9));
    this.setPoints('Move point', selected.owner, selected.target, movePoint(points, selected.index, tick, rounded));
  }

  /** Selects the point before or after the selected one of a lane. */
  selectNext(owner: string, target: string, by: number): void {
    const last = this.pointsOf(owner, target).length - 1;
    const from = this.selectedIn(owner, target) ?? -by;
    this.select({ owner, target, index: Math.min(last, Math.max(0, from + by)) });
  }
}
