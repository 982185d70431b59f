/** The tabs of the editor, as one table. A new panel is an entry here and its components. */
import type { Component } from 'svelte';

import type { Editing } from '../../state/contexts';
import AutomationTab from '../automation/automation-tab.svelte';
import AutomationTools from '../automation/automation-tools.svelte';
import EffectsTab from '../effects/effects-tab.svelte';
import EffectsTools from '../effects/effects-tools.svelte';
import ClipTab from './clip-tab.svelte';
import ClipTools from './clip-tools.svelte';
import KeysPanel from './keys-panel.svelte';

export type EditorTabId = 'roll' | 'effects' | 'automation' | 'keys';

export type EditorTab = {
  id: EditorTabId;
  title: string;
  /** Shows the tab; `keys` are its keys as the shortcuts dialog shows them. */
  shortcut?: { keys: string; matches: (event: KeyboardEvent) => boolean };
  content: Component;
  /** Controls in the bar beside the tabs, while the tab is shown. */
  tools?: Component;
  /** Whether the tab can be chosen; without it, always. */
  isEnabled?: (editing: Editing) => boolean;
};

export const EDITOR_TABS: readonly EditorTab[] = [
  { id: 'roll', title: 'Piano roll', content: ClipTab, tools: ClipTools },
  { id: 'effects', title: 'Effects', content: EffectsTab, tools: EffectsTools },
  { id: 'automation', title: 'Automation', content: AutomationTab, tools: AutomationTools },
  { id: 'keys', title: 'Keys', content: KeysPanel },
];
