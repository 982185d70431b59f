/** The parts of the page that are shown, and how the page behaves. */
import type { EditorTabId } from '../../rooms/editor/tabs';
import { Layout } from './layout.svelte';
import { Preferences } from './preferences.svelte';

export type DialogName = 'export' | 'shortcuts' | 'password' | 'api-keys' | 'administration';

export class View {
  readonly layout = new Layout();
  readonly preferences = new Preferences();
  /** The open dialog; null if none. */
  dialog = $state<DialogName | null>(null);
  editorTab = $state<EditorTabId>('roll');
  soundSettingsShown = $state(false);
  /** Whether the mixer shows, and so measures, the loudness of the master. */
  loudnessShown = $state(true);

  /** Shows the editor with one of its tabs. */
  showEditor(tab: EditorTabId): void {
    this.editorTab = tab;
    this.layout.show('editor');
  }
}
