/** Copies of clips and of a track, which can be pasted into any song of the same account. */
import { itemEndTick, type SongTime } from './audio-time';
import { clipsOf, type ClipIds } from './edit-clips';
import { addTrack, copyOfTrack } from './edit-tracks';
import { canHold, copyOfItem, itemId } from './edit-items';
import type { Item, Project, SynthEngine, Track, TrackKind } from './model';
import { referencesOf, withoutReferences } from './routing';
import { updateTrack } from './update-track';

/** A copied clip. Its start counts from the first one, and its lane from the topmost one. */
type CopiedClip = { item: Item; lane: number; trackName: string; trackKind: TrackKind; engine: SynthEngine | null };

export type CopiedClips = { kind: 'clips'; clips: readonly CopiedClip[]; lengthTicks: number };
export type CopiedTrack = { kind: 'track'; track: Track };
export type ClipboardContent = CopiedClips | CopiedTrack;

/** Copies clips; null if there are none. */
export function copiedClips(project: Project, ids: ClipIds, time: SongTime): CopiedClips | null {
  const clips = clipsOf(project, ids);
  if (clips.length === 0) return null;
  const startTick = Math.min(...clips.map(({ item }) => item.start_tick));
  const endTick = Math.max(...clips.map(({ item }) => itemEndTick(time, item)));
  const firstLane = Math.min(...clips.map(({ lane }) => lane));
  return {
    kind: 'clips',
    clips: clips.map(({ item, track, lane }) => ({
      item: { ...item, start_tick: item.start_tick - startTick },
      lane: lane - firstLane,
      trackName: track.name,
      trackKind: track.kind,
      engine: track.synth_engine ?? null,
    })),
    lengthTicks: endTick - startTick,
  };
}

/**
 * Pastes clips at a tick. The topmost ones go to the track `trackId`, and the others to the tracks
 * below it. Clips that do not fit on the track there get a new track with their instrument. Returns
 * the ids of the pasted clips, and the track of the first one.
 */
export function pasteClips(
  project: Project,
  { clips }: CopiedClips,
  trackId: string | null,
  tick: number,
): { project: Project; ids: Set<string>; trackId: string | null } {
  const firstLane = Math.max(0, project.tracks.findIndex((track) => track.id === trackId));
  const ids = new Set<string>();
  /** Tracks that were added, by the lane of the copied clips and the kind. */
  const addedTracks = new Map<string, string>();
  let pasted = project;
  let firstTrackId: string | null = null;
  for (const { item, lane, trackName, trackKind, engine } of clips) {
    const copy: Item = { ...copyOfItem(item), start_tick: Math.max(0, Math.round(tick)) + item.start_tick };
    const existing = project.tracks[firstLane + lane];
    const key = `${lane} ${trackKind}`;
    let targetId = existing && canHold(existing.kind, item) ? existing.id : addedTracks.get(key);
    if (targetId === undefined) {
      const addedTrack = addTrack(pasted, trackName, engine, trackKind);
      pasted = addedTrack.project;
      targetId = addedTrack.trackId;
      addedTracks.set(key, targetId);
    }
    pasted = updateTrack(pasted, targetId, (track) => ({ ...track, items: [...track.items, copy] }));
    ids.add(itemId(copy));
    firstTrackId ??= targetId;
  }
  return { project: pasted, ids, trackId: firstTrackId };
}

/**
 * Inserts a copy of a copied track below the track `belowId`, or at the end. Outputs, sends and
 * side-chains of tracks that this song lacks are left out.
 */
export function pasteTrack(project: Project, { track }: CopiedTrack, belowId: string | null): { project: Project; trackId: string } {
  const copy = copyOfTrack(track);
  const index = project.tracks.findIndex(({ id }) => id === belowId);
  const tracks = project.tracks.toSpliced(index < 0 ? project.tracks.length : index + 1, 0, copy);
  const knownIds = new Set(tracks.map(({ id }) => id));
  const missing = referencesOf(copy).filter((id) => !knownIds.has(id));
  return { project: missing.reduce(withoutReferences, { ...project, tracks }), trackId: copy.id };
}

/** Whether a value of the browser's storage is content of the clipboard. */
export function isClipboardContent(value: unknown): value is ClipboardContent {
  if (typeof value !== 'object' || value === null) return false;
  const content = value as { kind?: unknown; clips?: Partial<CopiedClip>[]; track?: Partial<Track> };
  if (content.kind === 'clips') return Array.isArray(content.clips) && content.clips.every((clip) => typeof clip?.item?.start_tick === 'number');
  return content.kind === 'track' && Array.isArray(content.track?.items);
}
