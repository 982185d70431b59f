/** The open song, its history of edits and its selection. */
import { endGesture, goToStep, pushEdit, redo, startHistory, undo, type History } from '../../project/history';
import { frozenPartsChange, type FrozenPartsChange } from '../../project/freezing';
import type { Project } from '../../project/model';
import { emptyProject } from '../../project/normalize';
import { Selection } from './selection.svelte';

export class Song {
  #history = $state.raw<History<Project>>(startHistory(emptyProject()));
  #saved = $state.raw<Project | null>(null);
  /** The service's revision that was opened or saved last; null for a song that was never saved. */
  revision = $state<number | null>(null);
  /** Number of songs that were opened so far. It changes when another song is opened. */
  generation = $state(0);
  /**
   * Changes when the views should zoom to the whole song: when a song is opened, and when a MIDI
   * file is imported into an empty song.
   */
  framing = $state(0);

  readonly project: Project = $derived(this.#history.present);
  readonly isDirty: boolean = $derived(this.#history.present !== this.#saved);
  readonly undoLabel: string | null = $derived(this.#history.past.at(-1)?.label ?? null);
  /** The labels of all edits, those that were undone last. */
  readonly editLabels: readonly string[] = $derived([...this.#history.past, ...this.#history.future].map(({ label }) => label));
  /** Number of edits that can be undone. */
  readonly editCount: number = $derived(this.#history.past.length);
  readonly redoLabel: string | null = $derived(this.#history.future[0]?.label ?? null);
  readonly selection = new Selection(() => this.project);
  /** The revisions on which versions of this song are based, where an edit has changed them. */
  #baseRevisions = new WeakMap<Project, number | null>();
  readonly #onRefused: (change: FrozenPartsChange) => void;

  /** `onRefused` is called when an edit is refused because it changes parts of a frozen track. */
  constructor(onRefused: (change: FrozenPartsChange) => void = () => undefined) {
    this.#onRefused = onRefused;
  }

  /** Replaces the open song. The history of the new song is empty. */
  open(project: Project, revision: number | null, isSaved: boolean): void {
    this.#history = startHistory(project);
    this.#saved = isSaved ? project : null;
    this.revision = revision;
    this.#baseRevisions = new WeakMap();
    this.generation += 1;
    this.framing += 1;
    this.selection.startWith(project);
  }

  /**
   * Replaces the open song with another version of it, as one edit. `baseRevision` is the revision
   * on which that version is based.
   */
  restore(label: string, project: Project, baseRevision: number | null): void {
    this.#baseRevisions.set(this.project, this.revision);
    this.#baseRevisions.set(project, baseRevision);
    this.#push(label, project, null);
    this.revision = baseRevision;
  }

  /**
   * Makes an edit that can be undone. Edits with the same `gesture` are undone together. An edit
   * that changes the frozen parts of a track is refused; then the method returns false.
   */
  edit(label: string, change: (project: Project) => Project, gesture: string | null = null): boolean {
    const editedProject = change(this.project);
    const refusedChange = frozenPartsChange(this.project, editedProject);
    if (refusedChange) this.#onRefused(refusedChange);
    else this.#push(label, editedProject, gesture);
    return !refusedChange;
  }

  #push(label: string, project: Project, gesture: string | null): void {
    this.#history = pushEdit(this.#history, label, project, gesture);
  }

  /** Ends a gesture, such as the drag of a fader. The next edit is a separate undo step. */
  endGesture(): void {
    this.#history = endGesture(this.#history);
  }

  undo(): void {
    this.#moveTo(undo(this.#history));
  }

  redo(): void {
    this.#moveTo(redo(this.#history));
  }

  /** Undoes or redoes edits until the first `editCount` edits are done. */
  goToEdit(editCount: number): void {
    this.#moveTo(goToStep(this.#history, editCount));
  }

  #moveTo(history: History<Project>): void {
    this.#history = history;
    this.selection.notes = new Set();
    const earlierStates = [...history.past.map(({ value }) => value), history.present];
    const hasBase = (project: Project): boolean => this.#baseRevisions.has(project);
    const version = earlierStates.findLast(hasBase) ?? history.future.map(({ value }) => value).find(hasBase);
    if (version) this.revision = this.#baseRevisions.get(version) ?? null;
  }

  /** Records that the service has saved `project` as `revision`. */
  markSaved(project: Project, revision: number): void {
    this.#saved = project;
    this.revision = revision;
    this.#baseRevisions = new WeakMap();
  }

  /** Records that the song was deleted on the service, which makes it a new, unsaved song. */
  markDeleted(): void {
    this.#saved = null;
    this.revision = null;
    this.#baseRevisions = new WeakMap();
  }
}
