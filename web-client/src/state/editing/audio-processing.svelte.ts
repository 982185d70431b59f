/** Processes audio clips: the service makes a processed file, which the clip then plays. */
import { SvelteMap } from 'svelte/reactivity';

import { reasonOf, type Api } from '../../api/client';
import { cancelTask, startProcessing } from '../../api/endpoints';
import { followTask } from '../../api/task-events';
import type { ProcessedAudio } from '../../api/types';
import { fileIdOf } from '../../project/audio-time';
import { NO_OPERATIONS, areEqualOperations, operationsOf, pieceOf, withProcessedFile, withoutProcessing, type Operations } from '../../project/audio-processing';
import { findItem } from '../../project/edit-items';
import type { AudioItem } from '../../project/model';
import type { AudioFiles } from '../library/audio-files.svelte';
import type { Notices } from '../notices.svelte';
import type { Song } from './song.svelte';
import type { Timeline } from './timeline.svelte';

/** A clip that the service processes. `taskId` is null until the service has started the task. */
export type ClipProcessing = { fraction: number; taskId: string | null };

export class AudioProcessing {
  readonly #api: Api;
  readonly #song: Song;
  readonly #timeline: Timeline;
  readonly #audioFiles: AudioFiles;
  readonly #notices: Notices;
  /** The clips that the service processes, by the keys of `#keyOf`. */
  readonly #running = new SvelteMap<string, ClipProcessing>();

  constructor(api: Api, song: Song, timeline: Timeline, audioFiles: AudioFiles, notices: Notices) {
    this.#api = api;
    this.#song = song;
    this.#timeline = timeline;
    this.#audioFiles = audioFiles;
    this.#notices = notices;
  }

  /** Returns the progress of a clip; null if the service does not process it. */
  runningOf({ id }: AudioItem): ClipProcessing | null {
    return this.#running.get(this.#keyOf(id)) ?? null;
  }

  /** Gives a clip these operations as soon as the service has processed its audio. */
  async apply(item: AudioItem, operations: Operations): Promise<void> {
    const key = this.#keyOf(item.id);
    const name = item.name ?? 'The clip';
    const piece = pieceOf(this.#timeline.songTime, item);
    if (!piece || this.#running.has(key) || areEqualOperations(operations, operationsOf(item))) return;
    if (areEqualOperations(operations, NO_OPERATIONS)) return this.takeBack(item);
    this.#running.set(key, { fraction: 0, taskId: null });
    try {
      const taskId = await startProcessing(this.#api, piece.fileId, {
        start_frame: piece.startFrame,
        length_frames: piece.lengthFrames,
        ...operations,
      });
      this.#update(key, { taskId });
      const task = await followTask<ProcessedAudio>(this.#api, taskId, ({ progress }) => this.#update(key, { fraction: progress }));
      if (task.state === 'cancelled') return;
      if (task.state !== 'succeeded' || !task.result) throw new Error(task.error?.detail ?? 'the service stopped the task; try again');
      if (key !== this.#keyOf(item.id)) throw new Error('the song was closed in the meantime; open it and process the clip again.');
      const currentItem = findItem(this.#song.project, item.id)?.item;
      if (currentItem?.type !== 'audio') return;
      if (fileIdOf(currentItem) !== fileIdOf(item)) throw new Error('it got another file in the meantime; process it again.');
      // The clip may have been trimmed while the service worked.
      const { file } = task.result;
      this.#audioFiles.add(file);
      const time = this.#timeline.songTime;
      this.#song.edit(`Process ${name}`, (project) => withProcessedFile(project, time, currentItem, piece, operations, file.id));
    } catch (error) {
      this.#notices.show('error', `${name} cannot be processed: ${reasonOf(error)}`);
    } finally {
      this.#running.delete(key);
    }
  }

  /** Stops the processing of a clip, which then stays as it is. */
  async cancel(item: AudioItem): Promise<void> {
    const taskId = this.#running.get(this.#keyOf(item.id))?.taskId;
    if (!taskId) return;
    try {
      await cancelTask(this.#api, taskId);
    } catch (error) {
      this.#notices.showFailure(`The processing of ${item.name ?? 'the clip'} cannot be cancelled`, error);
    }
  }

  /** Makes a clip play its unprocessed file. */
  takeBack(item: AudioItem): void {
    this.#song.edit(`Take back processing of ${item.name ?? 'clip'}`, (project) => withoutProcessing(project, this.#timeline.songTime, item));
  }

  #update(key: string, change: Partial<ClipProcessing>): void {
    const runningClip = this.#running.get(key);
    if (runningClip) this.#running.set(key, { ...runningClip, ...change });
  }

  /** Returns the key of a clip of the open song. Clips of other songs can have the same id. */
  #keyOf(id: string): string {
    return `${this.#song.generation} ${id}`;
  }
}
