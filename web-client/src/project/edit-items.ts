/** Edits the items of a project, which the page shows as clips. */
import { nextBarTick } from './grid';
import { notesEndTick } from './edit-notes';
import { newId } from './ids';
import { updateTrack } from './update-track';
import type { Control, Item, MidiItem, Note, Project, Track, TrackKind } from './model';

/** Returns the id of an item of any kind. */
export function itemId(item: Item): string {
  return item.type === 'section' ? item.sectionId : item.id;
}

export function findItem(project: Project, id: string | null): { track: Track; item: Item } | null {
  for (const track of project.tracks) {
    for (const item of track.items) {
      if (itemId(item) === id) return { track, item };
    }
  }
  return null;
}

/** Replaces the item `id` with the result of `change`. */
export function updateItem<T extends Item>(project: Project, id: string, change: (item: T) => T): Project {
  const itemInTrack = findItem(project, id);
  if (!itemInTrack) return project;
  return updateTrack(project, itemInTrack.track.id, (track) => ({
    ...track,
    items: track.items.map((item) => (itemId(item) === id ? change(item as T) : item)),
  }));
}

/**
 * Sets the notes of an item. If notes end after the item, extends the item to the end of the bar in
 * which the last note ends.
 */
export function setItemNotes(project: Project, id: string, notes: Note[]): Project {
  return updateItem<MidiItem>(project, id, (item) => {
    const endTick = item.start_tick + notesEndTick(notes);
    const extendedTicks = nextBarTick(project.time_signatures, endTick) - item.start_tick;
    const notesFit = endTick - item.start_tick <= item.length_ticks;
    return { ...item, notes, length_ticks: notesFit ? item.length_ticks : extendedTicks };
  });
}

/**
 * Sets the controls of an item: changes of controllers, pitch bend, pressure and other parameters.
 */
export function setItemControls(project: Project, id: string, controls: Control[]): Project {
  return updateItem<MidiItem>(project, id, (item) => ({ ...item, controls }));
}

/** Adds an empty MIDI item to a track and returns the item's id. */
export function addMidiItem(
  project: Project,
  trackId: string,
  startTick: number,
  lengthTicks: number,
): { project: Project; itemId: string } {
  const id = newId('item');
  const item: MidiItem = {
    type: 'midi',
    id,
    start_tick: startTick,
    length_ticks: lengthTicks,
    notes: [],
    controls: [],
  };
  return {
    project: updateTrack(project, trackId, (track) => ({ ...track, items: [...track.items, item] })),
    itemId: id,
  };
}

/**
 * Whether a track of this kind can contain the item. Audio needs an audio track and notes need an
 * instrument track; a section can be in any track.
 */
export function canHold(kind: TrackKind, item: Item): boolean {
  if (item.type === 'audio') return kind === 'audio';
  return item.type === 'section' || kind === 'instrument';
}

/** Sets the length of an item to at least one tick. Audio items stay as they are. */
export function resizeItem(project: Project, id: string, lengthTicks: number): Project {
  return updateItem(project, id, (item) =>
    item.type === 'audio' ? item : { ...item, length_ticks: Math.max(1, Math.round(lengthTicks)) },
  );
}

/** Returns a copy of an item with a new id. */
export function copyOfItem(item: Item): Item {
  return item.type === 'section' ? { ...item, sectionId: newId('section') } : { ...item, id: newId('item') };
}
