/** The selected track, clip, notes and effect of the open song. */
import { palette } from '../../canvas/palette';
import { findItem } from '../../project/edit-items';
import { MASTER_ID, type AudioItem, type MidiItem, type Project, type Track } from '../../project/model';

/** The part of the page whose selection the Delete, arrow and Duplicate keys edit. */
export type EditFocus = 'tracks' | 'notes' | 'effects' | 'automation';

export class Selection {
  trackId = $state<string | null>(null);
  /** Whether the master is selected instead of a track. */
  isMaster = $state(false);
  effectId = $state<string | null>(null);
  itemId = $state<string | null>(null);
  /** Indices of the selected notes in the selected clip. */
  notes = $state.raw<ReadonlySet<number>>(new Set());
  focus = $state<EditFocus>('tracks');

  readonly #project: () => Project;
  readonly track: Track | null = $derived.by(
    () => this.#project().tracks.find((track) => track.id === this.trackId) ?? null,
  );
  /** Id of the selected track, or `MASTER_ID` for the master; null if neither is selected. */
  readonly channelId: string | null = $derived(this.isMaster ? MASTER_ID : (this.track?.id ?? null));
  /** Name and colour of the selected track or the master. */
  readonly channel: { name: string; color: string } | null = $derived(
    this.isMaster ? { name: 'Master', color: palette().accent } : this.track,
  );
  readonly midiClip: { track: Track; item: MidiItem } | null = $derived.by(() => {
    const itemInTrack = findItem(this.#project(), this.itemId);
    return itemInTrack?.item.type === 'midi' ? { track: itemInTrack.track, item: itemInTrack.item } : null;
  });
  readonly audioClip: { track: Track; item: AudioItem } | null = $derived.by(() => {
    const itemInTrack = findItem(this.#project(), this.itemId);
    return itemInTrack?.item.type === 'audio' ? { track: itemInTrack.track, item: itemInTrack.item } : null;
  });

  constructor(project: () => Project) {
    this.#project = project;
  }

  selectTrack(id: string | null): void {
    if (this.trackId === id && !this.isMaster) return;
    this.trackId = id;
    this.isMaster = false;
    this.focus = 'tracks';
  }

  selectMaster(): void {
    this.isMaster = true;
    this.focus = 'tracks';
  }

  /** Selects a track, or the master by `MASTER_ID`. */
  selectChannel(channelId: string): void {
    if (channelId === MASTER_ID) this.selectMaster();
    else this.selectTrack(channelId);
  }

  selectItem(trackId: string, id: string | null): void {
    this.trackId = trackId;
    this.isMaster = false;
    if (this.itemId !== id) this.notes = new Set();
    this.itemId = id;
    this.focus = 'tracks';
  }

  /**
   * Selects the first track with notes of a newly opened song, and the track's clip with the most
   * notes. If no track has notes, selects the first track.
   */
  startWith(project: Project): void {
    this.notes = new Set();
    this.isMaster = false;
    this.effectId = null;
    const track = project.tracks.find((candidate) => itemWithMostNotes(candidate) !== null) ?? project.tracks[0];
    this.trackId = track?.id ?? null;
    this.itemId = track ? (itemWithMostNotes(track)?.id ?? null) : null;
  }
}

/** Returns the track's clip with the most notes; null if the track has no notes. */
function itemWithMostNotes(track: Track): MidiItem | null {
  let itemSoFar: MidiItem | null = null;
  for (const item of track.items) {
    if (item.type === 'midi' && item.notes.length > (itemSoFar?.notes.length ?? 0)) itemSoFar = item;
  }
  return itemSoFar;
}
