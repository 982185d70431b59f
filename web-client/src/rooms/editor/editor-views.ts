/** The views of the editor's panels, which outlive a change of tabs. */
import { createContext } from 'svelte';

import { TimeView } from '../../canvas/time-view.svelte';
import { RollState } from './roll-state.svelte';

export class EditorViews {
  readonly roll = new RollState();
  readonly automation = new TimeView(28, 1, 2000);
  /** The `framing` of the song to which the automation view was fitted. */
  automationFraming = -1;
}

export const [getEditorViews, setEditorViews] = createContext<EditorViews>();
