/** The layout of the page, the user's preferences, and the dialogs and panels that are shown. */
import type { EditorTabId } from '../../rooms/editor/tabs';
import { Layout } from './layout.svelte';
import { Preferences } from './preferences.svelte';

export type DialogName = 'export' | 'shortcuts' | 'password' | 'api-keys' | 'administration' | 'plugins' | 'latency';

export class View {
  readonly layout = new Layout();
  readonly preferences = new Preferences();
  /** The open dialog; null if no dialog is open. */
  dialog = $state<DialogName | null>(null);
  editorTab = $state<EditorTabId>('roll');
  soundSettingsShown = $state(false);
  /** Whether the mixer shows the loudness of the master, which is measured only then. */
  loudnessShown = $state(true);

  /** Shows the editor and opens one of its tabs. */
  showEditor(tab: EditorTabId): void {
    this.editorTab = tab;
    this.layout.show('editor');
  }
}
