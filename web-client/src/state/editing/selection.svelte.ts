/** The selected track, clip, notes and effect of the open song. */
import { palette } from '../../canvas/palette';
import { findItem, itemId } from '../../project/edit-items';
import { MASTER_ID, type AudioItem, type Item, type MidiItem, type Project, type Track } from '../../project/model';

/** The part of the page whose selection the Delete, arrow and Duplicate keys edit. */
export type EditFocus = 'tracks' | 'notes' | 'effects' | 'automation';

export class Selection {
  trackId = $state<string | null>(null);
  /** Whether the master is selected instead of a track. */
  isMaster = $state(false);
  effectId = $state<string | null>(null);
  #itemId = $state<string | null>(null);
  /** Ids of all selected clips, which include `itemId`. */
  itemIds = $state.raw<ReadonlySet<string>>(new Set());
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
  /**
   * Id of the clip that the editor showed last, and shows while a track is selected that has it.
   */
  #shownId = $state.raw<string | null>(null);
  /** The clip that the editor shows: the selected one, or else one of the track. */
  readonly #shownClip: { track: Track; item: Item } | null = $derived.by(() => {
    const selectedClip = findItem(this.#project(), this.#itemId);
    if (selectedClip || !this.track) return selectedClip;
    const shown = findItem(this.#project(), this.#shownId);
    if (shown?.track === this.track) return shown;
    const item = mainItemOf(this.track);
    return item && { track: this.track, item };
  });
  /** The MIDI clip that the editor shows. */
  readonly midiClip: { track: Track; item: MidiItem } | null = $derived.by(() => {
    const shown = this.#shownClip;
    return shown?.item.type === 'midi' ? { track: shown.track, item: shown.item } : null;
  });
  /** The audio clip that the editor shows. */
  readonly audioClip: { track: Track; item: AudioItem } | null = $derived.by(() => {
    const shown = this.#shownClip;
    return shown?.item.type === 'audio' ? { track: shown.track, item: shown.item } : null;
  });

  constructor(project: () => Project) {
    this.#project = project;
  }

  /** Id of the clip that was selected last; null if no clip is selected. */
  get itemId(): string | null {
    return this.#itemId;
  }
  set itemId(id: string | null) {
    // Notes are selected by their indices in the clip.
    if (id !== this.#itemId) this.notes = new Set();
    this.#itemId = id;
    if (id !== null) this.#shownId = id;
    this.itemIds = new Set(id === null ? [] : [id]);
  }

  /** Selects a track. Clips of other tracks are no longer selected. */
  selectTrack(id: string | null): void {
    if (this.trackId === id && !this.isMaster) return;
    const item = findItem(this.#project(), this.#itemId);
    if (item?.track.id !== id) {
      this.itemId = null;
    }
    this.trackId = id;
    this.isMaster = false;
    this.focus = 'tracks';
    // The main clip may become another one by the next edit.
    this.#shownId = this.#shownClip ? itemId(this.#shownClip.item) : null;
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
    this.itemId = id;
    this.focus = 'tracks';
  }

  /** Selects several clips. The last one is the clip that the editor shows. */
  selectItems(ids: ReadonlySet<string>): void {
    const lastId = [...ids].at(-1) ?? null;
    const track = findItem(this.#project(), lastId)?.track;
    if (track) this.selectItem(track.id, lastId);
    else this.itemId = null;
    this.itemIds = ids;
  }

  /** Adds a clip to the selection, or removes it. */
  toggleItem(id: string): void {
    const ids = new Set(this.itemIds);
    if (!ids.delete(id)) ids.add(id);
    this.selectItems(ids);
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

/** Returns the clip that stands for a track: the one with the most notes, or else the first one. */
function mainItemOf(track: Track): Item | null {
  return itemWithMostNotes(track) ?? track.items.find((item) => item.type !== 'section') ?? null;
}

/** Returns the track's clip with the most notes; null if the track has no notes. */
function itemWithMostNotes(track: Track): MidiItem | null {
  let itemSoFar: MidiItem | null = null;
  for (const item of track.items) {
    if (item.type === 'midi' && item.notes.length > (itemSoFar?.notes.length ?? 0)) itemSoFar = item;
  }
  return itemSoFar;
}
