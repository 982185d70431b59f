/** Describes the notes of the piano roll in words, for screen readers. */
import { isDrumTrack, keyNameIn } from '../../project/drum-names';
import { formatBarPosition } from '../../project/format';
import { barPositionAt } from '../../project/grid';
import { TICKS_PER_QUARTER, type MidiItem, type Project, type Track } from '../../project/model';
import { chordName } from '../../project/scales';

/** Maximum number of notes of a chord; more notes are a passage. */
const CHORD_NOTES_MAX = 12;

/** The described objects: a clip, its selected notes, and the cursor. */
export type DescribedNotes = {
  project: Project;
  track: Track;
  item: MidiItem;
  selection: ReadonlySet<number>;
  cursor: { tick: number; key: number };
};

/** Formats a length in quarter notes: `1 beat`, `0.5 beats`. */
function formatBeats(ticks: number): string {
  const beats = Math.round((ticks / TICKS_PER_QUARTER) * 1000) / 1000;
  return `${beats} ${beats === 1 ? 'beat' : 'beats'}`;
}

/** Returns the name of the chord that the selected notes form; null if they form none. */
export function selectedChord({ track, item, selection }: Pick<DescribedNotes, 'track' | 'item' | 'selection'>): string | null {
  if (isDrumTrack(track) || selection.size < 2 || selection.size > CHORD_NOTES_MAX) return null;
  return chordName([...selection].flatMap((index) => item.notes[index]?.pitch ?? []));
}

/** Describes the selected note or notes; without a selection, the cursor. */
export function describeSelection({ project, track, item, selection, cursor }: DescribedNotes): string {
  const positionOf = (tick: number): string => formatBarPosition(barPositionAt(project.time_signatures, tick));
  if (selection.size === 0) {
    const clipTick = cursor.tick - item.start_tick;
    const isTaken = item.notes.some((note) => note.pitch === cursor.key && note.tick <= clipTick && note.tick + note.length_ticks > clipTick);
    return `Cursor at ${positionOf(cursor.tick)}, ${keyNameIn(track, cursor.key)}, ${isTaken ? 'on a note' : 'empty'}`;
  }
  const [index] = selection;
  const note = index === undefined ? undefined : item.notes[index];
  if (selection.size > 1 || !note) return `${selection.size} notes selected`;
  const velocity = Math.round(note.velocity * 127);
  return `${keyNameIn(track, note.pitch)} at ${positionOf(item.start_tick + note.tick)}, ${formatBeats(note.length_ticks)}, velocity ${velocity}`;
}
