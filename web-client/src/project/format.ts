/** Formats and parses positions, times, levels and other values that the page shows. */
import type { BarPosition } from './grid';
import { SILENCE_DB } from './model';

/** The typographic minus. */
export const MINUS = '\u2212';

/** Formats a position as bar, beat and ticks: `17.3.240`. */
export function formatBarPosition(position: BarPosition): string {
  return `${position.bar}.${position.beat}.${String(position.tick).padStart(3, '0')}`;
}

/** Reads `17`, `17.3` or `17.3.240`; null for any other text. */
export function parseBarPosition(text: string): BarPosition | null {
  const match = /^\s*(\d{1,6})(?:[.:\s](\d{1,3}))?(?:[.:\s](\d{1,5}))?\s*$/.exec(text);
  if (!match) return null;
  const bar = Number(match[1]);
  const beat = Number(match[2] ?? 1);
  return bar < 1 || beat < 1 ? null : { bar, beat, tick: Number(match[3] ?? 0) };
}

/** Formats a time as minutes, seconds and milliseconds: `00:38.214`. */
export function formatTime(secs: number): string {
  const totalMs = Math.max(0, Math.floor(secs * 1000));
  const minutes = Math.floor(totalMs / 60000);
  const msOfMinute = totalMs - minutes * 60000;
  const secsText = String(Math.floor(msOfMinute / 1000)).padStart(2, '0');
  return `${String(minutes).padStart(2, '0')}:${secsText}.${String(msOfMinute % 1000).padStart(3, '0')}`;
}

/** Reads `1:23.5` or `83.5` as seconds; null for any other text. */
export function parseTime(text: string): number | null {
  const match = /^\s*(?:(\d{1,4}):)?(\d{1,6}(?:\.\d*)?)\s*$/.exec(text);
  return match ? Number(match[1] ?? 0) * 60 + Number(match[2]) : null;
}

/** Formats a level in decibels: `−3.0`, `0.0`, `+1.5`, or `−∞` for silence. */
export function formatDb(db: number): string {
  if (db <= SILENCE_DB) return `${MINUS}\u221e`;
  const roundedDb = Math.round(db * 10) / 10;
  if (roundedDb === 0) return '0.0';
  return roundedDb < 0 ? `${MINUS}${(-roundedDb).toFixed(1)}` : `+${roundedDb.toFixed(1)}`;
}

/** Formats a measured level without unit and plus sign: `−14.2`, or `−∞` for silence. */
export function formatLevel(level: number): string {
  return formatDb(level).replace('+', '');
}

/** Formats a measured level with its unit: `−14.0 LUFS`, or `silent`. */
export function formatMeasured(level: number | null | undefined, unit: string): string {
  return level === null || level === undefined ? 'silent' : `${level.toFixed(1).replace('-', MINUS)} ${unit}`;
}

/**
 * Reads the number at the start of a text, also with a typographic minus or a decimal comma.
 * Returns -Infinity for `−∞`, and null for a text that does not start with a number.
 */
export function parseNumber(text: string): number | null {
  const plainText = text.trim().replace(MINUS, '-').replace(',', '.');
  if (/^-?(\u221e|inf)$/i.test(plainText)) return -Infinity;
  const match = /^[+-]?\d*\.?\d+/.exec(plainText);
  return match ? Number(match[0]) : null;
}

/** Formats a pan of -1..1 as `C`, `L30` or `R100`. */
export function formatPan(pan: number): string {
  const percent = Math.round(Math.abs(pan) * 100);
  if (percent === 0) return 'C';
  return `${pan < 0 ? 'L' : 'R'}${percent}`;
}

/**
 * Reads `C`, `L30`, `R100` or a percentage as a pan, of which -1 is left and 1 is right. Does not
 * limit the pan to this range. Returns null for other texts.
 */
export function parsePan(text: string): number | null {
  const plainText = text.trim().toUpperCase();
  if (plainText === 'C') return 0;
  const side = /^([LR])\s*(\d{1,3})$/.exec(plainText);
  if (side) return (Number(side[2]) / 100) * (side[1] === 'L' ? -1 : 1);
  const parsedNumber = parseNumber(plainText);
  return parsedNumber === null ? null : parsedNumber / 100;
}

const KEY_NAMES = ['C', 'C♯', 'D', 'D♯', 'E', 'F', 'F♯', 'G', 'G♯', 'A', 'A♯', 'B'] as const;

/** Returns the name of a pitch class, 0..11: `C` for 0. */
export function pitchClassName(pitchClass: number): string {
  return KEY_NAMES[pitchClass % 12] ?? '';
}

/** Returns the name of a MIDI key: `C4` for key 60. */
export function keyName(key: number): string {
  return `${KEY_NAMES[key % 12] ?? ''}${Math.floor(key / 12) - 1}`;
}

/** Whether a MIDI key is black. */
export function isBlackKey(key: number): boolean {
  return [1, 3, 6, 8, 10].includes(key % 12);
}

/** Formats a size in decimal units: `3.4 MB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  const units = ['kB', 'MB', 'GB', 'TB'];
  let value = bytes / 1000;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${value.toFixed(value < 10 ? 1 : 0)} ${units[unit]}`;
}

/** Formats a past time: `just now`, `4 s ago`, `12 min ago`, `3 h ago`, or its date. */
export function formatAgo(thenMs: number, nowMs: number): string {
  const secs = Math.floor((nowMs - thenMs) / 1000);
  if (secs < 2) return 'just now';
  if (secs < 60) return `${secs} s ago`;
  if (secs < 3600) return `${Math.floor(secs / 60)} min ago`;
  if (secs < 86400) return `${Math.floor(secs / 3600)} h ago`;
  return new Date(thenMs).toLocaleDateString();
}

/** Formats a time as `2026-11-21 22:31`, in the browser's time zone. */
export function formatWhen(rfc3339: string): string {
  const time = new Date(rfc3339);
  const twoDigits = (value: number): string => String(value).padStart(2, '0');
  const day = `${time.getFullYear()}-${twoDigits(time.getMonth() + 1)}-${twoDigits(time.getDate())}`;
  return `${day} ${twoDigits(time.getHours())}:${twoDigits(time.getMinutes())}`;
}

/** Shortens a hash to its first four and last two digits, which suffice to compare it by eye. */
export function shortHash(hash: string): string {
  return hash.length <= 8 ? hash : `${hash.slice(0, 4)}\u2026${hash.slice(-2)}`;
}
