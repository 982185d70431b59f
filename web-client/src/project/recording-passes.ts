/** Divides a recording into passes: one, or one for each time that playback passed the loop. */

/** A part of a recording: `frames` frames from `offsetFrames`, which belong to `songFrame` on. */
export type Pass = { songFrame: number; offsetFrames: number; frames: number };

/**
 * Returns the passes of a recording whose first frame belongs to `songFrame`. With a loop that
 * playback reached, only what lies inside the loop belongs to a pass.
 */
export function passesOf(songFrame: number, frames: number, loop: { startFrame: number; endFrame: number } | null): Pass[] {
  if (frames <= 0) return [];
  if (!loop || songFrame >= loop.endFrame) return [{ songFrame, offsetFrames: 0, frames }];
  const loopFrames = loop.endFrame - loop.startFrame;
  const passes: Pass[] = [];
  let start = Math.max(0, loop.startFrame - songFrame);
  let position = songFrame + start;
  while (start < frames) {
    const length = Math.min(frames - start, loop.endFrame - position);
    passes.push({ songFrame: position, offsetFrames: start, frames: length });
    start += length;
    position = loop.endFrame - loopFrames;
  }
  return passes;
}
