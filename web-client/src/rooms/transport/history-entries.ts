/** The list of edits in the Edit menu. */
import type { Song } from '../../state/editing/song.svelte';
import type { MenuEntry } from '../../ui/menu-entry';

/** Maximum number of edits in the list. */
const SHOWN_MAX = 30;

/**
 * Returns a choice among the states of the song, the newest first: after each edit, and before all.
 */
export function historyEntries(song: Song): MenuEntry[] {
  const states = ['Opened', ...song.editLabels].map((label, index) => ({ value: String(index), label }));
  const firstStep = Math.max(0, Math.min(states.length - SHOWN_MAX, song.editCount - SHOWN_MAX / 2));
  return [
    {
      kind: 'choice',
      heading: 'Go back or forward to',
      value: String(song.editCount),
      options: states.slice(firstStep, firstStep + SHOWN_MAX).reverse(),
      choose: (value) => song.goToEdit(Number(value)),
    },
  ];
}
