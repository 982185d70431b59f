/** The state of the editor's views, which stays when another tab is shown. */
import { createContext } from 'svelte';

import { TimeView } from '../../canvas/time-view.svelte';
import type { Song } from '../../state/editing/song.svelte';
import { RollState } from './roll-state.svelte';

export class EditorViews {
  readonly roll: RollState;
  readonly automation = new TimeView(28, 1, 2000);
  /** The last `song.framing` for which the automation view was zoomed to the song. */
  automationFraming = -1;

  constructor(song: Song) {
    this.roll = new RollState(song);
  }
}

export const [getEditorViews, setEditorViews] = createContext<EditorViews>();
