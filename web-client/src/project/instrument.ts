/** Choosing the instrument of a track so that the choice is heard. */
import { updateTrack } from './update-track';
import type { Control, Item, MidiItem, Project, SoundFontEngine, Track } from './model';

/** What choosing an instrument had to do to the track's items. */
export type InstrumentChange = {
  project: Project;
  /** Program and bank controls removed because they would have overruled the choice. */
  removedControls: number;
  /** Program changes left: later in the song the track still changes its sound. */
  laterProgramChanges: number;
};

/** MIDI controllers that select a bank: most and least significant part. */
const BANK_SELECT = [0, 32];

function selectsSound(control: Control): boolean {
  return control.type === 'program' || (control.type === 'cc' && BANK_SELECT.includes(control.controller));
}

/** The tick of the track's first note, or Infinity when it has none. */
function firstNoteTick(track: Track): number {
  let first = Infinity;
  for (const item of track.items) {
    if (item.type !== 'midi') continue;
    for (const note of item.notes) first = Math.min(first, item.start_tick + note.tick);
  }
  return first;
}

function withoutSound(item: MidiItem, controls: Control[]): MidiItem {
  const { soundfont_bank: _bank, soundfont_program: _program, ...remaining } = item;
  return { ...remaining, controls };
}

/**
 * Gives a track an instrument. Sounds that its items select for themselves up
 * to the first note, by program and bank controls or by an item's own bank and
 * program, go away, for they would hide the choice; later changes stay.
 */
export function setInstrument(project: Project, trackId: string, engine: SoundFontEngine): InstrumentChange {
  let removedControls = 0;
  let laterProgramChanges = 0;
  const changed = updateTrack(project, trackId, (track) => {
    const first = firstNoteTick(track);
    const items = track.items.map((item): Item => {
      if (item.type !== 'midi') return item;
      const controls = item.controls.filter((control) => {
        if (!selectsSound(control) || item.start_tick + control.tick > first) return true;
        removedControls += 1;
        return false;
      });
      laterProgramChanges += controls.filter((control) => control.type === 'program').length;
      const hasSound = item.soundfont_bank !== undefined || item.soundfont_program !== undefined;
      if (!hasSound && controls.length === item.controls.length) return item;
      return withoutSound(item, controls);
    });
    return { ...track, kind: 'instrument', items, synth_engine: engine };
  });
  return { project: changed, removedControls, laterProgramChanges };
}
