/** Where the windows of plugins are in the page. Each plugin's window has a remembered place. */
import { readStored, writeStored } from '../../state/local-storage';

/** Distance of the upper left corner from that of the page, in CSS pixels. */
export type Place = { x: number; y: number };

const PLACES = 'plugin-windows';

/** Maximum number of plugins whose places are remembered. */
const PLACES_MAX = 100;

/** Part of a panel that stays within the page, in CSS pixels, so that it can be moved back. */
const VISIBLE_PX = 60;

/** Place of the first window that has no remembered place, and the distance to the next one. */
const FIRST: Place = { x: 80, y: 70 };
const STEP_PX = 28;

function isPlace(value: unknown): value is Place {
  return typeof value === 'object' && value !== null && 'x' in value && 'y' in value && Number.isFinite(value.x) && Number.isFinite(value.y);
}

function arePlaces(value: unknown): value is Record<string, Place> {
  return typeof value === 'object' && value !== null && Object.values(value).every(isPlace);
}

/** Returns a place from which a panel can be moved in a page of a size. */
export function insidePage({ x, y }: Place, pageWidth: number, pageHeight: number): Place {
  return { x: Math.max(0, Math.min(x, pageWidth - VISIBLE_PX)), y: Math.max(0, Math.min(y, pageHeight - VISIBLE_PX)) };
}

/** Returns the remembered place of a plugin's window; otherwise one by its number. */
export function placeOf(pluginId: string, number: number): Place {
  const place = readStored(PLACES, {}, arePlaces)[pluginId] ?? { x: FIRST.x + STEP_PX * number, y: FIRST.y + STEP_PX * number };
  return insidePage(place, window.innerWidth, window.innerHeight);
}

/** Remembers the place of a plugin's window. */
export function rememberPlace(pluginId: string, place: Place): void {
  const { [pluginId]: _previous, ...others } = readStored(PLACES, {}, arePlaces);
  writeStored(PLACES, Object.fromEntries([...Object.entries(others), [pluginId, place]].slice(-PLACES_MAX)));
}
