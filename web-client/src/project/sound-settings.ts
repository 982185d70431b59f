/** Reads and changes the sound settings of a project. */
import type { Project } from './model';

export type Interpolation = 'linear' | 'four_point' | 'sinc';
export type VelocityToCutoff = 'as_stated' | 'specification';
export type Reverb = { room: number; damping: number; width: number; level_db: number };
export type Chorus = { delay_ms: number; depth_ms: number; rate_hz: number; level_db: number };
export type SoundSettings = {
  polyphony: number;
  interpolation: Interpolation;
  velocity_to_cutoff: VelocityToCutoff;
  reverb: Reverb;
  chorus: Chorus;
};

/** The sound settings that the project schema defines as defaults. */
export const SOUND_DEFAULTS: SoundSettings = {
  polyphony: 256,
  interpolation: 'four_point',
  velocity_to_cutoff: 'as_stated',
  reverb: { room: 0.5, damping: 0.5, width: 1, level_db: 0 },
  chorus: { delay_ms: 8, depth_ms: 2.5, rate_hz: 0.4, level_db: 0 },
};

/** Lowest and highest value that the project schema allows. */
export type Range = { min: number; max: number };
export const POLYPHONY_RANGE: Range = { min: 8, max: 256 };
export const REVERB_RANGES: Record<keyof Reverb, Range> = {
  room: { min: 0, max: 1 },
  damping: { min: 0, max: 1 },
  width: { min: 0, max: 1 },
  level_db: { min: -144, max: 6 },
};
export const CHORUS_RANGES: Record<keyof Chorus, Range> = {
  delay_ms: { min: 1, max: 50 },
  depth_ms: { min: 0, max: 20 },
  rate_hz: { min: 0.05, max: 10 },
  level_db: { min: -144, max: 6 },
};

/** Returns the sound settings of a project with all defaults filled in. */
export function soundSettings({ settings = {} }: Project): SoundSettings {
  return {
    polyphony: settings.polyphony ?? SOUND_DEFAULTS.polyphony,
    interpolation: settings.interpolation ?? SOUND_DEFAULTS.interpolation,
    velocity_to_cutoff: settings.velocity_to_cutoff ?? SOUND_DEFAULTS.velocity_to_cutoff,
    reverb: { ...SOUND_DEFAULTS.reverb, ...settings.reverb },
    chorus: { ...SOUND_DEFAULTS.chorus, ...settings.chorus },
  };
}

export type SoundChange = {
  polyphony?: number;
  interpolation?: Interpolation;
  velocity_to_cutoff?: VelocityToCutoff;
  reverb?: Partial<Reverb>;
  chorus?: Partial<Chorus>;
};

/** Changes some sound settings and keeps all others, even those that the page does not know. */
export function changeSound(project: Project, change: SoundChange): Project {
  const { settings = {} } = project;
  const { reverb, chorus, ...otherChanges } = change;
  return {
    ...project,
    settings: {
      ...settings,
      ...otherChanges,
      ...(reverb ? { reverb: { ...settings.reverb, ...reverb } } : {}),
      ...(chorus ? { chorus: { ...settings.chorus, ...chorus } } : {}),
    },
  };
}

/** Returns the settings that affect the voices of tracks: all but the shared reverb and chorus. */
export function voiceSettings({ settings = {} }: Project): NonNullable<Project['settings']> {
  const { reverb: _reverb, chorus: _chorus, ...voice } = settings;
  return voice;
}
