/** Freezes tracks: the service renders a track, which then plays the rendered audio file. */
import { SvelteMap } from 'svelte/reactivity';

import { reasonOf, type Api } from '../../api/client';
import { cancelTask, startFreeze } from '../../api/endpoints';
import { followTask } from '../../api/task-events';
import type { Frozen } from '../../api/types';
import { canFreeze, freezeTrack, isFrozenAtOtherTempo, soundsTheSame, unfreezeTrack } from '../../project/freezing';
import type { Project, Track } from '../../project/model';
import type { AudioFiles } from '../library/audio-files.svelte';
import type { Notices } from '../notices.svelte';
import type { Song } from './song.svelte';

/** A track that the service renders. `taskId` is null until the service has started the task. */
type Rendering = { fraction: number; taskId: string | null };

/** State of a track that is being frozen, or is frozen. */
export type FreezeState =
  | { kind: 'rendering'; fraction: number }
  | { kind: 'frozen' }
  /** The tempo of the song has changed since the track was frozen. */
  | { kind: 'other-tempo' }
  /** The audio file of the recording is missing, so the track is silent. */
  | { kind: 'missing'; reason: string };

export class Freezing {
  readonly #api: Api;
  readonly #song: Song;
  readonly #audioFiles: AudioFiles;
  readonly #notices: Notices;
  /** The tracks that the service renders, by the keys of `keyOf`. */
  readonly #renderings = new SvelteMap<string, Rendering>();

  constructor(api: Api, song: Song, audioFiles: AudioFiles, notices: Notices) {
    this.#api = api;
    this.#song = song;
    this.#audioFiles = audioFiles;
    this.#notices = notices;
  }

  /** Returns the state of a track; null if the track is neither frozen nor being frozen. */
  stateOf({ id, frozen }: Track): FreezeState | null {
    const rendering = this.#renderings.get(this.#keyOf(id));
    if (rendering) return { kind: 'rendering', fraction: rendering.fraction };
    if (!frozen) return null;
    const reason = this.#audioFiles.problemsById.get(frozen.server_file_id);
    if (reason !== undefined) return { kind: 'missing', reason };
    return { kind: isFrozenAtOtherTempo(this.#song.project, frozen) ? 'other-tempo' : 'frozen' };
  }

  /** Freezes a track as soon as the service has rendered it. */
  async freeze(track: Track): Promise<void> {
    const { id, name } = track;
    const key = this.#keyOf(id);
    if (!canFreeze(track) || this.#renderings.has(key)) return;
    const { project } = this.#song;
    this.#renderings.set(key, { fraction: 0, taskId: null });
    try {
      const taskId = await startFreeze(this.#api, project, id);
      this.#update(key, { taskId });
      const task = await followTask<Frozen>(this.#api, taskId, ({ progress }) => this.#update(key, { fraction: progress }));
      if (task.state === 'cancelled') return;
      if (task.state !== 'succeeded' || !task.result) throw new Error(task.error?.detail ?? 'the service stopped the task; try again');
      if (key !== this.#keyOf(id)) throw new Error(`the song ${project.name} was closed in the meantime; open it and freeze the track again.`);
      this.#complete(project, track, task.result);
    } catch (error) {
      this.#notices.show('error', `${name} cannot be frozen: ${reasonOf(error)}`);
    } finally {
      this.#renderings.delete(key);
    }
  }

  /** Stops the rendering of a track, which then stays as it is. */
  async cancel({ id, name }: Track): Promise<void> {
    const taskId = this.#renderings.get(this.#keyOf(id))?.taskId;
    if (!taskId) return;
    try {
      await cancelTask(this.#api, taskId);
    } catch (error) {
      this.#notices.showFailure(`The freezing of ${name} cannot be cancelled`, error);
    }
  }

  unfreeze({ id, name }: Track): void {
    this.#song.edit(`Unfreeze ${name}`, (project) => unfreezeTrack(project, id));
  }

  #complete(project: Project, { id, name }: Track, { frozen, left_out: leftOut, warnings }: Frozen): void {
    const trackBefore = project.tracks.find((track) => track.id === id);
    const isDeleted = !this.#song.project.tracks.some((track) => track.id === id);
    if (isDeleted || !trackBefore) return;
    const pointer = `/tracks/${project.tracks.indexOf(trackBefore)}/`;
    const missing = leftOut.find((part) => part.pointer.startsWith(pointer));
    if (missing) throw new Error(missing.reason);
    if (!soundsTheSame(id, project, this.#song.project)) {
      throw new Error('the track, its side-chain or the settings of the song were edited in the meantime; freeze it again.');
    }
    this.#song.edit(`Freeze ${name}`, (currentProject) => freezeTrack(currentProject, id, frozen));
    if (warnings.length > 0) this.#notices.show('info', `${name} is frozen. ${warnings.join(' ')}`);
  }

  #update(key: string, change: Partial<Rendering>): void {
    const rendering = this.#renderings.get(key);
    if (rendering) this.#renderings.set(key, { ...rendering, ...change });
  }

  /** Returns the key of a track of the open song. Tracks of other songs can have the same id. */
  #keyOf(id: string): string {
    return `${this.#song.generation} ${id}`;
  }
}
