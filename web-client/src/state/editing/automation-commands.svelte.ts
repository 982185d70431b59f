/** The selected automation point, and the commands of keys and buttons that edit automation. */
import type { Player } from '../../engine/player.svelte';
import { addLane, insertPoint, lanesOf, movePoint, removeLane, setCurve, setPoints, valueAtTick, type Curve } from '../../project/automation';
import { targetsOf, type AutomationTarget } from '../../project/automation-targets';
import { inSentence } from '../../project/effect-kinds';
import { snapTick } from '../../project/grid';
import type { AutomationPoint } from '../../project/model';
import type { EffectCatalog } from '../library/effect-catalog.svelte';
import type { PluginParameters } from '../library/plugin-parameters.svelte';
import type { Preferences } from '../view/preferences.svelte';
import type { Song } from './song.svelte';

/** Identifies a point of an automation lane; `channelId` is the id of a track or `MASTER_ID`. */
export type PointRef = { channelId: string; target: string; index: number };

/** The kinds of effects and the parameters of plugins, which can be automated. */
type TargetCatalogs = { effects: EffectCatalog; parameters: PluginParameters };

export class AutomationCommands {
  readonly #song: Song;
  readonly #player: Player;
  readonly #preferences: Preferences;
  readonly #catalogs: TargetCatalogs;
  /** The point that was selected last, which edits may have removed since. */
  #selected = $state.raw<PointRef | null>(null);
  /** The automation targets of the selected track or the master. */
  readonly targets: AutomationTarget[] = $derived.by(() => {
    const { project, selection } = this.#song;
    const { channelId } = selection;
    const { effects, parameters } = this.#catalogs;
    return channelId === null ? [] : targetsOf(project, channelId, (effect) => effects.kindOf(effect), (engine) => parameters.listOf(engine));
  });

  constructor(song: Song, player: Player, preferences: Preferences, catalogs: TargetCatalogs) {
    this.#song = song;
    this.#player = player;
    this.#preferences = preferences;
    this.#catalogs = catalogs;
  }

  /** Returns the index of the selected point if it is in the lane; null if it is not. */
  selectedIn(channelId: string, target: string): number | null {
    const selectedPoint = this.#selected;
    if (selectedPoint?.channelId !== channelId || selectedPoint.target !== target) return null;
    return selectedPoint.index < this.pointsOf(channelId, target).length ? selectedPoint.index : null;
  }

  pointsOf(channelId: string, target: string): readonly AutomationPoint[] {
    return lanesOf(this.#song.project, channelId).find((lane) => lane.target === target)?.points ?? [];
  }

  select(point: PointRef | null): void {
    this.#selected = point;
    this.#song.selection.focus = 'automation';
  }

  addLane(channelId: string, automationTarget: AutomationTarget): void {
    const { target, current } = automationTarget;
    const isDone = this.#song.edit(`Automate ${inSentence(automationTarget)}`, (project) => addLane(project, channelId, target, current));
    if (isDone) this.select({ channelId, target, index: 0 });
  }

  removeLane(channelId: string, target: string): void {
    if (this.#song.edit('Remove automation', (project) => removeLane(project, channelId, target))) this.#selected = null;
  }

  /** Replaces the points of a lane. Returns false if the edit is refused. */
  setPoints(label: string, channelId: string, target: string, points: AutomationPoint[], gesture: string | null = null): boolean {
    return this.#song.edit(label, (project) => setPoints(project, channelId, target, points), gesture);
  }

  /** Adds a point at the playhead. Its value is that of the curve at the playhead. */
  addAtPlayhead(channelId: string, { target, isStepped, current }: AutomationTarget): void {
    const points = this.pointsOf(channelId, target);
    const tick = Math.round(this.#player.positionTick());
    const value = valueAtTick(points, this.#song.project.tempo_map, tick) ?? current;
    const addedPoint = insertPoint(points, { tick, value, curve: isStepped ? 'step' : 'linear' });
    if (this.setPoints('Add point', channelId, target, addedPoint.points)) this.select({ channelId, target, index: addedPoint.index });
  }

  setValue({ channelId, target, index }: PointRef, value: number, gesture: string | null = null): void {
    const points = this.pointsOf(channelId, target);
    const point = points[index];
    if (!point) return;
    this.setPoints('Change point', channelId, target, movePoint(points, index, point.tick, value), gesture);
  }

  setCurve({ channelId, target, index }: PointRef, curve: Curve, gesture: string | null = null): void {
    this.setPoints('Bend curve', channelId, target, setCurve(this.pointsOf(channelId, target), index, curve), gesture);
  }

  removeSelected(): void {
    const selectedPoint = this.#selected;
    if (!selectedPoint) return;
    const points = this.pointsOf(selectedPoint.channelId, selectedPoint.target);
    if (!points[selectedPoint.index]) return;
    const isDone = this.setPoints('Delete point', selectedPoint.channelId, selectedPoint.target, points.toSpliced(selectedPoint.index, 1));
    if (isDone) this.#selected = points.length > 1 ? { ...selectedPoint, index: Math.max(0, selectedPoint.index - 1) } : null;
  }

  /** Moves the selected point by grid steps in time and by value steps of its target. */
  nudgeSelected(bySteps: number, byValue: number): void {
    const selectedPoint = this.#selected;
    const target = this.targets.find((candidate) => candidate.target === selectedPoint?.target);
    if (!selectedPoint || !target) return;
    const points = this.pointsOf(selectedPoint.channelId, selectedPoint.target);
    const point = points[selectedPoint.index];
    if (!point) return;
    const { stepTicks } = this.#preferences;
    const signatures = this.#song.project.time_signatures;
    const tick = bySteps === 0 ? point.tick : snapTick(signatures, point.tick + bySteps * stepTicks, stepTicks);
    const value = Math.min(target.max, Math.max(target.min, point.value + byValue * target.stepAt(point.value)));
    const roundedValue = Number(value.toPrecision(9));
    this.setPoints('Move point', selectedPoint.channelId, selectedPoint.target, movePoint(points, selectedPoint.index, tick, roundedValue));
  }

  /**
   * Selects the point of a lane that is before (`offset` -1) or after (`offset` 1) the selected
   * point.
   */
  selectNext(channelId: string, target: string, offset: number): void {
    const lastIndex = this.pointsOf(channelId, target).length - 1;
    const selectedIndex = this.selectedIn(channelId, target) ?? -offset;
    this.select({ channelId, target, index: Math.min(lastIndex, Math.max(0, selectedIndex + offset)) });
  }
}
