/** Formats and parses the values of effect parameters. */
import { reachesSilence, type EffectParameter } from './effect-kinds';
import { formatPan, MINUS, parseNumber } from './format';

const INFINITE = `${MINUS}\u221e`;
/** Note values: length in quarter notes, and name. `D` marks dotted notes, `T` triplets. */
const NOTE_LENGTHS: readonly (readonly [beats: number, name: string])[] = [8, 4, 2, 1, 0.5, 0.25, 0.125, 0.0625].flatMap(
  (beats) => {
    const name = beats > 4 ? `${beats / 4} bars` : `1/${4 / beats}`;
    return [
      [beats, name],
      [beats * 1.5, `${name} D`],
      [(beats * 2) / 3, `${name} T`],
    ] as const;
  },
);

function withTypographicMinus(text: string): string {
  return text.startsWith('-') ? `${MINUS}${text.slice(1)}` : text;
}

/** Formats a number with about three digits, without trailing zeros. */
function formatBriefly(value: number): string {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return withTypographicMinus(String(Number(value.toFixed(digits))));
}

/** Formats a number with three digits. Its text keeps the same width while the value changes. */
function formatThreeDigits(value: number): string {
  return value.toFixed(Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2);
}

function formatDecibels(parameter: EffectParameter, value: number): string {
  if (reachesSilence(parameter) && value <= parameter.min) return INFINITE;
  const text = withTypographicMinus(value.toFixed(1));
  const plainText = text === `${MINUS}0.0` ? '0.0' : text;
  return `${parameter.max > 0 && parameter.min < 0 && value >= 0.05 ? '+' : ''}${plainText} dB`;
}

function formatNoteLength(value: number): string {
  const namedLength = NOTE_LENGTHS.find(([beats]) => Math.abs(beats - value) < beats * 1e-3);
  return namedLength ? namedLength[1] : `${formatBriefly(value)} \u2669`;
}

/** Formats a value with its unit: `−18.0 dB`, `1.20 kHz`, `35 %` or `On`. */
export function formatValue(parameter: EffectParameter, value: number): string {
  if (parameter.scale === 'switch') return value >= 0.5 ? 'On' : 'Off';
  if (parameter.scale === 'choice') return parameter.choices[value] ?? String(value);
  switch (parameter.unit) {
    case 'decibels':
      return formatDecibels(parameter, value);
    case 'hertz':
      return value >= 1000 ? `${formatThreeDigits(value / 1000)} kHz` : `${formatThreeDigits(value)} Hz`;
    case 'milliseconds':
      return value >= 1000 ? `${formatThreeDigits(value / 1000)} s` : `${formatThreeDigits(value)} ms`;
    case 'seconds':
      return `${formatThreeDigits(value)} s`;
    case 'share':
      return `${withTypographicMinus((value * 100).toFixed(0))} %`;
    case 'ratio':
      return `${formatBriefly(value)}:1`;
    case 'beats':
      return formatNoteLength(value);
    case 'degrees':
      return `${formatBriefly(value)}\u00b0`;
    case 'octaves':
      return `${formatBriefly(value)} oct`;
    case 'bits':
      return `${formatBriefly(value)} bit`;
    case 'number':
      return isBalance(parameter) ? formatPan(value) : formatBriefly(value);
  }
}

function isBalance({ id, min, max }: EffectParameter): boolean {
  return /(^|_)(balance|pan)$/.test(id) && min === -1 && max === 1;
}

function parseValidNumber(text: string): number | null {
  const value = parseNumber(text);
  return value === null || Number.isNaN(value) ? null : value;
}

/** Reads a text that {@link formatValue} returns, or a number; null for any other text. */
export function parseValue(parameter: EffectParameter, text: string): number | null {
  const plainText = text.trim().toLowerCase();
  if (parameter.scale === 'switch') return plainText === 'on' ? 1 : plainText === 'off' ? 0 : parseValidNumber(plainText);
  if (parameter.scale === 'choice') {
    const choice = parameter.choices.findIndex((name) => name.toLowerCase() === plainText);
    return choice >= 0 ? choice : parseValidNumber(plainText);
  }
  if (isBalance(parameter)) {
    const side = /^([lr])\s*(\d{1,3})$/.exec(plainText);
    if (side) return (Number(side[2]) / 100) * (side[1] === 'l' ? -1 : 1);
    if (plainText === 'c') return 0;
  }
  if (parameter.unit === 'beats') {
    const namedLength = NOTE_LENGTHS.find(([, name]) => name.toLowerCase() === plainText);
    if (namedLength) return namedLength[0];
    const fraction = /^(\d+)\s*\/\s*(\d+)$/.exec(plainText);
    if (fraction) return (4 * Number(fraction[1])) / Number(fraction[2]);
  }
  const value = parseValidNumber(plainText);
  if (value === null) return null;
  if (parameter.unit === 'share') return value / 100;
  if (parameter.unit === 'hertz') return /k(hz)?$/.test(plainText) ? value * 1000 : value;
  if (parameter.unit === 'milliseconds') return /[^m]s$/.test(plainText) ? value * 1000 : value;
  if (parameter.unit === 'seconds') return plainText.endsWith('ms') ? value / 1000 : value;
  return value;
}
