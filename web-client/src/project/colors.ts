/**
 * Track colours of equal lightness: OKLCH with L 0.73 and C 0.115, at ten hues that are easy to
 * tell apart.
 */
const TRACK_COLORS = [
  '#e49069',
  '#cca04b',
  '#93b564',
  '#4bbf9f',
  '#6daded',
  '#a99aea',
  '#db8ab8',
  '#32bbcf',
  '#e68990',
  '#b2ac4f',
] as const;

/** The colours from which a user chooses, with their names. */
export const COLOR_CHOICES: readonly { value: string; label: string }[] = [
  'Orange',
  'Gold',
  'Green',
  'Teal',
  'Blue',
  'Violet',
  'Pink',
  'Cyan',
  'Red',
  'Olive',
].map((label, index) => ({ value: trackColor(index), label }));

/** Returns the colour of the track at `index` as #rrggbb. The colours repeat after ten tracks. */
export function trackColor(index: number): string {
  return TRACK_COLORS[index % TRACK_COLORS.length] ?? TRACK_COLORS[0];
}
