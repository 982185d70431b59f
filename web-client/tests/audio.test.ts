import { describe, expect, it } from 'vitest';

import { fadeGain, secsOfColumns } from '../src/canvas/draw-waveform';
import { itemEndTick, songEndTick, type SongTime } from '../src/project/audio-time';
import { audioItem, changeAudio, setFades, splitAudio, trimEnd, trimStart } from '../src/project/edit-audio';
import type { AudioItem, Project } from '../src/project/model';
import { normalizeProject } from '../src/project/normalize';
import { secsAtTick } from '../src/project/tempo';
import { rangeOf, readWaveform } from '../src/project/waveform';
import type { TimeView } from '../src/canvas/time-view.svelte';

/** A song at 120 BPM (1920 ticks a second) with a file of ten seconds at 44.1 kHz. */
const TIME: SongTime = { tempoMap: [{ tick: 0, bpm: 120 }], sourceOf: (id) => (id === 'file' ? { sampleRateHz: 44_100, frames: 441_000 } : null) };

function song(change: Partial<AudioItem> = {}): Project {
  const item = { ...audioItem('file', 'Take', 1920, 441_000), id: 'clip', ...change };
  return normalizeProject({ schema_version: 1, project_id: 'p', tracks: [{ id: 'a', kind: 'audio', items: [item] }] });
}

const clip = (project: Project, index = 0): AudioItem => project.tracks[0]?.items[index] as AudioItem;

describe('audio items', () => {
  it('have lengths in frames of their file', () => {
    expect(itemEndTick(TIME, clip(song()))).toBe(1920 * 11);
    expect(itemEndTick(TIME, clip(song({ length_frames: 22_050 })))).toBe(1920 * 1.5);
    const { length_frames: _whole, ...remaining } = clip(song({ offset_frames: 44_100 }));
    expect(itemEndTick(TIME, remaining), 'an item without a length ends with its file').toBe(1920 * 10);
    expect(songEndTick(TIME, song())).toBe(1920 * 11);
    const slower: SongTime = { ...TIME, tempoMap: [{ tick: 0, bpm: 120 }, { tick: 1920 * 2, bpm: 60 }] };
    expect(itemEndTick(slower, clip(song()))).toBe(1920 * 2 + 960 * 9);
  });

  it('keep their audio in position when trimmed', () => {
    const laterClip = clip(trimStart(song(), TIME, clip(song()), 1920 * 3));
    expect([laterClip.start_tick, laterClip.offset_frames, laterClip.length_frames]).toEqual([1920 * 3, 88_200, 352_800]);
    const restoredClip = clip(trimStart(song(laterClip), TIME, laterClip, 1920 * 2));
    expect([restoredClip.offset_frames, restoredClip.length_frames]).toEqual([44_100, 396_900]);
    const project = song();
    expect(trimStart(project, TIME, clip(project), 0), 'there is no audio before the start of the file').toBe(project);
    expect(trimStart(project, TIME, clip(project), 1920 * 11), 'a clip cannot become empty').toBe(project);
  });

  it('cannot be longer than their file unless they are looped', () => {
    expect(clip(trimEnd(song(), TIME, clip(song()), 1920 * 4)).length_frames).toBe(132_300);
    expect(clip(trimEnd(song(), TIME, clip(song()), 1920 * 40)).length_frames).toBe(441_000);
    const loopedSong = song({ loop: true });
    expect(clip(trimEnd(loopedSong, TIME, clip(loopedSong), 1920 * 41)).length_frames).toBe(1_764_000);
  });

  it('keep their fades within their length', () => {
    const fadedSong = setFades(song(), TIME, clip(song()), { in_frames: 100_000.4, out_frames: -5 });
    expect(clip(fadedSong).fades).toEqual({ in_frames: 100_000, out_frames: 0 });
    const shortClip = changeAudio(fadedSong, TIME, 'clip', { length_frames: 50_000 });
    expect(clip(shortClip).fades).toEqual({ in_frames: 50_000, out_frames: 0 });
  });

  it('are split into two parts without a gap', () => {
    const fadedSong = song({ fades: { in_frames: 1000, out_frames: 2000 }, gain_db: -3 });
    const result = splitAudio(fadedSong, TIME, 'clip', 1920 * 2 + 7);
    const [first, second] = [clip(result?.project ?? song()), clip(result?.project ?? song(), 1)];
    expect(second.id).toBe(result?.itemId);
    expect((first.length_frames ?? 0) + (second.length_frames ?? 0)).toBe(441_000);
    expect(second.offset_frames).toBe(first.length_frames);
    expect([first.fades, second.fades]).toEqual([
      { in_frames: 1000, out_frames: 0 },
      { in_frames: 0, out_frames: 2000 },
    ]);
    expect(second.gain_db).toBe(-3);
    expect(splitAudio(fadedSong, TIME, 'clip', 1920), 'a clip is not split at its start').toBeNull();
    expect(splitAudio(song({ loop: true }), TIME, 'clip', 1920 * 2), 'a loop is not split').toBeNull();
  });
});

describe('waveforms', () => {
  function peaks(values: number[], channels = 1): ArrayBuffer {
    const bytes = new ArrayBuffer(24 + values.length);
    const view = new DataView(bytes);
    [2, 1, 44_100, 256, values.length / 2 / channels, channels].forEach((value, index) => view.setInt32(index * 4, value, true));
    new Int8Array(bytes, 24).set(values);
    return bytes;
  }

  it('are read from the binary format of audiowaveform', () => {
    const waveform = readWaveform(peaks([-127, 127, -64, 0, 0, 32]));
    expect(waveform).toMatchObject({ framesPerPixel: 256, pixels: 3, channels: 1 });
    expect(rangeOf(waveform, 0, 256)).toEqual([-1, 1]);
    expect(rangeOf(waveform, 300, 310)).toEqual([-64 / 127, 0]);
    expect(rangeOf(waveform, 256, 768)).toEqual([-64 / 127, 32 / 127]);
    expect(rangeOf(waveform, 768, 800)).toBeNull();
    expect(rangeOf(readWaveform(peaks([-10, 10, -20, 30], 2)), 0, 1)).toEqual([-20 / 127, 30 / 127]);
    const version1 = peaks([0, 0]);
    new DataView(version1).setInt32(0, 1, true);
    expect(() => readWaveform(version1)).toThrow(RangeError);
  });

  it('have linear fades', () => {
    const item = clip(song({ fades: { in_frames: 100, out_frames: 50 } }));
    expect([0, 50, 100, 950, 975, 1000].map((frame) => fadeGain(item, frame, 1000))).toEqual([0, 0.5, 1, 1, 0.5, 0]);
  });

  it('follow tempo changes', () => {
    const tempoMap = [
      { tick: 0, bpm: 120 },
      { tick: 1000, bpm: 60 },
      { tick: 2500, bpm: 200 },
    ];
    const view = { tick: (x: number) => 500 + x * 100 } as TimeView;
    const secs = secsOfColumns(view, tempoMap, 40);
    expect(secs).toHaveLength(41);
    secs.forEach((value, column) => expect(value).toBeCloseTo(secsAtTick(tempoMap, 500 + column * 100), 9));
  });
});
