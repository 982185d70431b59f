/** Moves a track while its header is dragged up or down. */
import { LANE_PX } from '../../canvas/draw-clips';
import { moveTrack } from '../../project/edit-tracks';
import type { Project } from '../../project/model';
import type { Song } from '../../state/editing/song.svelte';

/** Movement of the pointer after which a press becomes a drag, in pixels. */
const DRAG_START_PX = 6;

export class TrackDrag {
  static #count = 0;
  readonly #song: Song;
  readonly #base: Project;
  /** The song after the last step of the drag. */
  #last: Project;
  readonly #id: string;
  readonly #startY: number;
  readonly #gesture = `track ${(TrackDrag.#count += 1)}`;
  hasMoved = false;

  constructor(song: Song, id: string, startY: number) {
    this.#song = song;
    this.#base = song.project;
    this.#last = song.project;
    this.#id = id;
    this.#startY = startY;
  }

  /** Moves the track to the lane at `y`, which counts like the `startY` of the press. */
  move(y: number): void {
    this.hasMoved ||= Math.abs(y - this.#startY) >= DRAG_START_PX;
    // Other edits, such as recorded notes, would be lost with the next step of the drag.
    if (!this.hasMoved || this.#song.project !== this.#last) return;
    const name = this.#base.tracks.find((track) => track.id === this.#id)?.name ?? 'track';
    const lanes = Math.round((y - this.#startY) / LANE_PX);
    this.#song.edit(`Move ${name}`, () => moveTrack(this.#base, this.#id, lanes), this.#gesture);
    this.#last = this.#song.project;
  }

  end(): void {
    if (this.hasMoved) this.#song.endGesture();
  }
}
