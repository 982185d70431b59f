/** Handles pointer gestures that draw, select, move and resize notes in the piano roll. */
import { keyAtY, yOfKey } from '../../canvas/key-view';
import { setItemNotes } from '../../project/edit-items';
import { addNotes, moveNotes, removeNotes, resizeNotes, type NotesEdit } from '../../project/edit-notes';
import { snapTick } from '../../project/grid';
import type { MidiItem, Note } from '../../project/model';
import { indexOfNotes } from '../../project/note-index';
import type { NoteCommands } from '../../state/editing/note-commands.svelte';
import type { Song } from '../../state/editing/song.svelte';
import type { NotePreview } from '../../state/playback/note-preview';
import type { RollState } from './roll-state.svelte';

/** Width of the zone at the end of a note in which a drag resizes the note, in pixels. */
const EDGE_PX = 6;
/** Minimum width of a note for the pointer, in pixels. */
const NOTE_MIN_PX = 5;
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
  | {
      /** Draws a note from the press to the pointer. */
      kind: 'draw';
      start: RollPoint;
      note: Note;
      base: NotesEdit;
      hasMoved: boolean;
      /** The pointer at its last movement; null before the first one. */
      point: RollPoint | null;
      gesture: string;
    }
  | { kind: 'marquee'; start: RollPoint; previousSelection: ReadonlySet<number> };

/** Number of notes drawn so far, by which the undo steps of drawn notes differ. */
let drawnCount = 0;

export class RollGestures {
  readonly #song: Song;
  readonly #roll: RollState;
  readonly #commands: NoteCommands;
  readonly #sound: NotePreview;
  readonly #stepTicks: () => number;
  #drag: Drag | null = null;
  /** Number of drawn notes, for gesture ids. Drawing a note and resizing it is one undo step. */

  constructor(song: Song, commands: NoteCommands, roll: RollState, sound: NotePreview, stepTicks: () => number) {
    this.#song = song;
    this.#commands = commands;
    this.#roll = roll;
    this.#sound = sound;
    this.#stepTicks = stepTicks;
  }

  /** The notes and the selection that the drag would result in; null without a drag. */
  preview: NotesEdit | null = null;
  marquee: Marquee | null = null;

  noteAt(item: MidiItem, x: number, y: number): { index: number; note: Note; isEdge: boolean } | null {
    const { view, keyView } = this.#roll;
    // A short note is wider on the screen than its length, so the search begins a little earlier.
    const tick = view.tick(x) - item.start_tick;
    const candidates = indexOfNotes(item.notes).between(tick - NOTE_MIN_PX * view.ticksPerPx, tick);
    for (const index of candidates.reverse()) {
      const note = item.notes[index] as Note;
      const top = yOfKey(keyView, note.pitch);
      if (y < top || y >= top + keyView.rowPx) continue;
      const left = view.x(item.start_tick + note.tick);
      const width = Math.max(NOTE_MIN_PX, note.length_ticks / view.ticksPerPx);
      if (x < left || x > left + width) continue;
      return { index, note, isEdge: width > 2 * EDGE_PX && x > left + width - EDGE_PX };
    }
    return null;
  }

  cursorAt(item: MidiItem, point: RollPoint): string {
    const hit = this.noteAt(item, point.x, point.y);
    if (hit) return hit.isEdge ? 'ew-resize' : 'grab';
    return this.#commands.tool === 'draw' ? 'crosshair' : 'default';
  }

