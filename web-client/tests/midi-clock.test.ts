import { describe, expect, it } from 'vitest';

import { MidiClock, UPDATE_MS } from '../src/engine/midi-clock';
import { tickAtSecs } from '../src/project/tempo';

type Sent = { message: number[]; atMs: number | undefined };

/** 120 BPM for two quarter notes, then 60 BPM. */
const TEMPO_MAP = [{ tick: 0, bpm: 120 }, { tick: 1920, bpm: 60 }];

/** Plays from `tick` for `secs`, and returns what the clock sent. */
function play(clock: MidiClock, sentMessages: Sent[], tick: number, secs: number, startMs = 1000): Sent[] {
  sentMessages.length = 0;
  for (let ms = 0; ms <= secs * 1000; ms += UPDATE_MS) {
    clock.update({ playing: true, tick: tick + tickAtSecs(TEMPO_MAP, ms / 1000), nowMs: startMs + ms, tempoMap: TEMPO_MAP });
  }
  return [...sentMessages];
}

function makeClock(): { clock: MidiClock; sentMessages: Sent[] } {
  const sentMessages: Sent[] = [];
  return { clock: new MidiClock({ send: (message, atMs) => sentMessages.push({ message, atMs }) }), sentMessages };
}

describe('MIDI clock', () => {
  it('starts with the song, and has 24 clocks for each quarter note at its tempo', () => {
    const { clock, sentMessages } = makeClock();
    const [start, ...clocks] = play(clock, sentMessages, 0, 2);
    expect(start?.message).toEqual([0xfa]);
    expect(clocks.every(({ message }) => message[0] === 0xf8)).toBe(true);
    const clockTimes = clocks.map(({ atMs = 0 }) => atMs - 1000);
    // 48 clocks in the first second, and 24 in the next, at exact times.
    expect(clockTimes.filter((ms) => ms < 1000 - 1e-6).length).toBe(48);
    expect(clockTimes[12]).toBeCloseTo(250, 6);
    expect(clockTimes[48]).toBeCloseTo(1000, 6);
    expect(clockTimes[60]).toBeCloseTo(1500, 6);
  });

  it('continues at the next sixteenth with a song position', () => {
    const { clock, sentMessages } = makeClock();
    const [position, go, first] = play(clock, sentMessages, 250, 0.2);
    // Tick 250 is after the second sixteenth, at 240; the third one is at 480.
    expect(position?.message).toEqual([0xf2, 2, 0]);
    expect(go?.message).toEqual([0xfb]);
    expect(first?.message).toEqual([0xf8]);
    expect((first?.atMs ?? 0) - 1000).toBeCloseTo(((480 - 250) / 1920) * 1000, 6);
  });

  it('sends positions above 127 sixteenths in two bytes', () => {
    const { clock, sentMessages } = makeClock();
    clock.update({ playing: true, tick: 240 * 300, nowMs: 0, tempoMap: TEMPO_MAP });
    expect(sentMessages[0]?.message).toEqual([0xf2, 300 & 0x7f, 300 >> 7]);
  });

  it('stops once, and moves after a seek or a jump of the loop', () => {
    const { clock, sentMessages } = makeClock();
    play(clock, sentMessages, 0, 0.5);
    const ahead = Math.max(...sentMessages.map(({ atMs = 0 }) => atMs));
    sentMessages.length = 0;
    clock.update({ playing: true, tick: 480, nowMs: 1525, tempoMap: TEMPO_MAP });
    expect(sentMessages.slice(0, 3).map(({ message }) => message)).toEqual([[0xfc], [0xf2, 3, 0], [0xfb]]);
    sentMessages.length = 0;
    clock.update({ playing: false, tick: 480, nowMs: 1550, tempoMap: TEMPO_MAP });
    clock.update({ playing: false, tick: 480, nowMs: 1575, tempoMap: TEMPO_MAP });
    // Not before the start, which follows the clocks that were sent ahead.
    expect(sentMessages).toEqual([{ message: [0xfc], atMs: ahead }]);
  });

  it('lets no clock that was sent ahead count after a jump', () => {
    const { clock, sentMessages } = makeClock();
    play(clock, sentMessages, 0, 1);
    const ahead = Math.max(...sentMessages.map(({ atMs = 0 }) => atMs));
    const [stop, position, go, ...clocks] = play(clock, sentMessages, 480, 0.2, 2025);
    expect(ahead).toBeGreaterThan(2025);
    expect([stop, position, go].map((entry) => entry?.atMs)).toEqual([ahead, ahead, ahead]);
    expect([stop, position, go].map((entry) => entry?.message[0])).toEqual([0xfc, 0xf2, 0xfb]);
    const sixteenths = position?.message[1] ?? 0;
    expect(clocks[0]?.atMs).toBeGreaterThanOrEqual(ahead);
    expect((clocks[0]?.atMs ?? 0) - 2025).toBeCloseTo(((sixteenths * 240 - 480) / 1920) * 1000, 6);
  });

  it('ignores a position that is no number', () => {
    const { clock, sentMessages } = makeClock();
    clock.update({ playing: true, tick: NaN, nowMs: 0, tempoMap: TEMPO_MAP });
    expect(sentMessages.filter(({ message }) => message[0] === 0xf8)).toEqual([]);
  });
});
