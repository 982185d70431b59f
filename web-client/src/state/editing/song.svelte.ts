/** The open song: its history of edits, and the selection in it. */
import { endGesture, pushEdit, redo, startHistory, undo, type History } from '../../project/history';
import type { Project } from '../../project/model';
import { emptyProject } from '../../project/normalise';
import { Selection } from './selection.svelte';

export class Song {
  #history = $state.raw<History<Project>>(startHistory(emptyProject()));
  #saved = $state.raw<Project | null>(null);
  /**
   * Revision on the service that the song was opened from or saved as; null before the first save.
   */
  revision = $state<number | null>(null);
  /** Counts the songs that were opened. */
  generation = $state(0);
  /** Changes when rooms should show the whole song: after opening, and after the first import. */
  framing = $state(0);

  readonly project: Project = $derived(this.#history.present);
  readonly dirty: boolean = $derived(this.#history.present !== this.#saved);
  readonly undoLabel: string | null = $derived(this.#history.past.at(-1)?.label ?? null);
  readonly redoLabel: string | null = $derived(this.#history.future[0]?.label ?? null);
  readonly selection = new Selection(() => this.project);

  /** Replaces the open song; the history of the new one starts here. */
  open(project: Project, revision: number | null, saved: boolean): void {
    this.#history = startHistory(project);
    this.#saved = saved ? project : null;
    this.revision = revision;
    this.generation += 1;
    this.framing += 1;
    this.selection.startWith(project);
  }

  /** Applies unsaved work to the saved song that it started from, as one edit. */
  restore(project: Project, baseRevision: number): void {
    this.edit('Restore unsaved work', () => project);
    this.revision = baseRevision;
  }

  /** Makes an edit that can be undone. Edits of one `gesture` are undone together. */
  edit(label: string, change: (project: Project) => Project, gesture: string | null = null): void {
    this.#history = pushEdit(this.#history, label, change(this.project), gesture);
  }

  /** Ends a gesture such as a fader's drag: the next edit is a separate undo step. */
  endGesture(): void {
    this.#history = endGesture(this.#history);
  }

  undo(): void {
    this.#history = undo(this.#history);
    this.selection.notes = new Set();
  }

  redo(): void {
    this.#history = redo(this.#history);
    this.selection.notes = new Set();
  }

  /** Records that the service has `project` as `revision`. */
  markSaved(project: Project, revision: number): void {
    this.#saved = project;
    this.revision = revision;
  }

  /** Records that the service no longer has this song: it counts as new and unsaved. */
  markDeleted(): void {
    this.#saved = null;
    this.revision = null;
  }
}
