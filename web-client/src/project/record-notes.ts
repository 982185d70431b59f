/** Adds recorded notes and controllers to a track, and removes the notes that they replace. */
import { addMidiItem, setItemNotes, updateItem } from './edit-items';
import { barPositionAt, tickOfBarPosition, ticksPerBarAt } from './grid';
import type { Control, MidiItem, Note, Project } from './model';
import { updateTrack } from './update-track';

/** A recorded note; `tick` counts from the start of the song. */
export type RecordedNote = Note;

/** A recorded controller or bend; `tick` counts from the start of the song. */
export type RecordedControl = Extract<Control, { type: 'cc' | 'bend' }>;

/** The events that were recorded since the last change of the song. */
export type Recorded = { notes: readonly RecordedNote[]; controls: readonly RecordedControl[] };

/** A changed song with the notes that were added to it, and the clips that were made for them. */
export type RecordingEdit = { project: Project; added: Note[]; newItemIds: string[] };

/**
 * Adds what was recorded to the track. An event goes into the clip at its position; else into the
 * last clip of this recording (`recordingItemIds`) that starts before it, which becomes longer;
 * else into a new clip that starts with the bar.
 */
export function addRecorded(
  project: Project,
  trackId: string,
  { notes, controls }: Recorded,
  recordingItemIds: ReadonlySet<string>,
): RecordingEdit {
  const edit: RecordingEdit = { project, added: [], newItemIds: [] };
  const itemFor = (tick: number): MidiItem | undefined => {
    const ids = new Set([...recordingItemIds, ...edit.newItemIds]);
    const existing = itemAt(edit.project, trackId, tick, ids);
    if (existing) return existing;
    const { bar } = barPositionAt(edit.project.time_signatures, tick);
    const startTick = tickOfBarPosition(edit.project.time_signatures, { bar, beat: 1, tick: 0 });
    const addedItem = addMidiItem(edit.project, trackId, startTick, ticksPerBarAt(edit.project.time_signatures, startTick));
    edit.project = addedItem.project;
    edit.newItemIds.push(addedItem.itemId);
    return itemAt(edit.project, trackId, tick, new Set([addedItem.itemId]));
  };
  for (const note of notes) {
    const item = itemFor(note.tick);
    if (!item) continue;
    const addedEvent = { ...note, tick: note.tick - item.start_tick };
    edit.added.push(addedEvent);
    edit.project = setItemNotes(edit.project, item.id, [...item.notes, addedEvent]);
  }
  for (const control of controls) {
    const item = itemFor(control.tick);
    if (!item) continue;
    const addedEvent = { ...control, tick: control.tick - item.start_tick };
    edit.project = updateItem<MidiItem>(edit.project, item.id, (currentItem) => ({
      ...currentItem,
      length_ticks: Math.max(currentItem.length_ticks, addedEvent.tick + 1),
      controls: [...currentItem.controls, addedEvent].sort((first, second) => first.tick - second.tick),
    }));
  }
  return edit;
}

/**
 * Removes the notes of a track that start from `fromTick` up to, but not including, `toTick`,
 * except those of `kept`.
 */
export function eraseNotes(project: Project, trackId: string, fromTick: number, toTick: number, keptNotes: ReadonlySet<Note>): Project {
  const isErased = (item: MidiItem, note: Note): boolean => {
    const tick = item.start_tick + note.tick;
    return tick >= fromTick && tick < toTick && !keptNotes.has(note);
  };
  const track = project.tracks.find(({ id }) => id === trackId);
  const hasErased = track?.items.some((item) => item.type === 'midi' && item.notes.some((note) => isErased(item, note)));
  if (!hasErased) return project;
  return updateTrack(project, trackId, (currentItem) => ({
    ...currentItem,
    items: currentItem.items.map((item) => (item.type === 'midi' ? { ...item, notes: item.notes.filter((note) => !isErased(item, note)) } : item)),
  }));
}

function itemAt(project: Project, trackId: string, tick: number, recordingItemIds: ReadonlySet<string>): MidiItem | undefined {
  const items = project.tracks.find(({ id }) => id === trackId)?.items ?? [];
  const midiItems = items.filter((item): item is MidiItem => item.type === 'midi' && item.start_tick <= tick);
  const covering = midiItems.filter((item) => tick < item.start_tick + item.length_ticks);
  const recordedItems = midiItems.filter((item) => recordingItemIds.has(item.id));
  const latest = (candidates: MidiItem[]): MidiItem | undefined =>
    candidates.reduce<MidiItem | undefined>((last, item) => (last && last.start_tick > item.start_tick ? last : item), undefined);
  return latest(covering) ?? latest(recordedItems);
}