  press(item: MidiItem, point: RollPoint): void {
    const song = this.#song;
    song.selection.focus = 'notes';
    const hit = this.noteAt(item, point.x, point.y);
    this.#moveCursor(item, hit ? item.start_tick + hit.note.tick : this.#gridTickAt(point), hit?.note.pitch ?? keyAtY(this.#roll.keyView, point.y));
    if (!hit) {
      if (this.#commands.tool === 'draw') this.#draw(item, point);
      else this.#drag = { kind: 'marquee', start: point, previousSelection: point.addKey ? song.selection.notes : new Set() };
      return;
    }
    let selection = new Set(song.selection.notes);
    if (point.addKey) {
      if (!selection.delete(hit.index)) selection.add(hit.index);
    } else if (!selection.has(hit.index)) selection = new Set([hit.index]);
    song.selection.notes = selection;
    this.#commands.velocity = hit.note.velocity;
    this.#roll.lengthTicks = hit.note.length_ticks;
    this.#sound.play(hit.note.pitch, hit.note.velocity);
    this.#drag = {
      kind: hit.isEdge ? 'resize' : 'move',
      start: point,
      anchor: hit.note,
      base: { notes: item.notes, selection },
      hasMoved: false,
      shouldRemove: this.#commands.tool === 'draw' && !hit.isEdge,
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
    if (drag.kind === 'draw') {
      drag.point = point;
      this.preview = this.#drawnTo(item, drag, point);
      return;
    }
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
    this.#sound.play(Math.min(127, Math.max(0, drag.anchor.pitch + byKeys)), drag.anchor.velocity);
  }

  release(item: MidiItem): void {
    const drag = this.#drag;
    const { preview } = this;
    this.#drag = null;
    this.preview = null;
    this.marquee = null;
    this.#sound.stop();
    if (!drag || drag.kind === 'marquee') return;
    // The notes of the last movement may lack those that were recorded since.
    if (drag.kind === 'draw' && drag.hasMoved && preview && drag.point) {
      const drawn = this.#drawnTo(item, drag, drag.point);
      if (drawn) this.#commitDragged(item, 'Draw note', drawn, drag.gesture);
      return;
    }
    // Notes that were recorded during the drag would be lost.
    if (drag.kind !== 'draw' && drag.base.notes !== item.notes) return;
    if (drag.kind !== 'draw' && drag.hasMoved && preview) {
      this.#commitDragged(item, drag.kind === 'resize' ? 'Resize notes' : 'Move notes', preview, drag.gesture);
    } else if (drag.kind !== 'draw' && drag.shouldRemove) {
      this.#commit(item, 'Delete notes', removeNotes(drag.base.notes, drag.base.selection));
    }
  }

  /** Changes the notes, and remembers the length of the last one for notes that are drawn later. */
  #commitDragged(item: MidiItem, label: string, edit: NotesEdit, gesture: string | null): void {
    if (!this.#commit(item, label, edit, gesture)) return;
    const index = edit.notes.length > 0 ? [...edit.selection].at(-1) : undefined;
    const lastNote = index === undefined ? undefined : edit.notes[index];
    if (lastNote) this.#roll.lengthTicks = lastNote.length_ticks;
  }

  /** Selects the note under the pointer for a menu, unless it is selected. */
  selectForMenu(item: MidiItem, point: RollPoint): void {
    const hit = this.noteAt(item, point.x, point.y);
    this.#moveCursor(item, hit ? item.start_tick + hit.note.tick : this.#gridTickAt(point), hit?.note.pitch ?? keyAtY(this.#roll.keyView, point.y));
    if (hit && !this.#song.selection.notes.has(hit.index)) this.#song.selection.notes = new Set([hit.index]);
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

  #draw(item: MidiItem, point: RollPoint): void {
    const tick = this.#gridTickAt(point);
    if (tick < item.start_tick) return;
    const note: Note = {
      tick: tick - item.start_tick,
      length_ticks: this.#roll.lengthTicks || this.#gridStepTicks,
      pitch: keyAtY(this.#roll.keyView, point.y),
      velocity: this.#commands.velocity,
    };
    const edit = addNotes(item.notes, [note]);
    drawnCount += 1;
    const gesture = `draw ${drawnCount}`;
    if (!this.#commit(item, 'Draw note', edit, gesture)) return;
    this.#sound.play(note.pitch, note.velocity);
    this.#drag = { kind: 'draw', start: point, note, base: edit, hasMoved: false, point: null, gesture };
  }

  /** Returns the notes with the drawn one from its start to the grid step after the pointer. */
  #drawnTo(item: MidiItem, { note, base }: Extract<Drag, { kind: 'draw' }>, point: RollPoint): NotesEdit | null {
    // Notes may have been recorded since the press, so the drawn note need not be the last one.
    const drawn = base.notes.at(-1);
    const index = drawn ? item.notes.lastIndexOf(drawn) : -1;
    if (index < 0) return null;
    const startTick = item.start_tick + note.tick;
    const pointerTick = this.#roll.view.tick(point.x);
    const endTick = point.shiftKey ? Math.round(pointerTick) : this.#gridTickAt(point) + this.#gridStepTicks;
    const lengthTicks = Math.max(point.shiftKey ? 1 : this.#gridStepTicks, endTick - startTick);
    return { notes: item.notes.with(index, { ...note, length_ticks: lengthTicks }), selection: new Set([index]) };
  }

  get #gridStepTicks(): number {
    return this.#stepTicks() || 240;
  }

  /** Returns the grid step before the pointer, or with Shift the tick under it. */
  #gridTickAt(point: RollPoint): number {
    const tick = this.#roll.view.tick(point.x);
    return point.shiftKey ? Math.round(tick) : snapTick(this.#song.project.time_signatures, tick, this.#gridStepTicks, 'down');
  }

  #moveCursor(item: MidiItem, tick: number, key: number): void {
    this.#commands.cursor = { tick: Math.max(item.start_tick, tick), key };
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
    const selection = new Set<number>(drag.previousSelection);
    const [fromTick, toTick] = [box.left, box.left + box.width].map((x) => view.tick(x) - item.start_tick) as [number, number];
    for (const index of indexOfNotes(item.notes).between(fromTick, toTick)) {
      const top = yOfKey(keyView, (item.notes[index] as Note).pitch);
      if (top + keyView.rowPx >= box.top && top <= box.top + box.height) selection.add(index);
    }
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
}
