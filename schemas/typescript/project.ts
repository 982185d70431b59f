// Generated from json/project.schema.json by "npm run generate"; never edited.

/**
 * Position or length in ticks, 960 to a quarter note.
 */
export type Tick = number;
export type Effect = BuiltinEffect | PluginEffect;
export type Item = MidiItem | AudioItem | SectionItem;
/**
 * A controller, bend, pressure, program or parameter change at a tick from the start of the item.
 */
export type Control =
  CcControl | BendControl | PressureControl | KeyPressureControl | ProgramControl | ParameterControl;
/**
 * A take of a recording, such as a pass of a loop.
 */
export type Take = MidiItem | AudioItem;
/**
 * The instrument of a track. A track without an instrument has no such field.
 */
export type SynthEngine = SoundFontEngine | PluginEngine;

/**
 * A Songfoundry project, schema version 1. Positions and lengths named `tick` or `_ticks` count 960 to a quarter note. Unknown fields are allowed everywhere and are kept.
 */
export interface Project {
  /**
   * Version of this schema that the document follows.
   */
  schema_version: 1;
  /**
   * Identifies the project on this service.
   */
  project_id: string;
  /**
   * Title.
   */
  name?: string;
  /**
   * Rate at which the engine renders the project, in hertz.
   */
  sample_rate_hz?: 44100 | 48000 | 96000;
  /**
   * Tempo changes by ascending tick, the first at tick 0. Without this field, the tempo is 120 bpm.
   *
   * @minItems 1
   * @maxItems 100000
   */
  tempo_map?: TempoPoint[];
  /**
   * Time signatures by ascending tick, the first at tick 0. Without this field, the time signature is 4/4.
   *
   * @minItems 1
   * @maxItems 100000
   */
  time_signatures?: TimeSignature[];
  /**
   * @maxItems 100000
   */
  markers?: Marker[];
  /**
   * @maxItems 1000
   */
  tracks: Track[];
  master?: Master;
  settings?: Settings;
  /**
   * View state of the page, which the service does not interpret.
   */
  client?: {
    [k: string]: unknown;
  };
}
export interface TempoPoint {
  tick: Tick;
  /**
   * Quarter notes per minute from this tick on.
   */
  bpm: number;
}
export interface TimeSignature {
  tick: Tick;
  numerator: number;
  denominator: 1 | 2 | 4 | 8 | 16 | 32 | 64 | 128;
}
export interface Marker {
  tick: Tick;
  name: string;
}
export interface Track {
  /**
   * Unique within the project.
   */
  id: string;
  name?: string;
  kind: "instrument" | "audio" | "bus" | "group";
  /**
   * Colour of the track as #rrggbb.
   */
  color?: string;
  /**
   * Level in decibels; 0 changes nothing.
   */
  volume_db?: number;
  /**
   * -1 is left, 0 the centre, 1 right.
   */
  pan?: number;
  mute?: boolean;
  solo?: boolean;
  /**
   * Bypasses the track's effects.
   */
  bypass?: boolean;
  /**
   * Id of the bus or group that the track feeds. Without this field, the track feeds the master.
   */
  output?: string | null;
  /**
   * @maxItems 64
   */
  sends?: Send[];
  /**
   * @maxItems 64
   */
  effects?: Effect[];
  /**
   * @maxItems 1000
   */
  automation?: AutomationLane[];
  /**
   * @maxItems 100000
   */
  items?: Item[];
  /**
   * Takes of recordings, which do not play. An item of the track plays a piece of the take that its `take_id` names.
   *
   * @maxItems 1000
   */
  takes?: Take[];
  synth_engine?: SynthEngine;
  frozen?: FrozenSound;
}
export interface Send {
  to: string;
  /**
   * Level in decibels; 0 changes nothing.
   */
  level_db?: number;
  pre_fader?: boolean;
}
export interface BuiltinEffect {
  id: string;
  type: "builtin";
  /**
   * Name of the built-in effect.
   */
  name: string;
  params?: EffectParams;
  bypass?: boolean;
  /**
   * Id of the track whose signal is the side-chain. Without this field, the side-chain is the effect's own input.
   */
  side_chain?: string | null;
  /**
   * Id of the audio file with the impulse response, at most 30 s long.
   */
  impulse?: string;
}
/**
 * Parameter values by parameter id, in the unit of the parameter. Switches also accept true and false, and choices their names. A built-in effect clamps values to the range and ignores unknown parameters.
 */
