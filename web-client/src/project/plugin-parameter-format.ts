/**
 * Formats and parses normalized values, 0..1, of the parameters of plugins. The service lists the
 * plugin's own texts of evenly spaced values; the texts of values between them are interpolated.
 */
import type { PluginParameter } from '../api/types';

/** Marks a text that is interpolated between two texts of the plugin. */
const APPROXIMATE = '\u2248';
/** Number of values to which knobs and lanes round: thousandths of the range. */
const RESOLUTION = 1000;
/** Distance from a listed value, in steps of the list, up to which its text applies. */
const TOLERANCE = 1e-6;

/** A text with one number, such as `-12.5` or `440 Hz`. */
const NUMBER_IN_TEXT = /^([^\d.-]*)(-?\d+(?:\.\d+)?)(\D*)$/;

/** Returns the name of a parameter for people. Some plugins join its words by underscores. */
export function parameterName({ id, name }: PluginParameter): string {
  return name.replaceAll('_', ' ').trim() || `Parameter ${id}`;
}

/** Whether the service lists a text for each value of the parameter. */
export function hasSteps({ step_count: steps, texts }: PluginParameter): boolean {
  return steps > 0 && texts.length === steps + 1;
}

/** Whether the parameter is on or off. */
export function isSwitch(parameter: PluginParameter): boolean {
  return parameter.step_count === 1;
}

/** Returns the valid value that is nearest to `value`. */
export function roundValue(parameter: PluginParameter, value: number): number {
  const steps = hasSteps(parameter) ? parameter.step_count : RESOLUTION;
  return Math.round(Math.min(1, Math.max(0, value)) * steps) / steps;
}

/** Returns how much one press of an arrow key changes a value. */
export function stepOfParameter(parameter: PluginParameter): number {
  return hasSteps(parameter) ? 1 / parameter.step_count : 0.01;
}

/** Returns the index of a value in the listed texts, which is fractional between two of them. */
function indexOf({ texts }: PluginParameter, value: number): number {
  return Math.min(1, Math.max(0, value)) * (texts.length - 1);
}

/** Whether the listed texts have the text of a value. */
export function hasText(parameter: PluginParameter, value: number): boolean {
  if (parameter.texts.length < 2 || hasSteps(parameter) || value === parameter.value) return true;
  const index = indexOf(parameter, value);
  return Math.abs(index - Math.round(index)) < TOLERANCE;
}

/** A number with more digits after the point than are useful, as many VST2 plugins print. */
const LONG_NUMBER = /-?\d+\.\d{4,}/g;

/** Shortens the numbers in a text to about three digits. */
function shortened(text: string): string {
  return text.replace(LONG_NUMBER, (digits) => {
    const size = Math.abs(Number(digits));
    return Number(digits).toFixed(size >= 10 ? 1 : size >= 1 ? 2 : 3);
  });
}

/** Appends the unit to a text of the plugin, unless the text has it already or has no number. */
function withUnit({ unit }: PluginParameter, text: string): string {
  const needsUnit = unit !== '' && /\d/.test(text) && !text.toLowerCase().endsWith(unit.toLowerCase());
  return shortened(needsUnit ? `${text} ${unit}` : text);
}

/** Returns the text between two texts of the plugin; that of the nearer one without numbers. */
function interpolatedText(low: string, high: string, fraction: number): string {
  const [start, end] = [NUMBER_IN_TEXT.exec(low), NUMBER_IN_TEXT.exec(high)];
  const [prefix, suffix] = [start?.[1] ?? '', start?.[3] ?? ''];
  if (!start || !end || prefix !== end[1] || suffix !== end[3]) return fraction < 0.5 ? low : high;
  const [from, to] = [start[2] ?? '', end[2] ?? ''];
  const digits = Math.max(...[from, to].map((number) => (number.split('.')[1] ?? '').length));
  const number = (Number(from) + (Number(to) - Number(from)) * fraction).toFixed(digits);
  return `${prefix}${number}${suffix}`;
}

/**
 * Formats a value with its unit. `exactText` is the plugin's text of a value that the list does not
 * have, if it is known. Parameters without texts are shown in percent.
 */
export function formatParameter(parameter: PluginParameter, value: number, exactText: string | null = null): string {
  const { texts } = parameter;
  if (texts.length < 2 || texts.every((text) => text === '')) {
    if (parameter.text !== '' && value === parameter.value) return withUnit(parameter, parameter.text);
    return `${(value * 100).toFixed(1)} %`;
  }
  const index = indexOf(parameter, value);
  const nearestText = texts[Math.round(index)] ?? '';
  if (hasSteps(parameter) || Math.abs(index - Math.round(index)) < TOLERANCE) return withUnit(parameter, nearestText);
  if (exactText !== null) return withUnit(parameter, exactText);
  if (value === parameter.value && parameter.text !== '') return withUnit(parameter, parameter.text);
  const low = Math.floor(index);
  return `${APPROXIMATE} ${withUnit(parameter, interpolatedText(texts[low] ?? '', texts[low + 1] ?? '', index - low))}`;
}

/** Returns the number in a text; NaN without one. */
function numberIn(text: string): number {
  return Number(NUMBER_IN_TEXT.exec(text.replace('\u2212', '-').trim())?.[2] ?? NaN);
}

/**
 * Reads a text of the plugin, or a number between two of them. Parameters without texts are read in
 * percent. Returns null for any other text.
 */
export function parseParameter(parameter: PluginParameter, text: string): number | null {
  const { texts } = parameter;
  const plainText = text.replace(APPROXIMATE, '').replace('\u2212', '-').trim().toLowerCase();
  const lastIndex = texts.length - 1;
  const textIndex = texts.findIndex((candidate) => [candidate, withUnit(parameter, candidate)].some((known) => known !== '' && known.toLowerCase() === plainText));
  if (lastIndex > 0 && textIndex >= 0) return textIndex / lastIndex;
  const number = numberIn(plainText);
  if (Number.isNaN(number)) return null;
  const numbers = texts.map(numberIn);
  if (lastIndex < 1 || numbers.every((candidate) => Number.isNaN(candidate))) return Math.min(1, Math.max(0, number / 100));
  for (let index = 0; index < lastIndex; index += 1) {
    const [from, to] = [numbers[index] ?? NaN, numbers[index + 1] ?? NaN];
    if (from !== to && Math.min(from, to) <= number && number <= Math.max(from, to)) {
      return roundValue(parameter, (index + (number - from) / (to - from)) / lastIndex);
    }
  }
  // A number beyond the range is the nearer end.
  const [first, end] = [numbers[0] ?? NaN, numbers[lastIndex] ?? NaN];
  if (Number.isNaN(first) || Number.isNaN(end)) return null;
  return Math.abs(number - first) < Math.abs(number - end) ? 0 : 1;
}
