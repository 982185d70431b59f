/** The kinds of effects and their parameters, which the service lists. */
import type { components } from '../api/generated/schema';

type Schemas = components['schemas'];

export type EffectKind = Schemas['BuiltinEffect'];
export type EffectParameter = Schemas['EffectParameter'];
export type EffectGroup = EffectKind['group'];

/**
 * Parameters that are shown together: a band's switch (`toggle`) and the parameters of the band, or
 * parameters that belong to no band.
 */
export type ParameterSection = { id: string; toggle: EffectParameter | null; parameters: EffectParameter[] };

/**
 * Suffix of the id of a band's switch. The ids of the band's parameters have the same prefix as the
 * id of the switch.
 */
const TOGGLE_END = '_on';

/** Groups the parameters of an effect in sections, in the order in which the service lists them. */
export function sectionsOf(kind: EffectKind): ParameterSection[] {
  const sections: ParameterSection[] = [];
  let prefix: string | null = null;
  for (const parameter of kind.parameters) {
    if (parameter.scale === 'switch' && parameter.id.endsWith(TOGGLE_END)) {
      prefix = parameter.id.slice(0, -TOGGLE_END.length + 1);
      sections.push({ id: parameter.id, toggle: parameter, parameters: [] });
      continue;
    }
    const lastSection = sections.at(-1);
    const belongsToLast = lastSection && (prefix === null ? lastSection.toggle === null : parameter.id.startsWith(prefix));
    if (belongsToLast) {
      lastSection.parameters.push(parameter);
      continue;
    }
    prefix = null;
    sections.push({ id: parameter.id, toggle: null, parameters: [parameter] });
  }
  return sections;
}

/** Returns a parameter's name without that of its section: `Frequency` for `Low cut frequency`. */
export function nameInSection({ toggle }: ParameterSection, { name }: EffectParameter): string {
  if (!toggle || !name.startsWith(`${toggle.name} `)) return name;
  const shortName = name.slice(toggle.name.length + 1);
  return shortName.charAt(0).toUpperCase() + shortName.slice(1);
}

/** Returns a name for use within a sentence: `cut-off` for `Cut-off`, but `LFO rate` unchanged. */
export function inSentence({ name }: { name: string }): string {
  return /^[A-Z]([A-Z]|$)/.test(name) ? name : name.charAt(0).toLowerCase() + name.slice(1);
}

/** The groups of effects and their names, in the order of menus. */
export const EFFECT_GROUPS: readonly { group: EffectGroup; name: string }[] = [
  { group: 'dynamics', name: 'Dynamics' },
  { group: 'tone', name: 'Tone' },
  { group: 'space_and_time', name: 'Space and time' },
  { group: 'modulation', name: 'Modulation' },
  { group: 'utility', name: 'Utility' },
];

/** Level in decibels below which a knob jumps to silence. */
const KNOB_FLOOR_DB = -60;
/** A level parameter can be turned to silence if its minimum, in decibels, is at most this. */
const SILENT_DB = -100;

/** Whether the lowest value of a parameter is silence. */
export function reachesSilence({ unit, min }: EffectParameter): boolean {
  return unit === 'decibels' && min <= SILENT_DB;
}

/** Returns the value below which the knob of a parameter jumps to the parameter's minimum. */
function floorOf(parameter: EffectParameter): number {
  return reachesSilence(parameter) ? KNOB_FLOOR_DB : parameter.min;
}

/** Returns the position, 0..1, of a parameter's knob at a value. */
export function positionOfValue(parameter: EffectParameter, value: number): number {
  const { max, scale } = parameter;
  const floor = floorOf(parameter);
  if (max <= floor) return 0;
  const position =
    scale === 'logarithmic' ? Math.log(Math.max(value, floor) / floor) / Math.log(max / floor) : (value - floor) / (max - floor);
  return Math.min(1, Math.max(0, position));
}

/** Returns the value at a position of the knob, 0..1, rounded to a tenth of {@link stepOf}. */
export function valueAtPosition(parameter: EffectParameter, position: number): number {
  const { min, max, scale } = parameter;
  const floor = floorOf(parameter);
  if (position <= 0) return min;
  if (position >= 1) return max;
  const value = scale === 'logarithmic' ? floor * (max / floor) ** position : floor + position * (max - floor);
  return clampValue(parameter, roundTo(value, stepOf(parameter, value) / 10));
}

/** Returns how much one press of an arrow key changes a value. */
export function stepOf(parameter: EffectParameter, value: number): number {
  const { unit, min, max, scale } = parameter;
  if (scale === 'choice' || scale === 'switch' || unit === 'bits') return 1;
  if (unit === 'decibels') return max - floorOf(parameter) > 12 ? 0.5 : 0.1;
  if (unit === 'share') return 0.01;
  if (unit === 'degrees') return 1;
  if (unit === 'octaves') return 0.1;
  // The step is a power of ten. It is at most a fiftieth of the value on a logarithmic scale, and
  // at most a hundredth of the range on a linear scale.
  const roughStep = scale === 'logarithmic' ? Math.max(Math.abs(value), min) / 50 : (max - min) / 100;
  return 10 ** Math.floor(Math.log10(roughStep));
}

function roundTo(value: number, step: number): number {
  return Number((Math.round(value / step) * step).toPrecision(9));
}

/** Returns the valid value of a parameter that is nearest to `value`. */
export function clampValue({ min, max, scale }: EffectParameter, value: number): number {
  const clampedValue = Math.min(max, Math.max(min, value));
  return scale === 'choice' || scale === 'switch' ? Math.round(clampedValue) : clampedValue;
}

/**
 * Returns the position, 0..1, at which the arc of a knob begins. It is the position of the value
 * zero if the range has both signs, otherwise 0.
 */
export function originOf(parameter: EffectParameter): number {
  return parameter.min < 0 && parameter.max > 0 && !reachesSilence(parameter) ? positionOfValue(parameter, 0) : 0;
}

/**
 * Returns the number for the value of a parameter in a project: a number, the state of a switch, or
 * the name of a choice. For any other value it returns the parameter's default.
 */
export function storedValue(parameter: EffectParameter, rawValue: number | string | boolean | undefined): number {
  if (typeof rawValue === 'boolean') return clampValue(parameter, rawValue ? 1 : 0);
  if (typeof rawValue === 'number' && !Number.isNaN(rawValue)) return clampValue(parameter, rawValue);
  const choice = typeof rawValue === 'string' ? parameter.choices.indexOf(rawValue) : -1;
  return choice >= 0 ? choice : parameter.default;
}