export interface EffectParams {
  [k: string]: number | string | boolean;
}
export interface PluginEffect {
  id: string;
  type: "vst2" | "vst3";
  /**
   * Display name.
   */
  name?: string;
  plugin_id: string;
  /**
   * Version that the plugin stated when it was chosen or its state was last saved.
   */
  plugin_version?: string;
  params?: EffectParams;
  bypass?: boolean;
  /**
   * Id of the track whose signal is the side-chain input of the plugin. Without this field, that input is silent; a plugin without such an input ignores the field.
   */
  side_chain?: string | null;
  /**
   * State of the plugin in base64, which only the plugin interprets. It is kept while the plugin is missing.
   */
  state?: string;
}
export interface AutomationLane {
  /**
   * Target of the automation: `volume_db`, `pan`, `send/` followed by the id of the bus, `instrument/` followed by the id of a parameter of the track's plugin instrument, whose values are normalized, or `effect_id/parameter_id`; the master has no pan, no sends and no instrument.
   */
  target: string;
  /**
   * @maxItems 100000
   */
  points: AutomationPoint[];
}
export interface AutomationPoint {
  tick: Tick;
  value: number;
  /**
   * Shape of the segment to the next point: `linear`, `step`, or an arc by its curvature c. With `step` the value stays, and jumps at the next point. For an arc, at the fraction x of the segment's time the value has covered the fraction x / (x + (1 - x)(1 + c) / (1 - c)) of its change. A positive curvature changes the value late, a negative one early.
   */
  curve?: ("linear" | "step") | number;
}
export interface MidiItem {
  type: "midi";
  id: string;
  name?: string;
  start_tick: Tick;
  length_ticks: Tick;
  /**
   * @maxItems 1000000
   */
  notes?: Note[];
  /**
   * @maxItems 1000000
   */
  controls?: Control[];
  /**
   * Bank that this item plays instead of the track's.
   */
  soundfont_bank?: number;
  /**
   * Program that this item plays instead of the track's.
   */
  soundfont_program?: number;
  /**
   * Id of the take of the track of which this item plays a piece.
   */
  take_id?: string;
}
export interface Note {
  /**
   * Position or length in ticks, 960 to a quarter note.
   */
  tick: number;
  length_ticks: Tick;
  /**
   * MIDI key number; 60 is middle C.
   */
  pitch: number;
  /**
   * MIDI velocity divided by 127.
   */
  velocity: number;
}
export interface CcControl {
  tick: Tick;
  type: "cc";
  controller: number;
  value: number;
}
export interface BendControl {
  tick: Tick;
  type: "bend";
  /**
   * -8192 is the full bend range down, 0 is no bend, 8191 is the full range up.
   */
  value: number;
}
export interface PressureControl {
  tick: Tick;
  type: "pressure";
  value: number;
}
export interface KeyPressureControl {
  tick: Tick;
  type: "key_pressure";
  key: number;
  value: number;
}
export interface ProgramControl {
  tick: Tick;
  type: "program";
  program: number;
  /**
   * SoundFont bank of the program. Without this field, the current bank is used.
   */
  bank?: number;
}
/**
 * A registered or non-registered parameter number with its 14-bit value.
 */
export interface ParameterControl {
  tick: Tick;
  type: "rpn" | "nrpn";
  parameter: number;
  value: number;
}
export interface AudioItem {
  type: "audio";
  id: string;
  name?: string;
  start_tick: Tick;
  /**
   * Position in the source at which the item begins, in frames.
   */
  offset_frames?: number;
  /**
   * Length of the item in frames of the source. Without this field, the item plays to the end of the source.
   */
  length_frames?: number;
  /**
   * Level in decibels; 0 changes nothing.
   */
  gain_db?: number;
  fades?: Fades;
  /**
   * Whether the source starts over at `offset_frames` when it ends before the item.
   */
  loop?: boolean;
  source: AudioSource;
  processing?: AudioProcessing;
  server_file_id?: string;
  audio_file_url?: string;
  /**
   * Id of the take of the track of which this item plays a piece.
   */
  take_id?: string;
}
/**
 * Linear fades of the gain, in frames of the source.
 */
export interface Fades {
  in_frames?: number;
  out_frames?: number;
}
export interface AudioSource {
  server_file_id?: string;
}
/**
 * How the service made the file that the item plays: the piece of another file and the operations on it. The engine plays the file and ignores this field, which lets the operations be changed or taken back.
 */
