/** Handles pointer gestures that set velocities in the lane below the piano roll. */
import { velocityAtY, velocityBars } from '../../canvas/draw-velocities';
import type { TimeView } from '../../canvas/time-view.svelte';
import { setItemNotes } from '../../project/edit-items';
import type { MidiItem, Note } from '../../project/model';
import type { NoteCommands } from '../../state/editing/note-commands.svelte';
import type { Song } from '../../state/editing/song.svelte';

/** Maximum distance of the pointer from the middle of a note's bar, in pixels. */
const REACH_PX = 5;
/** Distance from a bar's left edge to its middle, in pixels. */
const MIDDLE_PX = 1.5;

export type LanePoint = { x: number; y: number; heightPx: number };

export class VelocityGestures {
  readonly #song: Song;
  readonly #commands: NoteCommands;
  readonly #view: TimeView;
  #last: LanePoint | null = null;
  #gestureCount = 0;
  /** The note that was taken by the press; it keeps its bar even if the pointer leaves the bar. */
  #takenIndex: number | null = null;

  constructor(song: Song, commands: NoteCommands, view: TimeView) {
    this.#song = song;
    this.#commands = commands;
    this.#view = view;
  }

  press(item: MidiItem, point: LanePoint): void {
    this.#gestureCount += 1;
    this.#last = point;
    this.#song.selection.focus = 'notes';
    this.#takenIndex = this.#barsBetween(item, point.x, point.x).nearest;
    this.#set(item, point, point);
  }

  /** Sets the velocities of the notes between the last position of the pointer and this one. */
  move(item: MidiItem, point: LanePoint): void {
    if (!this.#last) return;
    this.#set(item, this.#last, point);
    this.#last = point;
  }

  release(): void {
    if (this.#last) this.#song.endGesture();
    this.#last = null;
    this.#takenIndex = null;
  }

  /**
   * Returns the notes whose bars the pointer passed, and the note that is nearest to `endX`. If
   * notes are selected, only these are returned.
   */
  #barsBetween(item: MidiItem, startX: number, endX: number): { passed: { index: number; x: number }[]; nearest: number | null } {
    const { notes: selection } = this.#song.selection;
    const bars = velocityBars({ view: this.#view, item, notes: item.notes })
      .filter(({ index }) => selection.size === 0 || selection.has(index))
      .map(({ index, x }) => ({ index, x: x + MIDDLE_PX }));
    const distance = (bar: { x: number }): number => Math.abs(bar.x - endX);
    const nearest = bars.reduce<{ index: number; x: number } | null>((best, bar) => (best === null || distance(bar) < distance(best) ? bar : best), null);
    const [left, right] = [Math.min(startX, endX), Math.max(startX, endX)];
    return {
      passed: bars.filter(({ x }) => x > left && x < right),
      nearest: nearest !== null && distance(nearest) <= REACH_PX ? nearest.index : null,
    };
  }

  #set(item: MidiItem, start: LanePoint, end: LanePoint): void {
    const { passed, nearest } = this.#barsBetween(item, start.x, end.x);
    const velocities = new Map<number, number>();
    // Notes that start together are changed together only if the pointer moves over their bars.
    for (const { index, x } of passed) {
      const part = (x - start.x) / (end.x - start.x);
      velocities.set(index, velocityAtY(start.y + part * (end.y - start.y), end.heightPx));
    }
    const target = nearest ?? (passed.length === 0 ? this.#takenIndex : null);
    if (target !== null) velocities.set(target, velocityAtY(end.y, end.heightPx));
    if (velocities.size === 0) return;
    const notes = item.notes.map((note, index): Note => {
      const velocity = velocities.get(index);
      return velocity === undefined ? note : { ...note, velocity: Math.max(1 / 127, velocity) };
    });
    const isDone = this.#song.edit('Change velocity', (project) => setItemNotes(project, item.id, notes), `velocity ${this.#gestureCount}`);
    if (isDone) this.#commands.velocity = Math.max(1 / 127, velocityAtY(end.y, end.heightPx));
  }
}
