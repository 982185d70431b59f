import type { Project, Track } from './model';

/**
 * The tracks of each list by their ids. After an edit, every channel of the mixer looks up its
 * track.
 */
const indices = new WeakMap<readonly Track[], ReadonlyMap<string, Track>>();

/** Returns a track of a project; undefined if the project does not have it. */
export function findTrack({ tracks }: Project, id: string): Track | undefined {
  let index = indices.get(tracks);
  if (!index) {
    // The first of tracks with the same id counts, as in a search.
    index = new Map([...tracks].reverse().map((track) => [track.id, track]));
    indices.set(tracks, index);
  }
  return index.get(id);
}
