/**
 * Where the windows of plugins are in the page, stored in this browser: for each plugin of a song,
 * and for each plugin when it is opened in another song.
 */
import { readStored, writeStored } from '../local-storage';

/** Distance of the upper left corner from that of the page, in CSS pixels. */
export type Place = { x: number; y: number };

/** Where a window is, and how large. */
export type WindowLayout = Place & {
  /** Whether the window is in the dock beside the arrangement, instead of above the page. */
  isDocked: boolean;
  /** How much larger than its normal size the picture is: 1 or 2. */
  zoom: 1 | 2;
};

const LAYOUTS = 'plugin-windows';

/** Maximum number of layouts that are remembered. */
const LAYOUTS_MAX = 200;

/** Part of a panel that stays within the page, in CSS pixels, so that it can be moved back. */
const VISIBLE_PX = 60;

/** Place of the first window that has no remembered place, and the distance to the next one. */
const FIRST: Place = { x: 80, y: 70 };
const STEP_PX = 28;

type Stored = Place & { isDocked?: boolean; zoom?: number };

function isStored(value: unknown): value is Stored {
  return typeof value === 'object' && value !== null && 'x' in value && 'y' in value && Number.isFinite(value.x) && Number.isFinite(value.y);
}

function areStored(value: unknown): value is Record<string, Stored> {
  return typeof value === 'object' && value !== null && Object.values(value).every(isStored);
}

/** Returns a place from which a panel can be moved in a page of a size. */
export function insidePage({ x, y }: Place, pageWidth: number, pageHeight: number): Place {
  return { x: Math.max(0, Math.min(x, pageWidth - VISIBLE_PX)), y: Math.max(0, Math.min(y, pageHeight - VISIBLE_PX)) };
}

/** Returns a place where the whole panel is visible, if it is not larger than the page. */
export function wholeInPage({ x, y }: Place, panel: { width: number; height: number }, page: { width: number; height: number }): Place {
  return { x: Math.max(0, Math.min(x, page.width - panel.width)), y: Math.max(0, Math.min(y, page.height - panel.height)) };
}

/**
 * Returns the remembered layout of a plugin of the song (`key`), or that of the plugin in other
 * songs. `number` is the number of open windows, which are not covered by one without a layout.
 */
export function layoutOf(key: string, pluginId: string, number: number): WindowLayout {
  const layouts = readStored(LAYOUTS, {}, areStored);
  const { x, y, isDocked = false, zoom } = layouts[key] ?? layouts[pluginId] ?? { x: FIRST.x + STEP_PX * number, y: FIRST.y + STEP_PX * number };
  return { x, y, isDocked, zoom: zoom === 2 ? 2 : 1 };
}

/** Remembers the layout of a plugin of the song, and as that of the plugin in other songs. */
export function rememberLayout(key: string, pluginId: string, layout: WindowLayout): void {
  const { [key]: _ofSong, [pluginId]: _ofOthers, ...others } = readStored(LAYOUTS, {}, areStored);
  writeStored(LAYOUTS, Object.fromEntries([...Object.entries(others), [pluginId, layout], [key, layout]].slice(-LAYOUTS_MAX)));
}
