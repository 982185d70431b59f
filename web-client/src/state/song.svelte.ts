/** The open song: its history of edits and what is selected in it. */
import { findItem } from '../project/edit-items';
import { endGesture, pushEdit, redo, startHistory, undo, type History } from '../project/history';
import { MASTER_ID, type AudioItem, type MidiItem, type Project, type Track } from '../project/model';
import { emptyProject } from '../project/normalise';

/** Which room's selection the Delete, arrow and duplicate keys act on. */
export type EditFocus = 'tracks' | 'notes' | 'effects' | 'automation';

export class Song {
  #history = $state.raw<History<Project>>(startHistory(emptyProject()));
  #saved = $state.raw<Project | null>(null);
  /** Revision on the service that this song goes back to; null when it was never saved. */
  revision = $state<number | null>(null);
  /** Counts the songs opened: changes when another song takes this one's place. */
  generation = $state(0);
  /** Changes when the song is to be shown whole: it is another, or was filled. */
  framing = $state(0);

  selectedTrackId = $state<string | null>(null);
  /** Whether the master is selected in place of a track, for the rooms that show what both have. */
  masterSelected = $state(false);
  selectedEffectId = $state<string | null>(null);
  selectedItemId = $state<string | null>(null);
  selectedNotes = $state.raw<ReadonlySet<number>>(new Set());
  focus = $state<EditFocus>('tracks');

  readonly project: Project = $derived(this.#history.present);
  readonly dirty: boolean = $derived(this.#history.present !== this.#saved);
  readonly undoLabel: string | null = $derived(this.#history.past.at(-1)?.label ?? null);
  readonly redoLabel: string | null = $derived(this.#history.future[0]?.label ?? null);

  readonly selectedTrack: Track | null = $derived(
    this.project.tracks.find((track) => track.id === this.selectedTrackId) ?? null,
  );
  /** Whose effects and automation are shown: id of a track, or `MASTER_ID`; null when nothing is selected. */
  readonly selectedOwner: string | null = $derived(this.masterSelected ? MASTER_ID : (this.selectedTrack?.id ?? null));
  readonly selectedMidi: { track: Track; item: MidiItem } | null = $derived.by(() => {
    const found = findItem(this.project, this.selectedItemId);
    return found?.item.type === 'midi' ? { track: found.track, item: found.item } : null;
  });

  readonly selectedAudio: { track: Track; item: AudioItem } | null = $derived.by(() => {
    const found = findItem(this.project, this.selectedItemId);
    return found?.item.type === 'audio' ? { track: found.track, item: found.item } : null;
  });

  /** Puts a song in place of the open one; its history starts here. */
  open(project: Project, revision: number | null, saved: boolean): void {
    this.#history = startHistory(project);
    this.#saved = saved ? project : null;
    this.revision = revision;
    this.generation += 1;
    this.framing += 1;
    this.selectedNotes = new Set();
    this.masterSelected = false;
    this.selectedEffectId = null;
    const track = project.tracks.find((candidate) => fullestItem(candidate) !== null) ?? project.tracks[0];
    this.selectedTrackId = track?.id ?? null;
    this.selectedItemId = track ? (fullestItem(track)?.id ?? null) : null;
  }

  /** Brings back unsaved work over the saved song it started from, as one edit. */
  restore(project: Project, baseRevision: number): void {
    this.edit('Restore unsaved work', () => project);
    this.revision = baseRevision;
  }

  /** Makes an edit that can be undone. Edits of one `gesture` are undone together. */
  edit(label: string, change: (project: Project) => Project, gesture: string | null = null): void {
    this.#history = pushEdit(this.#history, label, change(this.project), gesture);
  }

  /** Ends a gesture such as a fader's drag: the next edit is a step of its own. */
  endGesture(): void {
    this.#history = endGesture(this.#history);
  }

  undo(): void {
    this.#history = undo(this.#history);
    this.selectedNotes = new Set();
  }

  redo(): void {
    this.#history = redo(this.#history);
    this.selectedNotes = new Set();
  }

  /** Notes that `project` is on the service as `revision`. */
  markSaved(project: Project, revision: number): void {
    this.#saved = project;
    this.revision = revision;
  }

  /** Notes that the service has this song no more: it is unsaved again, and new. */
  markDeleted(): void {
    this.#saved = null;
    this.revision = null;
  }

  selectTrack(id: string | null): void {
    if (this.selectedTrackId === id && !this.masterSelected) return;
    this.selectedTrackId = id;
    this.masterSelected = false;
    this.focus = 'tracks';
  }

  selectMaster(): void {
    this.masterSelected = true;
    this.focus = 'tracks';
  }

  /** Selects a track or the master. */
  selectOwner(owner: string): void {
    if (owner === MASTER_ID) this.selectMaster();
    else this.selectTrack(owner);
  }

  selectItem(trackId: string, id: string | null): void {
    this.selectedTrackId = trackId;
    this.masterSelected = false;
    if (this.selectedItemId !== id) this.selectedNotes = new Set();
    this.selectedItemId = id;
    this.focus = 'tracks';
  }
}

/** The track's item with the most notes: the one worth looking at first. */
function fullestItem(track: Track): MidiItem | null {
  let fullest: MidiItem | null = null;
  for (const item of track.items) {
    if (item.type === 'midi' && item.notes.length > (fullest?.notes.length ?? 0)) fullest = item;
  }
  return fullest;
}
