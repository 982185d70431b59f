/** The tokens of the style sheet that canvases draw with; both lists change together. */
export const PALETTE = {
  ground: '#0f1113',
  panel: '#15181b',
  raised: '#1b1f23',
  line: '#2b3137',
  lineSoft: '#1d2125',
  lineFaint: '#16191c',
  text: '#e6e8ea',
  muted: '#8d969f',
  accent: '#f0a13c',
  accentBright: '#ffc676',
  error: '#e5604d',
  levelLow: '#3f8f63',
  levelMid: '#6cc28a',
  levelHigh: '#e0b24a',
  ivory: '#d3d7da',
  ivoryLine: '#8b9298',
  ebony: '#24282c',
} as const;

export const FONT_SMALL = '600 11px "Inter Variable", sans-serif';
export const FONT_NUMBERS = '11px "JetBrains Mono Variable", monospace';

/** `#rrggbb` with an opacity, 0..1. */
export function withAlpha(hex: string, alpha: number): string {
  const value = Number.parseInt(hex.slice(1), 16);
  return `rgba(${(value >> 16) & 255}, ${(value >> 8) & 255}, ${value & 255}, ${alpha})`;
}
