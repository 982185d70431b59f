/** The table of the editor's tabs. A new tab needs an id and an entry here, and its components. */
import type { Component } from 'svelte';

import type { Editing } from '../../state/contexts';
import { LazyPart } from '../../ui/lazy-part';
import ClipTab from './clip-tab.svelte';
import ClipTools from './clip-tools.svelte';

export type EditorTabId = 'roll' | 'plugin' | 'effects' | 'automation' | 'keys';

export type EditorTab = {
  id: EditorTabId;
  title: string;
  /** The shortcut that shows the tab. `keys` is its text in the dialog of shortcuts. */
  shortcut?: { keys: string; matches: (event: KeyboardEvent) => boolean };
  content: Component | LazyPart;
  /** The controls that the bar of the editor contains while the tab is shown. */
  tools?: Component | LazyPart;
  /** Whether the tab shows parts of a track that cannot be edited while the track is frozen. */
  showsFrozenParts?: boolean;
  /** Whether the tab can be chosen. A tab without this function can always be chosen. */
  isEnabled?: (editing: Editing) => boolean;
};

const PLUGIN_TAB = new LazyPart('The tab Plugin', () => import('../plugin/plugin-tab.svelte'));
const PLUGIN_TOOLS = new LazyPart('The tab Plugin', () => import('../plugin/plugin-tools.svelte'));
const EFFECTS_TAB = new LazyPart('The tab Effects', () => import('../effects/effects-tab.svelte'));
const EFFECTS_TOOLS = new LazyPart('The tab Effects', () => import('../effects/effects-tools.svelte'));
const AUTOMATION_TAB = new LazyPart('The tab Automation', () => import('../automation/automation-tab.svelte'));
const AUTOMATION_TOOLS = new LazyPart('The tab Automation', () => import('../automation/automation-tools.svelte'));
const KEYS_TAB = new LazyPart('The tab Keys', () => import('./keys-tab.svelte'));

export const EDITOR_TABS: readonly EditorTab[] = [
  { id: 'roll', title: 'Piano roll', content: ClipTab, tools: ClipTools, showsFrozenParts: true },
  { id: 'plugin', title: 'Plugin', content: PLUGIN_TAB, tools: PLUGIN_TOOLS, showsFrozenParts: true },
  { id: 'effects', title: 'Effects', content: EFFECTS_TAB, tools: EFFECTS_TOOLS, showsFrozenParts: true },
  { id: 'automation', title: 'Automation', content: AUTOMATION_TAB, tools: AUTOMATION_TOOLS },
  { id: 'keys', title: 'Keys', content: KEYS_TAB },
];

/** The parts of the tabs whose scripts are not loaded with the page. */
export const LAZY_TAB_PARTS: readonly LazyPart[] = EDITOR_TABS.flatMap(({ content, tools }) => [content, tools]).filter((part) => part instanceof LazyPart);
