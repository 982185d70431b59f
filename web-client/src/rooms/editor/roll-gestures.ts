/** Handles pointer gestures that draw, select, move and resize notes in the piano roll. */
import { keyAtY, yOfKey } from '../../canvas/draw-notes';
import { setItemNotes } from '../../project/edit-items';
import { addNotes, moveNotes, removeNotes, resizeNotes, setVelocity, type NotesEdit } from '../../project/edit-notes';
import { snapTick } from '../../project/grid';
import type { MidiItem, Note } from '../../project/model';
import type { LiveKeys } from '../../engine/live-keys.svelte';
import type { Song } from '../../state/editing/song.svelte';
import type { RollState } from './roll-state.svelte';

/** Width of the zone at the end of a note in which a drag resizes the note, in pixels. */
const EDGE_PX = 6;
/** Movement of the pointer after which a press becomes a drag, in pixels. */
const DRAG_START_PX = 3;

/** A position of the pointer; with `addKey` (Ctrl or Command) a press adds to the selection. */
export type RollPoint = { x: number; y: number; shiftKey: boolean; addKey: boolean };
export type Marquee = { left: number; top: number; width: number; height: number };

type Drag =
  | {
      kind: 'move' | 'resize';
      start: RollPoint;
      /** The note under the pointer. */
      anchor: Note;
      /** The notes and the selection when the drag started. */
      base: NotesEdit;
      hasMoved: boolean;
      /** Whether the selected notes are removed if the pointer does not move. */
      shouldRemove: boolean;
      gesture: string | null;
    }
  | { kind: 'marquee'; start: RollPoint; previousSelection: ReadonlySet<number> };

export class RollGestures {
  readonly #song: Song;
  readonly #roll: RollState;
  readonly #keys: LiveKeys;
  readonly #stepTicks: () => number;
  #drag: Drag | null = null;
  #soundingKey: number | null = null;
  /** Number of drawn notes, for gesture ids. Drawing a note and resizing it is one undo step. */
  #drawnCount = 0;

  constructor(song: Song, roll: RollState, liveKeys: LiveKeys, stepTicks: () => number) {
    this.#song = song;
    this.#roll = roll;
    this.#keys = liveKeys;
    this.#stepTicks = stepTicks;
  }

  /** The notes and the selection that the drag would result in; null without a drag. */
  preview: NotesEdit | null = null;
  marquee: Marquee | null = null;

  noteAt(item: MidiItem, x: number, y: number): { index: number; note: Note; isEdge: boolean } | null {
    const { view, keyView } = this.#roll;
    for (let index = item.notes.length - 1; index >= 0; index--) {
      const note = item.notes[index] as Note;
      const top = yOfKey(keyView, note.pitch);
      if (y < top || y >= top + keyView.rowPx) continue;
      const left = view.x(item.start_tick + note.tick);
      const width = Math.max(5, note.length_ticks / view.ticksPerPx);
      if (x < left || x > left + width) continue;
      return { index, note, isEdge: width > 2 * EDGE_PX && x > left + width - EDGE_PX };
    }
    return null;
  }

  cursorAt(item: MidiItem, point: RollPoint): string {
    const hit = this.noteAt(item, point.x, point.y);
    if (hit) return hit.isEdge ? 'ew-resize' : 'grab';
    return this.#roll.tool === 'draw' ? 'crosshair' : 'default';
  }

  press(item: MidiItem, point: RollPoint): void {
    const song = this.#song;
    song.selection.focus = 'notes';
    const hit = this.noteAt(item, point.x, point.y);
    if (!hit) {
      if (this.#roll.tool === 'draw') this.#draw(item, point);
      else this.#drag = { kind: 'marquee', start: point, previousSelection: point.addKey ? song.selection.notes : new Set() };
      return;
    }
    let selection = new Set(song.selection.notes);
    if (point.addKey) {
      if (!selection.delete(hit.index)) selection.add(hit.index);
    } else if (!selection.has(hit.index)) selection = new Set([hit.index]);
    song.selection.notes = selection;
    this.#roll.velocity = hit.note.velocity;
    this.#roll.lengthTicks = hit.note.length_ticks;
    this.#playNote(hit.note.pitch, hit.note.velocity);
    this.#drag = {
      kind: hit.isEdge ? 'resize' : 'move',
      start: point,
      anchor: hit.note,
      base: { notes: item.notes, selection },
      hasMoved: false,
      shouldRemove: this.#roll.tool === 'draw' && !hit.isEdge,
      gesture: null,
    };
  }

