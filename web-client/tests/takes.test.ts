/** Tests the comp of a track: which clips play the chosen pieces of takes. */
import { describe, expect, it } from 'vitest';

import type { SongTime } from '../src/project/audio-time';
import type { AudioItem, Project, Track } from '../src/project/model';
import { normalizeProject } from '../src/project/normalize';
import { clipsOfPasses, placeRecording } from '../src/project/place-recording';
import { addTakes, chooseTake, compOf, flattenTakes, removeTake, takesOf, TAKES_MAX } from '../src/project/takes';
import { passesOf } from '../src/project/recording-passes';

/** At 120 BPM, a tick has 25 frames. */
const TIME: SongTime = { tempoMap: [{ tick: 0, bpm: 120 }], sourceOf: () => ({ sampleRateHz: 48_000, frames: 960_000 }) };
const FRAMES_PER_TICK = 25;
/** 10 ms in ticks, up to a whole tick. */
const FADE_TICKS = 19;
const BAR = 3840;

const note = (tick: number, pitch: number) => ({ tick, length_ticks: 480, pitch, velocity: 0.5 });
const audioTake = (id: string, offset_frames: number) =>
  ({ type: 'audio', id, start_tick: 0, offset_frames, length_frames: 4 * BAR * FRAMES_PER_TICK, source: { server_file_id: 'f' } }) as AudioItem;

/** A voice with three takes of four bars, of which the first plays. */
function voice(): Project {
  const project = normalizeProject({ schema_version: 1, project_id: 'p', tracks: [{ id: 't', kind: 'audio', items: [] }] });
  const withTakes = addTakes(project, 't', [audioTake('a', 0), audioTake('b', 400_000), audioTake('c', 500_000)]);
  return chooseTake(withTakes, TIME, 't', 'a', { startTick: 0, endTick: 4 * BAR });
}
const trackOf = (project: Project): Track => project.tracks[0] as Track;
const comp = (project: Project): [string, number, number][] => compOf(trackOf(project), TIME).map(({ takeId, startTick, endTick }) => [takeId, startTick, endTick]);
const bars = (from: number, to: number) => ({ startTick: from * BAR, endTick: to * BAR });
const choose = (project: Project, id: string | null, from: number, to: number): Project => chooseTake(project, TIME, 't', id, bars(from, to));

describe('the comp', () => {
  it('plays a take in a range, between the pieces that played there', () => {
    const project = choose(voice(), 'b', 1, 2);
    expect(comp(project)).toEqual([['a', 0, BAR], ['b', BAR, 2 * BAR], ['a', 2 * BAR, 4 * BAR]]);
    expect(new Set(trackOf(project).items.map((item) => (item.type === 'audio' ? item.id : ''))).size).toBe(3);
    expect(comp(choose(project, 'c', 0.5, 3))).toEqual([['a', 0, BAR / 2], ['c', BAR / 2, 3 * BAR], ['a', 3 * BAR, 4 * BAR]]);
    expect(choose(project, 'b', 1, 2), 'the choice that is there').toBe(project);
    expect(takesOf(trackOf(choose(project, 'c', 0, 4)))).toEqual(takesOf(trackOf(voice())));
  });

  it('joins pieces of a take that touch, and returns to one clip', () => {
    const split = choose(choose(voice(), 'b', 1, 2), 'a', 1, 1.5);
    expect(comp(split)).toEqual([['a', 0, 1.5 * BAR], ['b', 1.5 * BAR, 2 * BAR], ['a', 2 * BAR, 4 * BAR]]);
    expect(comp(choose(split, 'a', 1.5, 2))).toEqual([['a', 0, 4 * BAR]]);
  });

  it('plays every take at its place in the song, and fades over 10 ms before each border', () => {
    const items = compOf(trackOf(choose(voice(), 'b', 1, 2)), TIME).map(({ item }) => item as AudioItem);
    const frames = (item?: AudioItem) => [item?.start_tick, item?.offset_frames, item?.length_frames, item?.fades];
    const fade = FADE_TICKS * FRAMES_PER_TICK;
    expect(frames(items[0])).toEqual([0, 0, BAR * FRAMES_PER_TICK, { in_frames: 0, out_frames: fade }]);
    expect(frames(items[1])).toEqual([BAR - FADE_TICKS, 400_000 + BAR * FRAMES_PER_TICK - fade, BAR * FRAMES_PER_TICK + fade, { in_frames: fade, out_frames: fade }]);
    expect(frames(items[2])).toEqual([2 * BAR - FADE_TICKS, 2 * BAR * FRAMES_PER_TICK - fade, 2 * BAR * FRAMES_PER_TICK + fade, { in_frames: fade, out_frames: 480 }]);
  });

  it('is silent where no take is chosen, with a fade where the sound is cut', () => {
    const project = choose(voice(), null, 1, 2);
    expect(comp(project)).toEqual([['a', 0, BAR], ['a', 2 * BAR, 4 * BAR]]);
    const [first, second] = compOf(trackOf(project), TIME).map(({ item }) => item as AudioItem);
    expect([first?.fades?.out_frames, second?.fades?.in_frames, second?.start_tick]).toEqual([480, 480, 2 * BAR]);
  });

  it('keeps the level of its clips, and all clips that are not part of it', () => {
    const project = voice();
    const track = trackOf(project);
    const other = { ...audioTake('other', 0), start_tick: 0 };
    const copy = { ...(track.items[0] as AudioItem), id: 'copy', start_tick: 8 * BAR };
    const quieter = { ...project, tracks: [{ ...track, items: [...track.items.map((item) => ({ ...item, gain_db: -6 })), other, copy] }] } as Project;
    const chosen = choose(quieter, 'b', 1, 2);
    expect(compOf(trackOf(chosen), TIME).map(({ item }) => (item as AudioItem).gain_db)).toEqual([-6, undefined, -6]);
    expect(trackOf(chosen).items.slice(0, 2)).toEqual([other, copy]);
    expect((compOf(trackOf(choose(chosen, 'a', 0, 4)), TIME)[0]?.item as AudioItem).gain_db).toBe(-6);
  });

  it('cuts notes at its borders', () => {
    const midi = (id: string, pitch: number) => ({ type: 'midi', id, start_tick: 960, length_ticks: 3840, notes: [note(0, pitch), note(1920 - 240, pitch), note(1920, pitch + 1)], controls: [] });
    const project = normalizeProject({
      schema_version: 1,
      project_id: 'p',
      tracks: [{ id: 't', kind: 'instrument', items: [], takes: [midi('a', 60), midi('b', 70)] }],
    });
    const whole = chooseTake(project, TIME, 't', 'a', { startTick: 0, endTick: 10_000 });
    const mixed = chooseTake(whole, TIME, 't', 'b', { startTick: 2880, endTick: 4800 });
    expect(compOf(trackOf(mixed), TIME).map(({ item }) => item)).toMatchObject([
      { take_id: 'a', start_tick: 960, length_ticks: 1920, notes: [{ tick: 0, pitch: 60 }, { tick: 1680, length_ticks: 240, pitch: 60 }] },
      { take_id: 'b', start_tick: 2880, length_ticks: 1920, notes: [{ tick: 0, length_ticks: 240, pitch: 70 }, { tick: 0, length_ticks: 480, pitch: 71 }] },
    ]);
    expect(chooseTake(mixed, TIME, 't', 'a', { startTick: 0, endTick: 10_000 }).tracks[0]?.items).toMatchObject([{ notes: midi('a', 60).notes }]);
  });
});

