/** Builds the requests with which the service renders the notes of a track. */
import type { SoundFontRenderRequest } from '../api/types';
import type { Control, Item, Note, Project, Track } from '../project/model';
import { voiceSettings } from '../project/sound-settings';

/**
 * Returns the request that renders a track with its SoundFont. Returns null if the track has no
 * notes or no SoundFont, and if the request cannot describe the track.
 */
export function renderRequestOf(project: Project, track: Track): SoundFontRenderRequest | null {
  const engine = track.synth_engine;
  if (track.kind !== 'instrument' || engine?.type !== 'soundfont') return null;
  const { notes, controls } = eventsOf(track.items);
  // A request cannot contain the bank or program of an item.
  if (notes.length === 0 || track.items.some(selectsSound)) return null;
  return {
    notes,
    controls,
    ...(engine.soundfont_id === undefined ? {} : { soundfont_id: engine.soundfont_id }),
    bank: engine.bank,
    program: engine.program,
    tempo_map: project.tempo_map,
    time_base: 'ticks',
    sample_rate_hz: project.sample_rate_hz,
    settings: voiceSettings(project),
    sends: true,
  };
}

function selectsSound(item: Item): boolean {
  return item.type === 'midi' && (item.soundfont_bank !== undefined || item.soundfont_program !== undefined);
}

type Events = { notes: Note[]; controls: Control[] };

/** The events of tracks, by their items, because most tracks stay unchanged in an edit. */
const knownEvents = new WeakMap<readonly Item[], Events>();

function eventsOf(items: readonly Item[]): Events {
  let events = knownEvents.get(items);
  if (!events) {
    events = collectEvents(items);
    knownEvents.set(items, events);
  }
  return events;
}

/**
 * Returns the notes and controls of all items at their ticks in the song. As in the engine, an
 * event after the end of its item is left out, and a note ends with its item.
 */
function collectEvents(items: readonly Item[]): Events {
  const notes: Note[] = [];
  const controls: Control[] = [];
  for (const item of items) {
    if (item.type !== 'midi') continue;
    for (const note of item.notes) {
      if (note.tick >= item.length_ticks) continue;
      const lengthTicks = Math.min(note.length_ticks, item.length_ticks - note.tick);
      notes.push({ ...note, tick: note.tick + item.start_tick, length_ticks: lengthTicks });
    }
    for (const control of item.controls) {
      if (control.tick <= item.length_ticks) controls.push({ ...control, tick: control.tick + item.start_tick });
    }
  }
  return { notes, controls };
}
