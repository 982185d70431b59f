/** Choosing the instrument of a track. */
import { updateTrack } from './update-track';
import type { Control, Item, MidiItem, Project, SoundFontEngine, Track } from './model';

/** The result of choosing an instrument. */
export type InstrumentChange = {
  project: Project;
  /** Program and bank controls that were removed, since they would override the choice. */
  removedControls: number;
  /** Program changes after the first note, which stay. */
  laterProgramChanges: number;
};

/** MIDI controllers that select a bank: most and least significant part. */
const BANK_SELECT = [0, 32];

/** Whether a control selects the bank or program of a track. */
export function selectsSound(control: Control): boolean {
  return control.type === 'program' || (control.type === 'cc' && BANK_SELECT.includes(control.controller));
}

/** The tick of the track's first note, or Infinity without notes. */
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
 * Gives a track an instrument. It removes program and bank controls up to the first note, and the
 * bank and program of items, since they would override the choice. Later changes stay.
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
