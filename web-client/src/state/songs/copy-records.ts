/**
 * The records in which a browser keeps a copy of unsaved work: one with everything but the tracks,
 * and one for each track. After an edit only the changed tracks are written again, because storing
 * a large song copies all of its notes.
 */
import type { Project, Track } from '../../project/model';
import type { LocalCopy } from './local-copies';

/** A copy without its tracks. Copies of earlier versions of the page lack `trackIds`. */
type HeadRecord = LocalCopy & { trackIds?: readonly string[] };
/** A track of a copy. `windowId` is the key of the record, not that of the window. */
type TrackRecord = { windowId: string; track: Track };
export type CopyRecord = HeadRecord | TrackRecord;

/** The tracks of the copy that the browser has, by their ids. */
export type KeptTracks = ReadonlyMap<string, Track>;

/** Returns the start of the keys of a window's tracks. Ids of windows have no slash. */
export const trackKeyPrefix = (windowId: string): string => `${windowId}/`;

export function tracksById({ tracks }: Project): KeptTracks {
  return new Map(tracks.map((track) => [track.id, track]));
}

/** Returns the records to write and the keys to delete, if the browser has the tracks `kept`. */
export function changesOf(copy: LocalCopy, keptTracks: KeptTracks): { put: CopyRecord[]; remove: string[] } {
  const prefix = trackKeyPrefix(copy.windowId);
  const tracks = tracksById(copy.project);
  const put: CopyRecord[] = [{ ...copy, project: { ...copy.project, tracks: [] }, trackIds: [...tracks.keys()] }];
  for (const [id, track] of tracks) if (keptTracks.get(id) !== track) put.push({ windowId: prefix + id, track });
  return { put, remove: [...keptTracks.keys()].filter((id) => !tracks.has(id)).map((id) => prefix + id) };
}

/** Returns the copies that the records contain. */
export function copiesOf(records: readonly CopyRecord[]): LocalCopy[] {
  const tracks = new Map<string, Track>();
  for (const record of records) if ('track' in record) tracks.set(record.windowId, record.track);
  return records.flatMap((record): LocalCopy[] => {
    if ('track' in record) return [];
    const { trackIds, ...copy } = record;
    if (!trackIds) return [copy];
    const ownTracks = trackIds.flatMap((id) => tracks.get(trackKeyPrefix(copy.windowId) + id) ?? []);
    return [{ ...copy, project: { ...copy.project, tracks: ownTracks } }];
  });
}
