/**
 * The types of a project in the page: those of the project schema, with all defaults filled in.
 * Values are immutable by convention: an edit makes a new project that shares the unchanged parts.
 * Edits keep fields that the page does not know.
 */
import type * as schema from '@songfoundry/schemas';

/** Ticks per quarter note. */
export const TICKS_PER_QUARTER = 960;

/** Highest tick that the project schema allows. */
export const TICK_MAX = 1_000_000_000;

/** Sample rates at which a project can be rendered, in hertz. */
export const SAMPLE_RATES_HZ = [44100, 48000, 96000] as const;
export type SampleRateHz = (typeof SAMPLE_RATES_HZ)[number];

/**
 * Level at the lower end of a fader's travel, in decibels. A fader that is moved to this end is
 * silent; the user can also type a lower level.
 */
export const FADER_FLOOR_DB = -60;
/** Highest fader level, in decibels. */
export const FADER_TOP_DB = 6;
/** Lowest level that the project schema allows, in decibels. It means silence. */
export const SILENCE_DB = -144;

/** Id of the master, where meters, the selection and effect chains use the id of a track. */
export const MASTER_ID = 'songfoundry-master';

/** The type `T` with the fields `K` required. */
type With<T, K extends keyof T> = Omit<T, K> & { [P in K]-?: NonNullable<T[P]> };

export type {
  AudioItem,
  AudioProcessing,
  AutomationLane,
  AutomationPoint,
  BuiltinEffect,
  Control,
  Effect,
  FrozenSound,
  Marker,
  Note,
  PluginEngine,
  SectionItem,
  Send,
  SoundFontEngine,
  SynthEngine,
  TempoPoint,
  TimeSignature,
} from '@songfoundry/schemas';

export function isPluginEngine(engine: schema.SynthEngine | undefined): engine is schema.PluginEngine {
  return engine !== undefined && engine.type !== 'soundfont';
}

/** An effect that is a plugin. */
export type PluginEffect = Exclude<schema.Effect, { type: 'builtin' }>;

export type TrackKind = schema.Track['kind'];

export type MidiItem = With<schema.MidiItem, 'notes' | 'controls'>;
export type Item = MidiItem | schema.AudioItem | schema.SectionItem;
/** A recording of a track that does not play itself; items of the track play pieces of it. */
export type Take = MidiItem | schema.AudioItem;
export type Track = With<Omit<schema.Track, 'items' | 'takes'>, 'name' | 'color' | 'volume_db' | 'pan' | 'mute' | 'solo'> & {
  items: Item[];
  takes?: Take[];
};
export type Project = With<
  Omit<schema.Project, 'tracks' | 'master'>,
  'name' | 'sample_rate_hz' | 'tempo_map' | 'time_signatures' | 'markers'
> & { tracks: Track[]; master: With<schema.Master, 'volume_db'> & { automation?: schema.AutomationLane[] } };
