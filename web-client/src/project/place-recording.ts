/** Adds the clip or the takes of a recording to its track. */
import { framesAtTick, itemEndTick, type SongTime } from './audio-time';
import { addItem, audioItem } from './edit-audio';
import { addTrack } from './edit-tracks';
import type { AudioItem, Project } from './model';
import type { Pass } from './recording-passes';
import { addTakes, chooseTake, compOf, rangeOfTake, takesOf } from './takes';
import { tickAtSecs } from './tempo';

/** Shortest pass that becomes a clip, in seconds, unless it is the only one. */
const MIN_PASS_SECS = 0.1;

/**
 * Returns the clip that plays a pass exactly where it was recorded. Clips start at ticks. The clip
 * therefore starts at the first tick of the pass, and at the frame of the file for this tick.
 */
export function clipOfPass(time: SongTime, fileId: string, name: string, rateHz: number, pass: Pass): AudioItem {
  const source = { sampleRateHz: rateHz, frames: pass.offsetFrames + pass.frames };
  let tick = Math.max(0, Math.floor(tickAtSecs(time.tempoMap, pass.songFrame / rateHz)));
  while (framesAtTick(time, source, tick) < pass.songFrame) tick += 1;
  const skippedFrames = framesAtTick(time, source, tick) - pass.songFrame;
  const offsetFrames = pass.offsetFrames + skippedFrames;
  return { ...audioItem(fileId, name, tick, Math.max(1, pass.frames - skippedFrames)), offset_frames: offsetFrames };
}

/**
 * Returns the pass that plays after a recording with several passes: the last one of full length,
 * because the last of all was cut off by Stop.
 */
export function chosenPass(passes: readonly Pass[], rateHz: number): Pass | null {
  const longest = Math.max(0, ...passes.map(({ frames }) => frames));
  const fullPasses = passes.filter(({ frames }) => frames >= longest - MIN_PASS_SECS * rateHz);
  return fullPasses.at(-1) ?? null;
}

/** The clips of a recording's passes, and the one that plays after the recording. */
export type RecordedPasses = { clips: readonly AudioItem[]; chosen: AudioItem };

/** Returns the clips of the passes of a recording; null if the recording is empty. */
export function clipsOfPasses(time: SongTime, fileId: string, name: string, rateHz: number, passes: readonly Pass[]): RecordedPasses | null {
  const chosenOne = chosenPass(passes, rateHz);
  if (!chosenOne) return null;
  const kept = passes.filter((pass) => pass === chosenOne || pass.frames >= MIN_PASS_SECS * rateHz);
  const clips = kept.map((pass) => clipOfPass(time, fileId, name, rateHz, pass));
  const chosen = clips[kept.indexOf(chosenOne)];
  return chosen ? { clips, chosen } : null;
}

/**
 * Adds a recording to a track: a clip, or takes if playback passed the loop several times or the
 * track has takes there. The chosen take then plays instead of the other ones. If the track was
 * deleted or frozen during the recording, the recording goes to a new audio track with the clip's
 * name, so that it is not lost. Returns the ids of the track and of the clip that plays.
 */
export function placeRecording(
  project: Project,
  time: SongTime,
  trackId: string,
  { clips, chosen }: RecordedPasses,
): { project: Project; trackId: string; clipId: string; takeCount: number } {
  const canHold = project.tracks.some(({ id, kind, frozen }) => id === trackId && kind === 'audio' && !frozen);
  const target = canHold ? { project, trackId } : addTrack(project, chosen.name ?? 'Audio', null, 'audio');
  const track = target.project.tracks.find(({ id }) => id === target.trackId);
  const [startTick, endTick] = [chosen.start_tick, itemEndTick(time, chosen)];
  const hasTakes = track && takesOf(track).some((take) => take.start_tick < endTick && rangeOfTake(time, take).endTick > startTick);
  const asClip = { project: addItem(target.project, target.trackId, chosen), trackId: target.trackId, clipId: chosen.id, takeCount: 0 };
  if (clips.length < 2 && !hasTakes) return asClip;
  const withTakes = addTakes(target.project, target.trackId, clips);
  const added = withTakes.tracks.find(({ id }) => id === target.trackId);
  const takeId = added?.takes?.find(({ id }) => id === chosen.id)?.id;
  if (!added || takeId === undefined) return asClip;
  const comped = chooseTake(withTakes, time, target.trackId, takeId, { startTick, endTick });
  const comp = compOf(comped.tracks.find(({ id }) => id === target.trackId) ?? added, time);
  const clipId = comp.find((piece) => piece.takeId === takeId)?.item.id ?? takeId;
  return { project: comped, trackId: target.trackId, clipId, takeCount: takesOf(added).length - takesOf(track ?? added).length };
}
