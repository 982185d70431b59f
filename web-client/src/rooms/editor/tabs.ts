/** The table of the editor's tabs. A new tab needs an id and an entry here, and its components. */
import type { Component } from 'svelte';

import type { Editing } from '../../state/contexts';
import AutomationTab from '../automation/automation-tab.svelte';
import AutomationTools from '../automation/automation-tools.svelte';
import EffectsTab from '../effects/effects-tab.svelte';
import EffectsTools from '../effects/effects-tools.svelte';
import PluginTab from '../plugin/plugin-tab.svelte';
import PluginTools from '../plugin/plugin-tools.svelte';
import ClipTab from './clip-tab.svelte';
import ClipTools from './clip-tools.svelte';
import KeysTab from './keys-tab.svelte';

export type EditorTabId = 'roll' | 'plugin' | 'effects' | 'automation' | 'keys';

export type EditorTab = {
  id: EditorTabId;
  title: string;
  /** The shortcut that shows the tab. `keys` is its text in the dialog of shortcuts. */
  shortcut?: { keys: string; matches: (event: KeyboardEvent) => boolean };
  content: Component;
  /** The controls that the bar of the editor contains while the tab is shown. */
  tools?: Component;
  /** Whether the tab shows parts of a track that cannot be edited while the track is frozen. */
  showsFrozenParts?: boolean;
  /** Whether the tab can be chosen. A tab without this function can always be chosen. */
  isEnabled?: (editing: Editing) => boolean;
};

export const EDITOR_TABS: readonly EditorTab[] = [
  { id: 'roll', title: 'Piano roll', content: ClipTab, tools: ClipTools, showsFrozenParts: true },
  { id: 'plugin', title: 'Plugin', content: PluginTab, tools: PluginTools, showsFrozenParts: true },
  { id: 'effects', title: 'Effects', content: EffectsTab, tools: EffectsTools, showsFrozenParts: true },
  { id: 'automation', title: 'Automation', content: AutomationTab, tools: AutomationTools },
  { id: 'keys', title: 'Keys', content: KeysTab },
];
