/** Tests of the loop, of tapped tempi, and of the lanes of tempo, time signatures and markers. */
import { describe, expect, it } from 'vitest';

import { loopOf, setLoop } from '../src/project/loop';
import { emptyProject } from '../src/project/normalize';
import { TapTempo } from '../src/project/tap-tempo';
import { TIME_EVENT_LANES, type TimeEventKind, type TimeEventLane } from '../src/project/time-events';
import { draggedLoop, loopPartAt } from '../src/rooms/arrangement/loop-gestures';

describe('the loop', () => {
  it('is kept in the fields of the page beside other fields, and has ordered ends and a shortest length', () => {
    const song = { ...emptyProject(), client: { other: 1 } };
    expect(loopOf(song)).toBeNull();
    const loopedSong = setLoop(song, { startTick: 3840, endTick: 960, active: true });
    expect(loopOf(loopedSong)).toEqual({ startTick: 960, endTick: 3840, active: true });
    expect(loopedSong.client).toMatchObject({ other: 1 });
    expect(loopOf(setLoop(song, { startTick: 960, endTick: 961, active: false }))).toEqual({ startTick: 960, endTick: 1080, active: false });
    for (const loop of [{ start_tick: 5, end_tick: 4, active: true }, { start_tick: -1, end_tick: 960 }, { start_tick: 'x' }, 7, null]) {
      expect(loopOf({ ...song, client: { loop } })).toBeNull();
    }
  });

  it('is dragged by its ends and its middle, and made by a drag elsewhere', () => {
    const region = { startTick: 1000, endTick: 3000 };
    expect([995, 2995, 2000, 5000].map((tick) => loopPartAt(region, tick, 1))).toEqual(['start', 'end', 'middle', 'new']);
    expect(loopPartAt(null, 1000, 1)).toBe('new');
    const snap = (tick: number): number => Math.round(tick / 500) * 500;
    expect(draggedLoop('end', region, 3000, 4100, snap)).toEqual({ startTick: 1000, endTick: 4000 });
    expect(draggedLoop('start', region, 1000, 1600, snap)).toEqual({ startTick: 1500, endTick: 3000 });
    expect(draggedLoop('middle', region, 2000, 2600, snap)).toEqual({ startTick: 1500, endTick: 3500 });
    expect(draggedLoop('middle', region, 2000, -900, snap)).toEqual({ startTick: 0, endTick: 2000 });
    expect(draggedLoop('new', region, 7000, 5100, snap)).toEqual({ startTick: 5000, endTick: 7000 });
  });
});

describe('tapping', () => {
  it('gives the mean tempo of the last taps, and starts again after a pause', () => {
    const taps = new TapTempo();
    expect([0, 500, 1010, 1500].map((ms) => taps.tap(ms))).toEqual([null, 120, 118.8, 120]);
    expect(taps.tap(4000)).toBeNull();
    expect(taps.tap(4400)).toBe(150);
    expect(taps.series).toBe(2);
  });
});

describe('the lanes above the arrangement', () => {
  const laneOf = (kind: TimeEventKind): TimeEventLane => TIME_EVENT_LANES.find((lane) => lane.kind === kind) as TimeEventLane;

  it('insert, type, move and delete tempo changes, but not the first', () => {
    const tempo = laneOf('tempo');
    const texts = (song: ReturnType<typeof emptyProject>): string[] => tempo.events(song).map(({ tick, text }) => `${tick}:${text}`);
    let song = tempo.insert(emptyProject(), 3840);
    expect(texts(song)).toEqual(['0:120', '3840:120']);
    expect(tempo.insert(song, 3840)).toBe(song);
    song = tempo.setText(song, 1, '90.5') ?? song;
    expect(['0', '1000', 'fast'].map((text) => tempo.setText(song, 1, text))).toEqual([null, null, null]);
    song = tempo.move(tempo.insert(song, 1920), 2, 960);
    expect(texts(song)).toEqual(['0:120', '960:90.5', '1920:120']);
    expect([tempo.move(song, 0, 960), tempo.move(song, 1, 0), tempo.move(song, 1, 1920), tempo.remove(song, 0)]).toEqual([song, song, song, song]);
    expect(texts(tempo.remove(song, 1))).toEqual(['0:120', '1920:120']);
  });

  it('keep time signatures at the starts of bars', () => {
    const signature = laneOf('signature');
    const song = signature.setText(signature.insert(emptyProject(), 7680), 1, '3/4');
    expect(song?.time_signatures).toEqual([
      { tick: 0, numerator: 4, denominator: 4 },
      { tick: 7680, numerator: 3, denominator: 4 },
    ]);
    expect(signature.setText(emptyProject(), 0, '3/5')).toBeNull();
    expect([5700, 5800, 7680 + 1500].map((tick) => song && signature.snap(song, tick, false))).toEqual([3840, 7680, 7680 + 2880]);
  });

  it('have markers anywhere', () => {
    const marker = laneOf('marker');
    const song = marker.setText(marker.insert(marker.insert(emptyProject(), 960), 0), 0, 'Intro');
    expect(song?.markers).toEqual([
      { tick: 0, name: 'Intro' },
      { tick: 960, name: 'Marker 1' },
    ]);
    expect(marker.setText(emptyProject(), 0, 'x'.repeat(501))).toBeNull();
    expect([1300, 1500].map((tick) => song && marker.snap(song, tick, false))).toEqual([960, 1920]);
    expect(song && marker.snap(song, 1300, true)).toBe(1300);
  });
});
