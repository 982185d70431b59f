/** Shows the takes of tracks, and chooses which take plays where. */
import { chooseTake, compOf, flattenTakes, pieceAt, rangeOfTake, removeTake, takesOf, type TickRange } from '../../project/takes';
import type { Track } from '../../project/model';
import type { Song } from './song.svelte';
import type { Timeline } from './timeline.svelte';

export class TakeCommands {
  /** Ids of the tracks whose takes are shown. */
  #shownIds = $state.raw<ReadonlySet<string>>(new Set());
  readonly #song: Song;
  readonly #timeline: Timeline;

  constructor(song: Song, timeline: Timeline) {
    this.#song = song;
    this.#timeline = timeline;
  }

  /** Whether the lanes with the takes of a track are shown below it. */
  isShown(track: Track): boolean {
    return takesOf(track).length > 0 && this.#shownIds.has(track.id);
  }

  show(trackId: string): void {
    if (!this.#shownIds.has(trackId)) this.#shownIds = new Set([...this.#shownIds, trackId]);
  }

  /** Shows the takes of a track, or hides them; by default those of the selected track. */
  toggle(track: Track | null = this.#song.selection.track): void {
    if (!track) return;
    const ids = new Set(this.#shownIds);
    if (!ids.delete(track.id)) ids.add(track.id);
    this.#shownIds = ids;
  }

  /** Makes a take play in a range; null for silence. */
  choose(track: Track, takeId: string | null, range: TickRange): void {
    const edited = chooseTake(this.#song.project, this.#timeline.songTime, track.id, takeId, range);
    if (edited === this.#song.project) return;
    const take = takesOf(track).find(({ id }) => id === takeId);
    this.#song.endGesture();
    this.#song.edit(take ? `Choose ${take.name ?? 'take'}` : 'Silence takes', () => edited);
  }

  /** Makes a take play over its whole length. */
  chooseWhole(track: Track, takeId: string): void {
    const take = takesOf(track).find(({ id }) => id === takeId);
    if (take) this.choose(track, takeId, rangeOfTake(this.#timeline.songTime, take));
  }

  /**
   * Makes a take play instead of the one that plays at a tick, up to the borders of that piece;
   * over its whole length if none plays there.
   */
  chooseAt(track: Track, takeId: string, tick: number): void {
    const piece = pieceAt(compOf(track, this.#timeline.songTime), tick);
    if (piece) this.choose(track, takeId, piece);
    else this.chooseWhole(track, takeId);
  }

  remove(track: Track, takeId: string): void {
    const name = takesOf(track).find(({ id }) => id === takeId)?.name ?? 'take';
    this.#song.edit(`Delete ${name}`, (project) => removeTake(project, track.id, takeId));
  }

  /** Keeps the clips that play, and removes the takes. */
  flatten(track: Track): void {
    this.#song.edit('Keep only the comp', (project) => flattenTakes(project, track.id));
  }
}
