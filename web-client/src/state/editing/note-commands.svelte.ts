/** Commands of the piano roll: they edit the selected notes of the clip, and move its cursor. */
import { setItemNotes } from '../../project/edit-items';
import { addNotes, changeVelocity, moveNotes, removeNotes, resizeNotes, type NotesEdit } from '../../project/edit-notes';
import { copyNotes, pasteNotes, type CopiedNotes } from '../../project/note-clipboard';
import { notesInOrder } from '../../project/note-index';
import { humanizeNotes, legatoNotes, quantizeNotes } from '../../project/shape-notes';
import { snapTick } from '../../project/grid';
import { TICKS_PER_QUARTER, type MidiItem, type Note } from '../../project/model';
import type { NotePreview } from '../playback/note-preview';
import type { Preferences } from '../view/preferences.svelte';
import type { Song } from './song.svelte';

export type RollTool = 'select' | 'draw';

/** Greatest changes of humanized notes: a 64th of a quarter note, and 8 of 127 MIDI velocities. */
const HUMANIZE = { timingTicks: TICKS_PER_QUARTER / 64, velocity: 8 / 127 };

export class NoteCommands {
  tool = $state<RollTool>('select');
  /** How far quantized notes move towards the grid, in per cent. */
  strengthPercent = $state(100);
  /** Position of every second grid step within its pair, in per cent; 50 is even. */
  swingPercent = $state(50);
  /** The position at which notes are pasted and entered: a tick of the song and a MIDI key. */
  cursor = $state.raw<{ tick: number; key: number }>({ tick: 0, key: 60 });
  /** Velocity of new notes, 0..1. It is that of the note that was pressed or edited last. */
  velocity = $state(0.8);
  #copied = $state.raw<CopiedNotes | null>(null);
  readonly #song: Song;
  readonly #preview: NotePreview;
  readonly #preferences: Preferences;
  #humanizedCount = 0;

  constructor(song: Song, preview: NotePreview, preferences: Preferences) {
    this.#song = song;
    this.#preview = preview;
    this.#preferences = preferences;
  }

  get canPaste(): boolean {
    return this.#copied !== null;
  }

