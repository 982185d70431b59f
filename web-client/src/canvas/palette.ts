/** The colours and fonts of drawings on canvases. */

/** The CSS custom properties of `tokens.css`, by the names that drawing code uses. */
const TOKENS = {
  ground: '--ground',
  panel: '--panel',
  raised: '--raised',
  line: '--line',
  lineSoft: '--line-soft',
  lineFaint: '--line-faint',
  text: '--text',
  muted: '--muted',
  accent: '--accent',
  accentBright: '--accent-bright',
  error: '--error',
  frozen: '--frozen',
  levelLow: '--level-low',
  levelMid: '--level-mid',
  levelHigh: '--level-high',
  ivory: '--ivory',
  ivoryLine: '--ivory-line',
  ebony: '--ebony',
  keyName: '--key-name',
  ghostNote: '--ghost-note',
} as const;

/** The colours, as `#rrggbb`. */
export type Palette = Readonly<Record<keyof typeof TOKENS, string>>;

export const FONT_SMALL = '600 11px "Inter Variable", sans-serif';
export const FONT_NUMBERS = '11px "JetBrains Mono Variable", monospace';

let cached: Palette | null = null;

/** Returns the colours of the page's style sheet. The first call reads them. */
export function palette(): Palette {
  cached ??= readPalette();
  return cached;
}

/** Adds an opacity, 0..1, to a colour in the form `#rrggbb`. */
export function withAlpha(hex: string, alpha: number): string {
  const value = Number.parseInt(hex.slice(1), 16);
  return `rgba(${(value >> 16) & 255}, ${(value >> 8) & 255}, ${value & 255}, ${alpha})`;
}

function readPalette(): Palette {
  const style = getComputedStyle(document.documentElement);
  const entries = Object.entries(TOKENS).map(([name, token]) => [name, style.getPropertyValue(token).trim()]);
  return Object.fromEntries(entries) as Palette;
}
