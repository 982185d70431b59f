import { describe, expect, it } from 'vitest';

import type { SongTime } from '../src/project/audio-time';
import { NO_OPERATIONS, operationsOf, pieceOf, stretchToBars, withoutProcessing, withProcessedFile, type Operations } from '../src/project/audio-processing';
import { audioItem, trimEnd, trimStart } from '../src/project/edit-audio';
import type { AudioItem, Project } from '../src/project/model';
import { normalizeProject } from '../src/project/normalize';

/** A song at 120 BPM (960 ticks in half a second) with files at 48 kHz: `file` lasts ten seconds. */
const TIME: SongTime = {
  tempoMap: [{ tick: 0, bpm: 120 }],
  sourceOf: (id) => ({ sampleRateHz: 48_000, frames: id === 'file' ? 480_000 : 96_000 }),
};

function song(change: Partial<AudioItem> = {}): Project {
  const item = { ...audioItem('file', 'Take', 960, 96_000), id: 'clip', offset_frames: 48_000, ...change };
  return normalizeProject({ schema_version: 1, project_id: 'p', tracks: [{ id: 'a', kind: 'audio', items: [item] }] });
}
const clip = (project: Project): AudioItem => project.tracks[0]?.items[0] as AudioItem;

/** Processes the clip of a song; the file of the result is named after its length. */
function process(project: Project, change: Partial<Operations>): Project {
  const item = clip(project);
  const piece = pieceOf(TIME, item);
  if (!piece) throw new Error('the clip has no file');
  return withProcessedFile(project, TIME, item, piece, { ...operationsOf(item), ...change }, `copy ${JSON.stringify(change)}`);
}

const part = ({ source, offset_frames, length_frames }: AudioItem): unknown[] => [source.server_file_id, offset_frames, length_frames];

describe('a processed clip', () => {
  it('plays the whole copy of its piece, and its start stays', () => {
    const slowClip = clip(process(song({ fades: { in_frames: 100, out_frames: 200 } }), { stretch: 1.5, pitch_cents: 700 }));
    expect(part(slowClip)).toEqual(['copy {"stretch":1.5,"pitch_cents":700}', 0, 144_000]);
    expect(slowClip.start_tick).toBe(960);
    expect(slowClip.fades).toEqual({ in_frames: 150, out_frames: 300 });
    expect(slowClip.processing).toEqual({ server_file_id: 'file', start_frame: 48_000, length_frames: 96_000, reverse: false, stretch: 1.5, pitch_cents: 700 });
  });

  it('gets its old part back, also after it was trimmed', () => {
    const originalSong = song();
    expect(part(clip(withoutProcessing(process(originalSong, { stretch: 2 }), TIME, clip(process(originalSong, { stretch: 2 })))))).toEqual(['file', 48_000, 96_000]);
    // Trimmed by half a second at its start, which are 24,000 frames of the copy.
    const reversed = process(originalSong, { reverse: true });
    const trimmed = trimStart(reversed, TIME, clip(reversed), 960 * 2);
    expect(part(clip(withoutProcessing(trimmed, TIME, clip(trimmed)))), 'the end of the piece is trimmed').toEqual(['file', 48_000, 72_000]);
    expect(clip(withoutProcessing(trimmed, TIME, clip(trimmed))).processing).toBeUndefined();
  });

  it('keeps its part of the piece when the operations change', () => {
    const slowClip = process(song(), { stretch: 0.5 });
    const trimmed = trimEnd(slowClip, TIME, clip(slowClip), 960 * 1.5);
    expect(clip(trimmed).length_frames).toBe(12_000);
    const reversedClip = clip(process(trimmed, { reverse: true, stretch: 1 }));
    // 24,000 of the 96,000 frames play; reversed, they are the last ones.
    expect([reversedClip.offset_frames, reversedClip.length_frames]).toEqual([72_000, 24_000]);
    expect(reversedClip.processing).toMatchObject({ server_file_id: 'file', start_frame: 48_000, length_frames: 96_000 });
  });

  it('starts a loop with the first frame of its copy', () => {
    const loopedClip = clip(process(song({ loop: true, offset_frames: 0, length_frames: 960_000 }), { stretch: 2 }));
    expect([loopedClip.offset_frames, loopedClip.length_frames]).toEqual([0, 1_920_000]);
    expect(loopedClip.processing).toMatchObject({ start_frame: 0, length_frames: 480_000 });
  });
});

describe('operations', () => {
  it('of an unprocessed clip change nothing', () => {
    expect(operationsOf(clip(song()))).toEqual(NO_OPERATIONS);
    expect(withoutProcessing(song(), TIME, clip(song()))).toEqual(song());
  });

  it('stretch a clip to the nearest whole bars', () => {
    expect(stretchToBars(song(), TIME, clip(song()))).toEqual({ stretch: 1, bars: 1 });
    const longSong = song({ length_frames: 48_000 * 5 });
    expect(stretchToBars(longSong, TIME, clip(longSong))).toEqual({ stretch: 0.8, bars: 2 });
    const tiny = song({ length_frames: 4_800 });
    expect(stretchToBars(tiny, TIME, clip(tiny)), 'a stretch of 20 is not permitted').toBeNull();
  });
});
