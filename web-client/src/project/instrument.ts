/** Sets the instrument of a track. */
import { isPluginEngine, type Control, type Item, type MidiItem, type Project, type SynthEngine, type Track } from './model';
import { parameterOfTarget } from './plugin-instrument';
import { updateTrack } from './update-track';

/** The result of {@link setInstrument}. */
export type InstrumentChange = {
  project: Project;
  /** Number of program and bank controls that would override the instrument and were removed. */
  removedControlCount: number;
  /** Number of program changes after the first note. They stay in the song. */
  laterProgramChangeCount: number;
  /** Number of automation lanes of the earlier plugin's parameters that were removed. */
  removedLaneCount: number;
};

/** MIDI controllers of Bank Select: the most and the least significant byte. */
const BANK_SELECT = [0, 32];

/** Whether a control selects the bank or program of a track. */
export function selectsPreset(control: Control): boolean {
  return control.type === 'program' || (control.type === 'cc' && BANK_SELECT.includes(control.controller));
}

/** Returns the tick of the track's first note, or Infinity for a track without notes. */
function firstNoteTick(track: Track): number {
  let firstTick = Infinity;
  for (const item of track.items) {
    if (item.type !== 'midi') continue;
    for (const note of item.notes) firstTick = Math.min(firstTick, item.start_tick + note.tick);
  }
  return firstTick;
}

function withoutPresetSelection(item: MidiItem, controls: Control[]): MidiItem {
  const { soundfont_bank: _bank, soundfont_program: _program, ...remaining } = item;
  return { ...remaining, controls };
}

/**
 * Sets the instrument of a track. Removes program and bank controls up to the first note, and the
 * bank and program of items, because these would override the instrument. Keeps program and bank
 * controls after the first note. Removes the automation of another plugin's parameters.
 */
export function setInstrument(project: Project, trackId: string, engine: SynthEngine): InstrumentChange {
  let removedControlCount = 0;
  let laterProgramChangeCount = 0;
  let removedLaneCount = 0;
  const updatedProject = updateTrack(project, trackId, (track) => {
    const firstTick = firstNoteTick(track);
    const items = track.items.map((item): Item => {
      if (item.type !== 'midi') return item;
      const controls = item.controls.filter((control) => {
        if (!selectsPreset(control) || item.start_tick + control.tick > firstTick) return true;
        removedControlCount += 1;
        return false;
      });
      laterProgramChangeCount += controls.filter((control) => control.type === 'program').length;
      const hasSound = item.soundfont_bank !== undefined || item.soundfont_program !== undefined;
      if (!hasSound && controls.length === item.controls.length) return item;
      return withoutPresetSelection(item, controls);
    });
    const changedTrack = { ...track, kind: 'instrument' as const, items, synth_engine: engine };
    if (!track.automation || isSamePlugin(track.synth_engine, engine)) return changedTrack;
    const automation = track.automation.filter((lane) => parameterOfTarget(lane.target) === null);
    removedLaneCount += track.automation.length - automation.length;
    return { ...changedTrack, automation };
  });
  return { project: updatedProject, removedControlCount, laterProgramChangeCount, removedLaneCount };
}

function isSamePlugin(a: SynthEngine | undefined, b: SynthEngine): boolean {
  return isPluginEngine(a) && isPluginEngine(b) && a.type === b.type && a.plugin_id === b.plugin_id;
}