describe('takes', () => {
  it('are numbered, and are as many as a track can keep', () => {
    const project = voice();
    expect(takesOf(trackOf(project)).map(({ name }) => name)).toEqual(['Take 1', 'Take 2', 'Take 3']);
    const more = addTakes(removeTake(project, 't', 'b'), 't', [audioTake('d', 0)]);
    expect(takesOf(trackOf(more)).map(({ name }) => name)).toEqual(['Take 1', 'Take 3', 'Take 4']);
    const full = addTakes(project, 't', Array.from({ length: TAKES_MAX }, (_, index) => audioTake(`x${index}`, 0)));
    expect([takesOf(trackOf(full)).length, takesOf(trackOf(full)).at(-1)?.id]).toEqual([TAKES_MAX, `x${TAKES_MAX - 1}`]);
    expect(takesOf(trackOf(addTakes(full, 't', [audioTake('late', 0)]))).length).toBe(TAKES_MAX);
  });

  it('leave ordinary clips when they are removed', () => {
    const project = choose(voice(), 'b', 1, 2);
    // The clip keeps the fade over the border.
    expect(comp(removeTake(project, 't', 'b'))).toEqual([['a', 0, BAR], ['a', 2 * BAR - FADE_TICKS, 4 * BAR]]);
    const flat = trackOf(flattenTakes(project, 't'));
    expect([flat.items.length, 'takes' in flat, flat.items.some((item) => 'take_id' in item)]).toEqual([3, false, false]);
  });

  it('are made of the passes of a recording, of which the last whole one plays', () => {
    const project = normalizeProject({ schema_version: 1, project_id: 'p', tracks: [{ id: 't', kind: 'audio', items: [] }] });
    const loop = { startFrame: 0, endFrame: BAR * FRAMES_PER_TICK };
    const record = (into: Project, frames: number): ReturnType<typeof placeRecording> => {
      const recorded = clipsOfPasses(TIME, 'f', 'Voice', 48_000, passesOf(0, frames, loop));
      if (!recorded) throw new Error('the recording is empty');
      return placeRecording(into, TIME, 't', recorded);
    };
    const once = record(project, 0.5 * loop.endFrame);
    expect([takesOf(trackOf(once.project)), trackOf(once.project).items.length, once.takeCount]).toEqual([[], 1, 0]);
    const { project: looped, clipId, takeCount } = record(project, 2.5 * loop.endFrame);
    const [first, second, third] = takesOf(trackOf(looped)).map(({ id }) => id);
    expect([takeCount, third]).toEqual([3, expect.any(String)]);
    expect(comp(looped)).toEqual([[second, 0, BAR]]);
    expect(trackOf(looped).items.map((item) => (item.type === 'audio' ? [item.id, item.offset_frames] : []))).toEqual([[clipId, loop.endFrame]]);
    expect(first).not.toBe(second);
    // A later recording at the same place becomes one more take.
    const again = record(looped, 0.9 * loop.endFrame);
    expect([again.takeCount, takesOf(trackOf(again.project)).length, comp(again.project)[0]?.[0]]).toEqual([1, 4, takesOf(trackOf(again.project))[3]?.id]);
  });
});
