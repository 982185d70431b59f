/** Splits, joins and trims MIDI clips. A note across the cut is cut, too. */
import { clipsOf, removeClips, type ClipIds } from './edit-clips';
import { findItem, updateItem } from './edit-items';
import { newId } from './ids';
import type { Control, MidiItem, Note, Project } from './model';
import { updateTrack } from './update-track';

/** Returns the notes before a tick of the clip, and the notes after it, from that tick. */
function notesAround(notes: readonly Note[], tick: number): { notesBefore: Note[]; notesAfter: Note[] } {
  const notesBefore: Note[] = [];
  const notesAfter: Note[] = [];
  for (const note of notes) {
    const endTick = note.tick + note.length_ticks;
    if (note.tick < tick) notesBefore.push(endTick > tick ? { ...note, length_ticks: tick - note.tick } : note);
    if (note.tick >= tick) notesAfter.push({ ...note, tick: note.tick - tick });
    else if (endTick > tick) notesAfter.push({ ...note, tick: 0, length_ticks: endTick - tick });
  }
  return { notesBefore, notesAfter };
}

/** Returns a text that is equal for controls of which only the last one is in force. */
function targetOf(control: Control): string {
  switch (control.type) {
    case 'cc':
      return `cc ${control.controller}`;
    case 'key_pressure':
      return `key ${control.key}`;
    case 'rpn':
    case 'nrpn':
      return `${control.type} ${control.parameter}`;
    default:
      return control.type;
  }
}

/**
 * Returns the controls from a tick of the clip. Those in force at that tick come first, so that the
 * second part sounds the same without the first one.
 */
function controlsFrom(controls: readonly Control[], tick: number): Control[] {
  const inForce = new Map<string, Control>();
  const earlierControls = controls.filter((control) => control.tick < tick).sort((a, b) => a.tick - b.tick);
  for (const control of earlierControls) inForce.set(targetOf(control), { ...control, tick: 0 });
  const laterControls = controls.filter((control) => control.tick >= tick).map((control) => ({ ...control, tick: control.tick - tick }));
  return [...inForce.values(), ...laterControls];
}

/**
 * Returns the part of a MIDI clip between two ticks of the song, which lie inside the clip. Notes
 * that sound at these ticks are cut.
 */
export function cutMidi(item: MidiItem, startTick: number, endTick: number): MidiItem {
  const [from, length] = [startTick - item.start_tick, endTick - startTick];
  return {
    ...item,
    start_tick: startTick,
    length_ticks: length,
    notes: notesAround(notesAround(item.notes, from).notesAfter, length).notesBefore,
    controls: controlsFrom(item.controls, from).filter(({ tick }) => tick < length),
  };
}

/**
 * Splits a MIDI clip at a tick of the song and returns the id of the second part; null if the tick
 * is not inside a MIDI clip.
 */
export function splitMidi(project: Project, id: string, tick: number): { project: Project; itemId: string } | null {
  const itemInTrack = findItem(project, id);
  if (itemInTrack?.item.type !== 'midi') return null;
  const { item, track } = itemInTrack;
  const cutTick = Math.round(tick) - item.start_tick;
  if (cutTick <= 0 || cutTick >= item.length_ticks) return null;
  const { notesBefore, notesAfter } = notesAround(item.notes, cutTick);
  const first: MidiItem = { ...item, length_ticks: cutTick, notes: notesBefore, controls: item.controls.filter((control) => control.tick < cutTick) };
  const second: MidiItem = {
    ...item,
    id: newId('item'),
    start_tick: item.start_tick + cutTick,
    length_ticks: item.length_ticks - cutTick,
    notes: notesAfter,
    controls: controlsFrom(item.controls, cutTick),
  };
  const items = track.items.flatMap((candidate) => (candidate === item ? [first, second] : [candidate]));
  return { project: updateTrack(project, track.id, (currentTrack) => ({ ...currentTrack, items })), itemId: second.id };
}

/**
 * Joins the MIDI clips among `ids`, on each track those that are selected there, into the first of
 * them. The gaps between them become part of the clip. Returns null if no track has two of them.
 */
export function joinMidi(project: Project, ids: ClipIds): { project: Project; ids: Set<string> } | null {
  let joinedProject = project;
  const joinedIds = new Set<string>();
  for (const track of project.tracks) {
    const items = clipsOf(project, ids).filter((clip) => clip.track === track).flatMap(({ item }) => (item.type === 'midi' ? [item] : []));
    items.sort((a, b) => a.start_tick - b.start_tick);
    const first = items[0];
    if (!first || items.length < 2) continue;
    const joinedClip = items.slice(1).reduce(joinTwo, first);
    joinedProject = removeClips(joinedProject, new Set(items.slice(1).map(({ id }) => id)));
    joinedProject = updateItem<MidiItem>(joinedProject, first.id, () => joinedClip);
    joinedIds.add(first.id);
  }
  return joinedIds.size === 0 ? null : { project: joinedProject, ids: joinedIds };
}

/** Returns the notes of a clip before its end. A clip that was shortened keeps the later ones. */
const audibleNotes = (item: MidiItem): Note[] => notesAround(item.notes, item.length_ticks).notesBefore;
const audibleControls = (item: MidiItem): Control[] => item.controls.filter(({ tick }) => tick < item.length_ticks);

/** Adds a later clip to a clip. Notes that a split has cut become one note again. */
function joinTwo(first: MidiItem, second: MidiItem): MidiItem {
  const offsetTicks = second.start_tick - first.start_tick;
  const notes = audibleNotes(first);
  for (const note of audibleNotes(second)) {
    const isContinuation = (candidate: Note): boolean =>
      candidate.pitch === note.pitch && candidate.velocity === note.velocity && candidate.tick + candidate.length_ticks === offsetTicks;
    const index = note.tick === 0 && offsetTicks === first.length_ticks ? notes.findIndex(isContinuation) : -1;
    const started = notes[index];
    if (started) notes[index] = { ...started, length_ticks: started.length_ticks + note.length_ticks };
    else notes.push({ ...note, tick: note.tick + offsetTicks });
  }
  return {
    ...first,
    length_ticks: Math.max(first.length_ticks, offsetTicks + second.length_ticks),
    notes,
    controls: [...audibleControls(first), ...audibleControls(second).map((control) => ({ ...control, tick: control.tick + offsetTicks }))],
  };
}

/**
 * Moves the start of a MIDI clip to a tick of the song. The notes stay at their positions in the
 * song; those before the new start are removed. The clip stays at least one tick long.
 */
export function trimMidiStart(project: Project, id: string, tick: number): Project {
  return updateItem<MidiItem>(project, id, (item) => {
    const endTick = item.start_tick + item.length_ticks;
    const startTick = Math.max(0, Math.min(endTick - 1, Math.round(tick)));
    const cutTick = startTick - item.start_tick;
    if (cutTick === 0) return item;
    const movedClip = { ...item, start_tick: startTick, length_ticks: endTick - startTick };
    if (cutTick > 0) return { ...movedClip, notes: notesAround(item.notes, cutTick).notesAfter, controls: controlsFrom(item.controls, cutTick) };
    const laterControls = <T extends { tick: number }>(event: T): T => ({ ...event, tick: event.tick - cutTick });
    return { ...movedClip, notes: item.notes.map(laterControls), controls: item.controls.map(laterControls) };
  });
}