  /** Quantizes the selected notes, or all notes of the clip. */
  quantize(): void {
    const options = { stepTicks: this.#preferences.snapTicks, strength: this.strengthPercent / 100, swing: this.swingPercent / 100 };
    this.#shape('Quantize', (notes, selection, item) => quantizeNotes(notes, selection, item.start_tick, options));
  }

  /** Lengthens or shortens the selected notes, or all notes, up to the notes that follow. */
  legato(): void {
    this.#shape('Legato', legatoNotes);
  }

  /** Changes starts and velocities of the selected notes, or of all, by small random amounts. */
  humanize(): void {
    this.#humanizedCount += 1;
    const seed = this.#humanizedCount;
    this.#shape('Humanize', (notes, selection) => humanizeNotes(notes, selection, { ...HUMANIZE, seed }));
  }

  /** Moves the selected notes, or all notes, by semitones. */
  transpose(byKeys: number): void {
    this.#shape('Transpose notes', (notes, selection) => {
      const movedNotes = moveNotes(notes, selection.size > 0 ? selection : new Set(notes.keys()), 0, byKeys);
      return { notes: movedNotes.notes, selection: new Set(selection) };
    });
  }

  /** Changes the lengths of the selected notes by grid steps. */
  resize(bySteps: number): void {
    const { stepTicks } = this.#preferences;
    this.#editSelected('Resize notes', (notes, selection) => resizeNotes(notes, selection, bySteps * stepTicks, stepTicks));
  }

  /** Changes the velocities of the selected notes; `byVelocity` is -1..1. */
  changeVelocity(byVelocity: number): void {
    this.#editSelected('Change velocity', (notes, selection) => changeVelocity(notes, selection, byVelocity));
  }

  /** Copies the selected notes, and moves the cursor behind them, where they can be pasted. */
  copy(): boolean {
    const clip = this.#song.selection.midiClip;
    const { stepTicks } = this.#preferences;
    const copiedNotes = clip && copyNotes(clip.item.notes, this.#song.selection.notes, clip.item.start_tick, stepTicks);
    if (!clip || !copiedNotes) return false;
    this.#copied = copiedNotes;
    const firstTick = [...this.#song.selection.notes].reduce((tick, index) => Math.min(tick, clip.item.notes[index]?.tick ?? tick), Infinity);
    this.cursor = { ...this.cursor, tick: clip.item.start_tick + firstTick - copiedNotes.offsetTicks + copiedNotes.lengthTicks };
    return true;
  }

  /** Copies the selected notes and deletes them. The cursor stays where they were. */
  cut(): void {
    if (!this.copy() || !this.#copied) return;
    const { lengthTicks } = this.#copied;
    this.#editSelected('Cut notes', removeNotes);
    this.cursor = { ...this.cursor, tick: this.cursor.tick - lengthTicks };
  }

  /** Pastes the copied notes at the cursor, and moves the cursor behind them. */
  paste(): void {
    const copiedNotes = this.#copied;
    const clip = this.#song.selection.midiClip;
    if (!copiedNotes || !clip) return;
    const atTick = this.#cursorTickIn(clip.item);
    this.#song.selection.focus = 'notes';
    if (!this.#commit('Paste notes', clip.item, pasteNotes(clip.item.notes, copiedNotes, atTick - clip.item.start_tick))) return;
    this.cursor = { ...this.cursor, tick: atTick + copiedNotes.lengthTicks };
  }

  /** Selects no note. */
  deselect(): void {
    this.#song.selection.notes = new Set();
  }

  /**
   * Selects the next note of the clip in the order of time, or the previous one if `direction` is
   * -1, and plays it. With `extends`, the notes that are selected stay selected.
   */
  selectNext(direction: 1 | -1, extendsSelection: boolean): void {
    const { selection } = this.#song;
    const clip = selection.midiClip;
    if (!clip) return;
    const { notes, start_tick: startTick } = clip.item;
    const order = notesInOrder(notes);
    const selectedPlaces = order.flatMap((index, place) => (selection.notes.has(index) ? [place] : []));
    const currentPlace = direction === 1 ? selectedPlaces.at(-1) : selectedPlaces[0];
    const next = currentPlace === undefined ? this.#placeNearCursor(notes, order, startTick, direction) : currentPlace + direction;
    const index = order[next];
    const note = index === undefined ? undefined : notes[index];
    if (index === undefined || !note) return;
    selection.focus = 'notes';
    selection.notes = new Set(extendsSelection ? [...selection.notes, index] : [index]);
    this.cursor = { tick: startTick + note.tick, key: note.pitch };
    this.velocity = note.velocity;
    this.#preview.playBriefly(note.pitch, note.velocity);
  }

  /** Moves the cursor by grid steps and by keys. Plays the key that it reaches. */
  moveCursor(bySteps: number, byKeys: number): void {
    const clip = this.#song.selection.midiClip;
    if (!clip) return;
    const { stepTicks } = this.#preferences;
    const gridTick = snapTick(this.#song.project.time_signatures, this.#cursorTickIn(clip.item), stepTicks, 'down');
    this.cursor = {
      tick: Math.max(clip.item.start_tick, gridTick + bySteps * stepTicks),
      key: Math.min(127, Math.max(0, this.cursor.key + byKeys)),
    };
    if (byKeys !== 0) this.#preview.playBriefly(this.cursor.key, this.velocity);
  }

  /** Draws a note of one grid step at the cursor, or deletes the notes that the cursor is on. */
  toggleAtCursor(): void {
    const clip = this.#song.selection.midiClip;
    if (!clip) return;
    const { item } = clip;
    const tick = this.#cursorTickIn(item) - item.start_tick;
    const { key } = this.cursor;
    const isHit = (note: Note): boolean => note.pitch === key && note.tick <= tick && note.tick + note.length_ticks > tick;
    const hits = new Set(item.notes.flatMap((note, index) => (isHit(note) ? [index] : [])));
    if (hits.size > 0) {
      this.#commit('Delete notes', item, removeNotes(item.notes, hits));
      return;
    }
    const note: Note = { tick, length_ticks: this.#preferences.stepTicks, pitch: key, velocity: this.velocity };
    const edit = addNotes(item.notes, [note]);
    if (!this.#commit('Draw note', item, { notes: edit.notes, selection: new Set() })) return;
    this.#preview.playBriefly(key, this.velocity);
  }

  /** Adds notes of one grid step at the cursor, for step input. Returns false if it is refused. */
  enterAtCursor(keys: readonly { key: number; velocity: number }[], gesture: string): boolean {
    const clip = this.#song.selection.midiClip;
    if (!clip) return false;
    const { item } = clip;
    const tick = this.#cursorTickIn(item) - item.start_tick;
    const addedNotes = keys.map(({ key, velocity }): Note => ({ tick, length_ticks: this.#preferences.stepTicks, pitch: key, velocity }));
    const { notes } = addNotes(item.notes, addedNotes);
    this.#song.selection.focus = 'notes';
    return this.#commit('Enter notes', item, { notes, selection: new Set() }, gesture);
  }

  /** Moves the cursor back by a grid step, and deletes the notes that start there. */
  deleteStepBeforeCursor(): void {
    this.moveCursor(-1, 0);
    const clip = this.#song.selection.midiClip;
    if (!clip) return;
    const { item } = clip;
    const tick = this.cursor.tick - item.start_tick;
    const step = new Set(item.notes.flatMap((note, index) => (note.tick === tick ? [index] : [])));
    if (step.size > 0) this.#commit('Delete notes', item, removeNotes(item.notes, step));
  }

  /** Returns the cursor's tick, or the start of the item if the cursor is outside the item. */
  #cursorTickIn(item: MidiItem): number {
    const { tick } = this.cursor;
    return tick < item.start_tick || tick > item.start_tick + item.length_ticks ? item.start_tick : tick;
  }

  /** Returns the place in `order` of the first note after the cursor, or of the last before it. */
  #placeNearCursor(notes: readonly Note[], order: readonly number[], startTick: number, direction: 1 | -1): number {
    const cursorTick = this.cursor.tick - startTick;
    const isReached = (index: number): boolean => (notes[index]?.tick ?? 0) >= cursorTick;
    if (direction === -1) return order.findLastIndex((index) => (notes[index]?.tick ?? 0) <= cursorTick);
    const place = order.findIndex(isReached);
    return place === -1 ? 0 : place;
  }

  /** Changes the selected notes, or all notes. An edit that changes nothing is no undo step. */
  #shape(label: string, change: (notes: readonly Note[], selection: ReadonlySet<number>, item: MidiItem) => NotesEdit): void {
    const { selection } = this.#song;
    const clip = selection.midiClip;
    if (!clip) return;
    const edit = change(clip.item.notes, selection.notes, clip.item);
    if (edit.notes.some((note, index) => note !== clip.item.notes[index])) this.#commit(label, clip.item, edit);
  }

  #editSelected(label: string, change: (notes: readonly Note[], selection: ReadonlySet<number>) => NotesEdit): void {
    const { selection } = this.#song;
    if (selection.midiClip && selection.notes.size > 0) this.#commit(label, selection.midiClip.item, change(selection.midiClip.item.notes, selection.notes));
  }

  #commit(label: string, item: MidiItem, edit: NotesEdit, gesture: string | null = null): boolean {
    const isDone = this.#song.edit(label, (project) => setItemNotes(project, item.id, edit.notes), gesture);
    if (isDone) this.#song.selection.notes = edit.selection;
    return isDone;
  }
}
