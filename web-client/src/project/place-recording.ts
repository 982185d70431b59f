/** Adds the clip of a recording to its track. */
import { framesAtTick, type SongTime } from './audio-time';
import { addItem, audioItem } from './edit-audio';
import { addTrack } from './edit-tracks';
import type { AudioItem, Project } from './model';
import type { Pass } from './recording-passes';
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

/**
 * Adds a clip to a track. If the track was deleted or frozen during the recording, adds a new audio
 * track with the clip's name, so that the recording is not lost. Returns the track's id.
 */
export function placeClip(project: Project, trackId: string, clip: AudioItem): { project: Project; trackId: string } {
  const canHold = project.tracks.some(({ id, kind, frozen }) => id === trackId && kind === 'audio' && !frozen);
  const target = canHold ? { project, trackId } : addTrack(project, clip.name ?? 'Audio', null, 'audio');
  return { project: addItem(target.project, target.trackId, clip), trackId: target.trackId };
}