export interface AudioProcessing {
  /**
   * The service's id of the file that was processed.
   */
  server_file_id: string;
  /**
   * First frame of the piece in that file.
   */
  start_frame: number;
  /**
   * Length of the piece in frames of that file.
   */
  length_frames: number;
  /**
   * Whether the piece is played backwards.
   */
  reverse?: boolean;
  /**
   * Length of the processed file divided by the length of the piece.
   */
  stretch?: number;
  /**
   * Change of pitch in cents.
   */
  pitch_cents?: number;
  normalize?: AudioNormalization;
}
/**
 * The level that the processed file has.
 */
export interface AudioNormalization {
  /**
   * `peak` is the highest magnitude of a sample in dBFS, `loudness` the gated loudness in LUFS.
   */
  measure: "peak" | "loudness";
  level_db: number;
}
export interface SectionItem {
  type: "section";
  sectionId: string;
  name?: string;
  start_tick: Tick;
  length_ticks: Tick;
}
export interface SoundFontEngine {
  type: "soundfont";
  /**
   * Id of a bank in the catalogue. Without this field, the service's default bank plays.
   */
  soundfont_id?: string;
  /**
   * SoundFont bank number; 128 holds drum kits.
   */
  bank: number;
  program: number;
}
export interface PluginEngine {
  type: "vst2" | "vst3";
  plugin_id: string;
  /**
   * Version that the plugin stated when it was chosen or its state was last saved.
   */
  plugin_version?: string;
  /**
   * State of the plugin in base64, which only the plugin interprets. It is kept while the plugin is missing.
   */
  state?: string;
  /**
   * Normalized parameter values, 0 to 1, by parameter id in decimal digits. They are set after the state is loaded.
   */
  params?: {
    [k: string]: number;
  };
}
/**
 * A recording of a frozen track, after its effects and before its fader. It plays from the start of the song instead of the items, the instrument and the effects of the track, which stay in the project. Without this field, the track is not frozen.
 */
export interface FrozenSound {
  /**
   * The service's id of the audio file.
   */
  server_file_id: string;
  /**
   * End of the track's items, in frames of the file. The remaining frames are the tail.
   */
  length_frames: number;
  /**
   * Sample rate of the file in hertz. Without it, a missing file is assumed to have the sample rate of the project.
   */
  sample_rate_hz?: number;
  /**
   * Tempo map of the project when the track was frozen. The recording does not follow later changes of the tempo.
   *
   * @maxItems 100000
   */
  tempo_map?: TempoPoint[];
}
export interface Master {
  /**
   * Level in decibels; 0 changes nothing.
   */
  volume_db?: number;
  /**
   * @maxItems 64
   */
  effects?: Effect[];
  /**
   * @maxItems 1000
   */
  automation?: AutomationLane[];
}
/**
 * Engine settings that change the sound; they belong to the project.
 */
export interface Settings {
  /**
   * Maximum number of simultaneous voices of a track.
   */
  polyphony?: number;
  /**
   * Interpolation between the values of a sample: linear, a cubic through four values, or a windowed sinc.
   */
  interpolation?: "linear" | "four_point" | "sinc";
  /**
   * `as_stated`: velocity moves the filter cutoff only in zones of the bank that have such a modulator. `specification`: zones without such a modulator use the default modulator of the SoundFont specification 2.04, section 8.4.2, which makes soft notes duller.
   */
  velocity_to_cutoff?: "as_stated" | "specification";
  reverb?: ReverbSettings;
  chorus?: ChorusSettings;
  /**
   * Seed of all random sequences, which are dither and the phases of modulation.
   */
  seed?: number;
}
/**
 * The reverb that all instruments share; SoundFonts and controller 91 set the send level of a track.
 */
export interface ReverbSettings {
  /**
   * Size of the room. The reverb of a larger room decays more slowly.
   */
  room?: number;
  /**
   * Damping of the treble.
   */
  damping?: number;
  /**
   * Stereo width: 0 is mono, 1 the full width.
   */
  width?: number;
  /**
   * Level of the reverb in the mix; -144 is silence.
   */
  level_db?: number;
}
/**
 * The chorus that all instruments share; SoundFonts and controller 93 set the send level of a track.
 */
export interface ChorusSettings {
  /**
   * Mean delay in milliseconds.
   */
  delay_ms?: number;
  /**
   * Modulation of the delay to either side, in milliseconds; values above `delay_ms` count as `delay_ms`.
   */
  depth_ms?: number;
  /**
   * Rate of the modulation in hertz.
   */
  rate_hz?: number;
  /**
   * Level of the chorus in the mix; -144 is silence.
   */
  level_db?: number;
}
