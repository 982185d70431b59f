/** The data that determine positions and lengths in the open song. */
import { songEndTick, type SongTime } from '../../project/audio-time';
import type { AudioFiles } from '../library/audio-files.svelte';
import type { Song } from './song.svelte';

export class Timeline {
  readonly #song: Song;
  readonly #audioFiles: AudioFiles;
  /** The tempo map and the lengths of audio files, from which the end of a clip is computed. */
  readonly songTime: SongTime = $derived.by(() => ({
    tempoMap: this.#song.project.tempo_map,
    sourceOf: (id) => this.#audioFiles.sourceOf(id),
  }));
  /** The end of the last clip, in ticks. */
  readonly endTick: number = $derived.by(() => songEndTick(this.songTime, this.#song.project));

  constructor(song: Song, audioFiles: AudioFiles) {
    this.#song = song;
    this.#audioFiles = audioFiles;
  }
}
