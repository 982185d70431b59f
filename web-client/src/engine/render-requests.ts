/** Builds the requests with which the service renders the notes of a track. */
import type { MidiRenderRequest, SoundFontRenderRequest } from '../api/types';
import { isPluginEngine, type Control, type Item, type Note, type PluginEngine, type Project, type SoundFontEngine, type Track } from '../project/model';
import { instrumentLanes } from '../project/plugin-instrument';
import { voiceSettings } from '../project/sound-settings';

/** A request to render a track, by the renderer of the service that answers the request. */
export type RenderRequest =
  | { renderer: 'soundfont'; body: SoundFontRenderRequest }
  | { renderer: 'plugin'; body: MidiRenderRequest };

/** The renderers of the service: its engine with a SoundFont, and VST instruments. */
export type Renderer = RenderRequest['renderer'];

/**
 * Returns the request that renders a track. Returns null if the track has no notes or no
 * instrument, and if the request cannot describe the track.
 */
export function renderRequestOf(project: Project, track: Track): RenderRequest | null {
  const engine = track.synth_engine;
  if (track.kind !== 'instrument' || !engine) return null;
  const { notes, controls } = eventsOf(track.items);
  if (notes.length === 0) return null;
  if (isPluginEngine(engine)) return { renderer: 'plugin', body: pluginBody(project, track, engine, notes, controls) };
  // A request cannot contain the bank or program of an item.
  return track.items.some(selectsSound) ? null : { renderer: 'soundfont', body: soundFontBody(project, engine, notes, controls) };
}

function selectsSound(item: Item): boolean {
  return item.type === 'midi' && (item.soundfont_bank !== undefined || item.soundfont_program !== undefined);
}

/**
 * Returns the notes and controls of all items at their ticks in the song. As in the engine, an
 * event after the end of its item is left out, and a note ends with its item.
 */
function eventsOf(items: readonly Item[]): { notes: Note[]; controls: Control[] } {
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

function soundFontBody(project: Project, engine: SoundFontEngine, notes: Note[], controls: Control[]): SoundFontRenderRequest {
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

/** The request applies values and automation as exports do, so that both have the same samples. */
function pluginBody(project: Project, track: Track, engine: PluginEngine, notes: Note[], controls: Control[]): MidiRenderRequest {
  const automation = automationOf(track);
  return {
    plugin_id: engine.plugin_id,
    ...(engine.state === undefined ? {} : { state: engine.state }),
    ...(engine.params === undefined ? {} : { params: engine.params }),
    ...(automation.length === 0 ? {} : { automation }),
    notes,
    controls,
    tempo_map: project.tempo_map,
    time_base: 'ticks',
    sample_rate_hz: project.sample_rate_hz,
  };
}

/** Returns the automation of a plugin instrument, with points by ascending tick and valid values. */
function automationOf(track: Track): NonNullable<MidiRenderRequest['automation']> {
  return instrumentLanes(track).map(({ param, lane }) => {
    const points = lane.points.map(({ tick, value, curve = 'linear' as const }) => ({ tick, value: Math.min(1, Math.max(0, value)), curve }));
    return { param, points: points.sort((a, b) => a.tick - b.tick) };
  });
}
