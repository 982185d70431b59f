/** The selected track, clip, notes and effect of the open song. */
import { palette } from '../../canvas/palette';
import { findItem } from '../../project/edit-items';
import { MASTER_ID, type AudioItem, type MidiItem, type Project, type Track } from '../../project/model';

/** The room whose selection the Delete, arrow and duplicate keys act on. */
export type EditFocus = 'tracks' | 'notes' | 'effects' | 'automation';

export class Selection {
  trackId = $state<string | null>(null);
  /** Whether rooms that show a track or the master show the master. */
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
  /** The id of the track, or `MASTER_ID`, whose effects and automation are shown; null for none. */
  readonly owner: string | null = $derived(this.isMaster ? MASTER_ID : (this.track?.id ?? null));
  /** Name and colour of the owner. */
  readonly channel: { name: string; color: string } | null = $derived(
    this.isMaster ? { name: 'Master', color: palette().accent } : this.track,
  );
  readonly midiClip: { track: Track; item: MidiItem } | null = $derived.by(() => {
    const found = findItem(this.#project(), this.itemId);
    return found?.item.type === 'midi' ? { track: found.track, item: found.item } : null;
  });
  readonly audioClip: { track: Track; item: AudioItem } | null = $derived.by(() => {
    const found = findItem(this.#project(), this.itemId);
    return found?.item.type === 'audio' ? { track: found.track, item: found.item } : null;
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
  selectOwner(owner: string): void {
    if (owner === MASTER_ID) this.selectMaster();
    else this.selectTrack(owner);
  }

  selectItem(trackId: string, id: string | null): void {
    this.trackId = trackId;
    this.isMaster = false;
    if (this.itemId !== id) this.notes = new Set();
    this.itemId = id;
    this.focus = 'tracks';
  }

  /** Selects the first track with notes of a song that was just opened, and its fullest clip. */
  startWith(project: Project): void {
    this.notes = new Set();
    this.isMaster = false;
    this.effectId = null;
    const track = project.tracks.find((candidate) => fullestItem(candidate) !== null) ?? project.tracks[0];
    this.trackId = track?.id ?? null;
    this.itemId = track ? (fullestItem(track)?.id ?? null) : null;
  }
}

/** The track's clip with the most notes; null if no clip has any. */
function fullestItem(track: Track): MidiItem | null {
  let fullest: MidiItem | null = null;
  for (const item of track.items) {
    if (item.type === 'midi' && item.notes.length > (fullest?.notes.length ?? 0)) fullest = item;
  }
  return fullest;
}
