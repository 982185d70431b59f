/**
 * The project in the page: the wire format of the project schema with all defaults filled in.
 * Values are immutable by convention: an edit makes a new project that shares the unchanged parts.
 * Unknown fields stay.
 */
import type * as schema from '@songfoundry/schemas';

/** Ticks to a quarter note. */
export const TICKS_PER_QUARTER = 960;

/** Highest tick the project schema allows. */
export const TICK_MAX = 1_000_000_000;

/** Rates a project may be rendered at, in hertz. */
export const SAMPLE_RATES_HZ = [44100, 48000, 96000] as const;
export type SampleRateHz = (typeof SAMPLE_RATES_HZ)[number];

/**
 * Level at the lower end of a fader, in decibels; a fader moved there is silent. Typed levels may
 * be lower.
 */
export const FADER_FLOOR_DB = -60;
/** Highest fader level, in decibels. */
export const FADER_TOP_DB = 6;
/** Lowest level of the project schema, in decibels; it stands for silence. */
export const SILENCE_DB = -144;

/** Id of the master in meters, the selection and chains of effects, where tracks have their ids. */
export const MASTER_ID = 'songfoundry-master';

/** A type of the schema with some fields required. */
type With<T, K extends keyof T> = Omit<T, K> & { [P in K]-?: NonNullable<T[P]> };

export type {
  AudioItem,
  AutomationLane,
  AutomationPoint,
  BuiltinEffect,
  Control,
  Effect,
  Marker,
  Note,
  SectionItem,
  Send,
  SoundFontEngine,
  SynthEngine,
  TempoPoint,
  TimeSignature,
} from '@songfoundry/schemas';

export type TrackKind = schema.Track['kind'];

export type MidiItem = With<schema.MidiItem, 'notes' | 'controls'>;
export type Item = MidiItem | schema.AudioItem | schema.SectionItem;
export type Track = With<Omit<schema.Track, 'items'>, 'name' | 'color' | 'volume_db' | 'pan' | 'mute' | 'solo'> & {
  items: Item[];
};
export type Project = With<
  Omit<schema.Project, 'tracks' | 'master'>,
  'name' | 'sample_rate_hz' | 'tempo_map' | 'time_signatures' | 'markers'
> & { tracks: Track[]; master: With<schema.Master, 'volume_db'> & { automation?: schema.AutomationLane[] } };
