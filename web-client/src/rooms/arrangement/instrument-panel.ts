import type { Track } from '../../project/model';
import { LazyPart } from '../../ui/lazy-part';

/** The properties of the open list of instruments of a track. */
export type InstrumentPanelProps = {
  track: Track;
  /** The button of the list. Clicks on it do not close the list. */
  opener: HTMLElement;
  onclose: () => void;
};

export const INSTRUMENT_PANEL = new LazyPart<InstrumentPanelProps>('The list of instruments', () => import('./instrument-panel.svelte'));