  move(item: MidiItem, point: RollPoint): void {
    const drag = this.#drag;
    if (!drag) return;
    if (drag.kind === 'marquee') {
      this.#select(item, drag, point);
      return;
    }
    if (!drag.hasMoved && Math.hypot(point.x - drag.start.x, point.y - drag.start.y) < DRAG_START_PX) return;
    drag.hasMoved = true;
    const { notes, selection } = drag.base;
    const byTicks = (point.x - drag.start.x) * this.#roll.view.ticksPerPx;
    if (drag.kind === 'resize') {
      const endTick = item.start_tick + drag.anchor.tick + drag.anchor.length_ticks;
      const snappedTicks = this.#snap(endTick + byTicks, point) - endTick;
      this.preview = resizeNotes(notes, selection, snappedTicks, point.shiftKey ? 1 : Math.max(1, this.#stepTicks()));
      return;
    }
    const startTick = item.start_tick + drag.anchor.tick;
    const snappedTicks = this.#snap(startTick + byTicks, point) - startTick;
    const byKeys = keyAtY(this.#roll.keyView, point.y) - keyAtY(this.#roll.keyView, drag.start.y);
    this.preview = moveNotes(notes, selection, snappedTicks, byKeys);
    this.#playNote(Math.min(127, Math.max(0, drag.anchor.pitch + byKeys)), drag.anchor.velocity);
  }

  release(item: MidiItem): void {
    const drag = this.#drag;
    const { preview } = this;
    this.#drag = null;
    this.preview = null;
    this.marquee = null;
    this.#stopSounding();
    if (!drag || drag.kind === 'marquee') return;
    if (drag.hasMoved && preview) {
      const label = drag.kind === 'resize' ? 'Resize notes' : 'Move notes';
      if (!this.#commit(item, label, preview, drag.gesture)) return;
      const index = preview.notes.length > 0 ? [...preview.selection].at(-1) : undefined;
      const lastNote = index === undefined ? undefined : preview.notes[index];
      if (lastNote) this.#roll.lengthTicks = lastNote.length_ticks;
    } else if (drag.shouldRemove) {
      this.#commit(item, 'Delete notes', removeNotes(drag.base.notes, drag.base.selection));
    }
  }

  /** Removes the note under the pointer, or draws a note if there is none. */
  toggle(item: MidiItem, point: RollPoint): void {
    const hit = this.noteAt(item, point.x, point.y);
    if (hit) this.#commit(item, 'Delete note', removeNotes(item.notes, new Set([hit.index])));
    else {
      this.#draw(item, point);
      this.release(item);
    }
  }

  /**
   * Sets the velocity of the notes that are nearest to `x` in the velocity lane, within 5 pixels.
   * If some of these notes are selected, sets only theirs. Edits with the same `gesture` are one
   * undo step.
   */
  setVelocityAt(item: MidiItem, x: number, velocity: number, gesture: string): void {
    const { view } = this.#roll;
    const nearNotes = item.notes.flatMap((note, index) => {
      const distance = Math.abs(view.x(item.start_tick + note.tick) + 1 - x);
      return distance <= 5 ? [{ index, distance }] : [];
    });
    const leastDistance = Math.min(...nearNotes.map((entry) => entry.distance));
    const nearest = nearNotes.filter((entry) => entry.distance === leastDistance).map((entry) => entry.index);
    if (nearest.length === 0) return;
    const selectedIndices = nearest.filter((index) => this.#song.selection.notes.has(index));
    const targets = new Set(selectedIndices.length > 0 ? selectedIndices : nearest);
    const { notes } = setVelocity(item.notes, targets, velocity);
    this.#song.selection.focus = 'notes';
    const isDone = this.#song.edit('Change velocity', (project) => setItemNotes(project, item.id, notes), gesture);
    if (isDone) this.#roll.velocity = velocity;
  }

  #draw(item: MidiItem, point: RollPoint): void {
    const stepTicks = this.#stepTicks() || 240;
    const tick = point.shiftKey
      ? Math.round(this.#roll.view.tick(point.x))
      : snapTick(this.#song.project.time_signatures, this.#roll.view.tick(point.x), stepTicks, 'down');
    if (tick < item.start_tick) return;
    const note: Note = {
      tick: tick - item.start_tick,
      length_ticks: this.#roll.lengthTicks || stepTicks,
      pitch: keyAtY(this.#roll.keyView, point.y),
      velocity: this.#roll.velocity,
    };
    const edit = addNotes(item.notes, [note]);
    this.#drawnCount += 1;
    const gesture = `draw ${this.#drawnCount}`;
    if (!this.#commit(item, 'Draw note', edit, gesture)) return;
    this.#playNote(note.pitch, note.velocity);
    this.#drag = { kind: 'resize', start: point, anchor: note, base: edit, hasMoved: false, shouldRemove: false, gesture };
  }

  #select(item: MidiItem, drag: { start: RollPoint; previousSelection: ReadonlySet<number> }, point: RollPoint): void {
    const box = {
      left: Math.min(drag.start.x, point.x),
      top: Math.min(drag.start.y, point.y),
      width: Math.abs(point.x - drag.start.x),
      height: Math.abs(point.y - drag.start.y),
    };
    this.marquee = box;
    const { view, keyView } = this.#roll;
    const selection = new Set(drag.previousSelection);
    item.notes.forEach((note, index) => {
      const left = view.x(item.start_tick + note.tick);
      const right = left + note.length_ticks / view.ticksPerPx;
      const top = yOfKey(keyView, note.pitch);
      const isInside =
        right >= box.left && left <= box.left + box.width && top + keyView.rowPx >= box.top && top <= box.top + box.height;
      if (isInside) selection.add(index);
    });
    this.#song.selection.notes = selection;
  }

  #snap(tick: number, point: RollPoint): number {
    if (point.shiftKey) return Math.max(0, Math.round(tick));
    return snapTick(this.#song.project.time_signatures, tick, this.#stepTicks());
  }

  /** Changes the notes and the selection. Returns false if the edit is refused. */
  #commit(item: MidiItem, label: string, edit: NotesEdit, gesture: string | null = null): boolean {
    const isDone = this.#song.edit(label, (project) => setItemNotes(project, item.id, edit.notes), gesture);
    if (isDone) this.#song.selection.notes = edit.selection;
    return isDone;
  }

  #playNote(key: number, velocity: number): void {
    if (this.#soundingKey === key) return;
    this.#stopSounding();
    this.#soundingKey = key;
    this.#keys.press(key, velocity);
  }

  #stopSounding(): void {
    if (this.#soundingKey !== null) this.#keys.release(this.#soundingKey);
    this.#soundingKey = null;
  }
}
