/** The kinds of effects and their parameters, as the service describes them. */
import type { components } from '../api/generated/schema';

type Schemas = components['schemas'];

export type EffectKind = Schemas['BuiltinEffect'];
export type EffectParameter = Schemas['EffectParameter'];
export type EffectGroup = EffectKind['group'];

/**
 * Parameters that are shown together: those of a band with its switch, or some without a switch.
 */
export type ParameterSection = { id: string; toggle: EffectParameter | null; parameters: EffectParameter[] };

/** Suffix of the id of a band's switch; its prefix is common to the parameters of the band. */
const TOGGLE_END = '_on';

/** The parameters of a kind in sections, in the order of the engine's table. */
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

/** A name as it is written within a sentence: `cut-off`, but `LFO rate`. */
export function inSentence({ name }: { name: string }): string {
  return /^[A-Z]([A-Z]|$)/.test(name) ? name : name.charAt(0).toLowerCase() + name.slice(1);
}

/** The groups with their names, in the order of menus. */
export const EFFECT_GROUPS: readonly { group: EffectGroup; name: string }[] = [
  { group: 'dynamics', name: 'Dynamics' },
  { group: 'tone', name: 'Tone' },
  { group: 'space_and_time', name: 'Space and time' },
  { group: 'modulation', name: 'Modulation' },
  { group: 'utility', name: 'Utility' },
];

/** Lowest level in decibels of a knob before it jumps to silence. */
const KNOB_FLOOR_DB = -60;
/** A parameter in decibels whose minimum is this or lower can be turned to silence. */
const SILENT_DB = -100;

/** Whether the lowest value of a parameter is silence. */
export function reachesSilence({ unit, min }: EffectParameter): boolean {
  return unit === 'decibels' && min <= SILENT_DB;
}

/** The lowest value that a knob shows before it jumps to the end of the range. */
function floorOf(parameter: EffectParameter): number {
  return reachesSilence(parameter) ? KNOB_FLOOR_DB : parameter.min;
}

/** Position of a value on its knob, 0..1. */
export function positionOfValue(parameter: EffectParameter, value: number): number {
  const { max, scale } = parameter;
  const floor = floorOf(parameter);
  if (max <= floor) return 0;
  const position =
    scale === 'logarithmic' ? Math.log(Math.max(value, floor) / floor) / Math.log(max / floor) : (value - floor) / (max - floor);
  return Math.min(1, Math.max(0, position));
}

/** The value at a position of the knob, 0..1, rounded to a tenth of a step. */
export function valueAtPosition(parameter: EffectParameter, position: number): number {
  const { min, max, scale } = parameter;
  const floor = floorOf(parameter);
  if (position <= 0) return min;
  if (position >= 1) return max;
  const value = scale === 'logarithmic' ? floor * (max / floor) ** position : floor + position * (max - floor);
  return clampValue(parameter, roundTo(value, stepOf(parameter, value) / 10));
}

/** The change by one arrow key near a value. */
export function stepOf(parameter: EffectParameter, value: number): number {
  const { unit, min, max, scale } = parameter;
  if (scale === 'choice' || scale === 'switch' || unit === 'bits') return 1;
  if (unit === 'decibels') return max - floorOf(parameter) > 12 ? 0.5 : 0.1;
  if (unit === 'share') return 0.01;
  if (unit === 'degrees') return 1;
  if (unit === 'octaves') return 0.1;
  // A power of ten near a fiftieth of the value, or a hundredth of the range.
  const size = scale === 'logarithmic' ? Math.max(Math.abs(value), min) / 50 : (max - min) / 100;
  return 10 ** Math.floor(Math.log10(size));
}

function roundTo(value: number, step: number): number {
  return Number((Math.round(value / step) * step).toPrecision(9));
}

/** The nearest valid value of a parameter. */
export function clampValue({ min, max, scale }: EffectParameter, value: number): number {
  const clamped = Math.min(max, Math.max(min, value));
  return scale === 'choice' || scale === 'switch' ? Math.round(clamped) : clamped;
}

/** Position at which the arc of a knob begins, 0..1: that of zero if values have both signs. */
export function originOf(parameter: EffectParameter): number {
  return parameter.min < 0 && parameter.max > 0 && !reachesSilence(parameter) ? positionOfValue(parameter, 0) : 0;
}

/**
 * The number for a stored parameter: a number, the state of a switch, or the name of a choice. Any
 * other value counts as the default.
 */
export function storedValue(parameter: EffectParameter, stored: number | string | boolean | undefined): number {
  if (typeof stored === 'boolean') return clampValue(parameter, stored ? 1 : 0);
  if (typeof stored === 'number' && !Number.isNaN(stored)) return clampValue(parameter, stored);
  const choice = typeof stored === 'string' ? parameter.choices.indexOf(stored) : -1;
  return choice >= 0 ? choice : parameter.default;
}
