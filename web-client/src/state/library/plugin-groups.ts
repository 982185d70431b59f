/** Groups lists of plugins by maker or by kind, and searches them. */
import type { VstPlugin } from '../../api/types';

/** How lists of plugins are grouped. */
export type PluginGrouping = 'maker' | 'kind';

export const PLUGIN_GROUPINGS: readonly { value: PluginGrouping; label: string }[] = [
  { value: 'maker', label: 'By maker' },
  { value: 'kind', label: 'By kind' },
];

/** Maker that the page shows for plugins whose module names none. */
export const UNKNOWN_MAKER = 'Unknown maker';
/** Heading of the plugins that state no kind. */
const OTHER_KIND = 'Other';

/** VST3 sub-categories that say nothing about the kind of a plugin. */
const GENERAL_CATEGORIES = ['Fx', 'Instrument', 'Mono', 'Stereo', 'Surround', 'Ambisonics', 'OnlyRT', 'OnlyOfflineProcess', 'NoOfflineProcess', 'Up-Downmix'];

export type PluginGroup = { name: string; plugins: VstPlugin[] };

/** Returns the maker of a plugin as it is shown. */
export const makerOf = ({ vendor }: Pick<VstPlugin, 'vendor'>): string => vendor || UNKNOWN_MAKER;

/** Returns the kind of a plugin, such as `Reverb`; null if the plugin states none, as in VST2. */
export function kindOf({ categories }: Pick<VstPlugin, 'categories'>): string | null {
  return categories.find((category) => !GENERAL_CATEGORIES.includes(category)) ?? null;
}

/**
 * Groups plugins by maker or by kind. The groups and the plugins of a group are sorted by name;
 * plugins that state no kind come last.
 */
export function groupPlugins(plugins: readonly VstPlugin[], grouping: PluginGrouping): PluginGroup[] {
  const nameOf = (plugin: VstPlugin): string => (grouping === 'maker' ? makerOf(plugin) : (kindOf(plugin) ?? OTHER_KIND));
  const groups = new Map<string, VstPlugin[]>();
  for (const plugin of plugins) groups.set(nameOf(plugin), [...(groups.get(nameOf(plugin)) ?? []), plugin]);
  return [...groups]
    .map(([name, members]) => ({ name, plugins: members.sort((a, b) => a.name.localeCompare(b.name)) }))
    .sort((a, b) => Number(a.name === OTHER_KIND) - Number(b.name === OTHER_KIND) || a.name.localeCompare(b.name));
}

/** Returns the plugins that match every word of `query` by name, maker, format or category. */
export function searchPlugins(plugins: readonly VstPlugin[], query: string): VstPlugin[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  return plugins.filter(({ name, vendor, format, categories }) => {
    const text = [name, vendor, format, ...categories].join(' ').toLowerCase();
    return words.every((word) => text.includes(word));
  });
}
