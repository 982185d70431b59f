/** What the engine's effects can be set to, as the service describes them. */
import type { components } from '../api/generated/schema';

type Schemas = components['schemas'];

export type EffectKind = Schemas['BuiltinEffect'];
export type EffectParameter = Schemas['EffectParameter'];
export type EffectGroup = EffectKind['group'];
export type ParameterUnit = EffectParameter['unit'];

/** Parameters that belong together: those of a band, with the switch that turns it on; or without one. */
export type ParameterSection = { id: string; toggle: EffectParameter | null; parameters: EffectParameter[] };

/** How the id of a switch ends that turns on what shares the beginning of its id. */
const TOGGLE_END = '_on';

/** The parameters of a kind in sections, in the order of its table. */
export function sectionsOf(kind: EffectKind): ParameterSection[] {
  const sections: ParameterSection[] = [];
  let prefix: string | null = null;
  for (const parameter of kind.parameters) {
    if (parameter.scale === 'switch' && parameter.id.endsWith(TOGGLE_END)) {
      prefix = parameter.id.slice(0, -TOGGLE_END.length + 1);
      sections.push({ id: parameter.id, toggle: parameter, parameters: [] });
      continue;
    }
    const last = sections.at(-1);
    const belongs = last && (prefix === null ? last.toggle === null : parameter.id.startsWith(prefix));
    if (belongs) {
      last.parameters.push(parameter);
      continue;
    }
    prefix = null;
    sections.push({ id: parameter.id, toggle: null, parameters: [parameter] });
  }
  return sections;
}

/** The name of a parameter within its section: `Frequency` for `Low cut frequency`. */
export function nameInSection({ toggle }: ParameterSection, { name }: EffectParameter): string {
  if (!toggle || !name.startsWith(`${toggle.name} `)) return name;
  const short = name.slice(toggle.name.length + 1);
  return short.charAt(0).toUpperCase() + short.slice(1);
}

/** A name in the middle of a sentence: `cut-off`, but `LFO rate`. */
export function inSentence({ name }: { name: string }): string {
  return /^[A-Z]([A-Z]|$)/.test(name) ? name : name.charAt(0).toLowerCase() + name.slice(1);
}

/** The groups in the order of menus, by their names. */
export const EFFECT_GROUPS: readonly { group: EffectGroup; name: string }[] = [
  { group: 'dynamics', name: 'Dynamics' },
  { group: 'tone', name: 'Tone' },
  { group: 'space_and_time', name: 'Space and time' },
  { group: 'modulation', name: 'Modulation' },
  { group: 'utility', name: 'Utility' },
];

/** Level in decibels below which a knob that goes down to silence jumps there. */
const KNOB_FLOOR_DB = -60;
/** Parameters in decibels that go down to this level or lower can be turned to silence. */
const SILENT_DB = -100;

/** Whether the lowest value of a parameter is silence. */
export function reachesSilence({ unit, min }: EffectParameter): boolean {
  return unit === 'decibels' && min <= SILENT_DB;
}

/** The lowest value that a knob shows before it jumps to the end of the range. */
function floorOf(parameter: EffectParameter): number {
  return reachesSilence(parameter) ? KNOB_FLOOR_DB : parameter.min;
}

/** Place of a value on its knob, 0..1. */
export function positionOfValue(parameter: EffectParameter, value: number): number {
  const { max, scale } = parameter;
  const floor = floorOf(parameter);
  if (max <= floor) return 0;
  const position =
    scale === 'logarithmic' ? Math.log(Math.max(value, floor) / floor) / Math.log(max / floor) : (value - floor) / (max - floor);
  return Math.min(1, Math.max(0, position));
}

/** The value at a place of the knob, 0..1, rounded to what can be told apart. */
export function valueAtPosition(parameter: EffectParameter, position: number): number {
  const { min, max, scale } = parameter;
  const floor = floorOf(parameter);
  if (position <= 0) return min;
  if (position >= 1) return max;
  const value = scale === 'logarithmic' ? floor * (max / floor) ** position : floor + position * (max - floor);
  return clampValue(parameter, roundTo(value, stepOf(parameter, value) / 10));
}

/** What an arrow key is worth near a value. */
export function stepOf(parameter: EffectParameter, value: number): number {
  const { unit, min, max, scale } = parameter;
  if (scale === 'choice' || scale === 'switch' || unit === 'bits') return 1;
  if (unit === 'decibels') return max - floorOf(parameter) > 12 ? 0.5 : 0.1;
  if (unit === 'share') return 0.01;
  if (unit === 'degrees') return 1;
  if (unit === 'octaves') return 0.1;
  // About a hundredth of the value, or of the range, as one digit of the decimal system.
  const size = scale === 'logarithmic' ? Math.max(Math.abs(value), min) / 50 : (max - min) / 100;
  return 10 ** Math.floor(Math.log10(size));
}

function roundTo(value: number, step: number): number {
  return Number((Math.round(value / step) * step).toPrecision(9));
}

/** The nearest value that a parameter can have. */
export function clampValue({ min, max, scale }: EffectParameter, value: number): number {
  const clamped = Math.min(max, Math.max(min, value));
  return scale === 'choice' || scale === 'switch' ? Math.round(clamped) : clamped;
}

/** Where the arc of a knob begins, 0..1: at zero where a value can lie to either side of it. */
export function originOf(parameter: EffectParameter): number {
  return parameter.min < 0 && parameter.max > 0 && !reachesSilence(parameter) ? positionOfValue(parameter, 0) : 0;
}

/**
 * The value of a parameter as a project stores it: a number, whether a switch is on, or the
 * name of a choice; the default for what is none of these.
 */
export function storedValue(parameter: EffectParameter, stored: number | string | boolean | undefined): number {
  if (typeof stored === 'boolean') return clampValue(parameter, stored ? 1 : 0);
  if (typeof stored === 'number' && !Number.isNaN(stored)) return clampValue(parameter, stored);
  const choice = typeof stored === 'string' ? parameter.choices.indexOf(stored) : -1;
  return choice >= 0 ? choice : parameter.default;
}
