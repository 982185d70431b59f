/** Formatting and parsing the values of effect parameters. */
import { reachesSilence, type EffectParameter } from './effect-kinds';
import { formatPan, MINUS, parseNumber } from './format';

const INFINITE = `${MINUS}\u221e`;
/** Lengths of notes, in quarter notes, by their names. */
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

function signed(text: string): string {
  return text.startsWith('-') ? `${MINUS}${text.slice(1)}` : text;
}

/** A number with about three digits, without trailing zeros. */
function brief(value: number): string {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return signed(String(Number(value.toFixed(digits))));
}

/** A number with three digits, so that its width stays constant while it changes. */
function threeDigits(value: number): string {
  return value.toFixed(Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2);
}

function decibels(parameter: EffectParameter, value: number): string {
  if (reachesSilence(parameter) && value <= parameter.min) return INFINITE;
  const text = signed(value.toFixed(1));
  const plain = text === `${MINUS}0.0` ? '0.0' : text;
  return `${parameter.max > 0 && parameter.min < 0 && value >= 0.05 ? '+' : ''}${plain} dB`;
}

function noteLength(value: number): string {
  const known = NOTE_LENGTHS.find(([beats]) => Math.abs(beats - value) < beats * 1e-3);
  return known ? known[1] : `${brief(value)} \u2669`;
}

/** `−18.0 dB`, `1.20 kHz`, `35 %`, `On`: a value with its unit. */
export function formatValue(parameter: EffectParameter, value: number): string {
  if (parameter.scale === 'switch') return value >= 0.5 ? 'On' : 'Off';
  if (parameter.scale === 'choice') return parameter.choices[value] ?? String(value);
  switch (parameter.unit) {
    case 'decibels':
      return decibels(parameter, value);
    case 'hertz':
      return value >= 1000 ? `${threeDigits(value / 1000)} kHz` : `${threeDigits(value)} Hz`;
    case 'milliseconds':
      return value >= 1000 ? `${threeDigits(value / 1000)} s` : `${threeDigits(value)} ms`;
    case 'seconds':
      return `${threeDigits(value)} s`;
    case 'share':
      return `${signed((value * 100).toFixed(0))} %`;
    case 'ratio':
      return `${brief(value)}:1`;
    case 'beats':
      return noteLength(value);
    case 'degrees':
      return `${brief(value)}\u00b0`;
    case 'octaves':
      return `${brief(value)} oct`;
    case 'bits':
      return `${brief(value)} bit`;
    case 'number':
      return isBalance(parameter) ? formatPan(value) : brief(value);
  }
}

function isBalance({ id, min, max }: EffectParameter): boolean {
  return /(^|_)(balance|pan)$/.test(id) && min === -1 && max === 1;
}

function number(text: string): number | null {
  const value = parseNumber(text);
  return value === null || Number.isNaN(value) ? null : value;
}

/** Reads the output of {@link formatValue} and plain numbers; null for any other text. */
export function parseValue(parameter: EffectParameter, text: string): number | null {
  const plain = text.trim().toLowerCase();
  if (parameter.scale === 'switch') return plain === 'on' ? 1 : plain === 'off' ? 0 : number(plain);
  if (parameter.scale === 'choice') {
    const choice = parameter.choices.findIndex((name) => name.toLowerCase() === plain);
    return choice >= 0 ? choice : number(plain);
  }
  if (isBalance(parameter)) {
    const side = /^([lr])\s*(\d{1,3})$/.exec(plain);
    if (side) return (Number(side[2]) / 100) * (side[1] === 'l' ? -1 : 1);
    if (plain === 'c') return 0;
  }
  if (parameter.unit === 'beats') {
    const known = NOTE_LENGTHS.find(([, name]) => name.toLowerCase() === plain);
    if (known) return known[0];
    const fraction = /^(\d+)\s*\/\s*(\d+)$/.exec(plain);
    if (fraction) return (4 * Number(fraction[1])) / Number(fraction[2]);
  }
  const value = number(plain);
  if (value === null) return null;
  if (parameter.unit === 'share') return value / 100;
  if (parameter.unit === 'hertz') return /k(hz)?$/.test(plain) ? value * 1000 : value;
  if (parameter.unit === 'milliseconds') return /[^m]s$/.test(plain) ? value * 1000 : value;
  if (parameter.unit === 'seconds') return plain.endsWith('ms') ? value / 1000 : value;
  return value;
}
