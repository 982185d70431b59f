import { describe, expect, it } from 'vitest';

import { MidiClock, UPDATE_MS } from '../src/engine/midi-clock';
import { tickAtSecs } from '../src/project/tempo';

type Sent = { message: number[]; atMs: number | undefined };

/** 120 BPM for two quarter notes, then 60 BPM. */
const TEMPO_MAP = [{ tick: 0, bpm: 120 }, { tick: 1920, bpm: 60 }];

/** Plays from `tick` for `secs`, and returns what the clock sent. */
function play(clock: MidiClock, sent: Sent[], tick: number, secs: number, startMs = 1000): Sent[] {
  sent.length = 0;
  for (let ms = 0; ms <= secs * 1000; ms += UPDATE_MS) {
    clock.update({ playing: true, tick: tick + tickAtSecs(TEMPO_MAP, ms / 1000), nowMs: startMs + ms, tempoMap: TEMPO_MAP });
  }
  return [...sent];
}

function makeClock(): { clock: MidiClock; sent: Sent[] } {
  const sent: Sent[] = [];
  return { clock: new MidiClock({ send: (message, atMs) => sent.push({ message, atMs }) }), sent };
}

describe('MIDI clock', () => {
  it('starts with the song, and has 24 clocks for each quarter note at its tempo', () => {
    const { clock, sent } = makeClock();
    const [start, ...clocks] = play(clock, sent, 0, 2);
    expect(start?.message).toEqual([0xfa]);
    expect(clocks.every(({ message }) => message[0] === 0xf8)).toBe(true);
    const times = clocks.map(({ atMs = 0 }) => atMs - 1000);
    // 48 clocks in the first second, and 24 in the next, at exact times.
    expect(times.filter((ms) => ms < 1000 - 1e-6).length).toBe(48);
    expect(times[12]).toBeCloseTo(250, 6);
    expect(times[48]).toBeCloseTo(1000, 6);
    expect(times[60]).toBeCloseTo(1500, 6);
  });

  it('continues at the next sixteenth with a song position', () => {
    const { clock, sent } = makeClock();
    const [position, go, first] = play(clock, sent, 250, 0.2);
    // Tick 250 is after the second sixteenth, at 240; the third one is at 480.
    expect(position?.message).toEqual([0xf2, 2, 0]);
    expect(go?.message).toEqual([0xfb]);
    expect(first?.message).toEqual([0xf8]);
    expect((first?.atMs ?? 0) - 1000).toBeCloseTo(((480 - 250) / 1920) * 1000, 6);
  });

  it('sends positions above 127 sixteenths in two bytes', () => {
    const { clock, sent } = makeClock();
    clock.update({ playing: true, tick: 240 * 300, nowMs: 0, tempoMap: TEMPO_MAP });
    expect(sent[0]?.message).toEqual([0xf2, 300 & 0x7f, 300 >> 7]);
  });

  it('stops once, and moves after a seek or a jump of the loop', () => {
    const { clock, sent } = makeClock();
    play(clock, sent, 0, 0.5);
    sent.length = 0;
    clock.update({ playing: true, tick: 480, nowMs: 1525, tempoMap: TEMPO_MAP });
    expect(sent.slice(0, 3).map(({ message }) => message)).toEqual([[0xfc], [0xf2, 2, 0], [0xfb]]);
    sent.length = 0;
    clock.update({ playing: false, tick: 480, nowMs: 1550, tempoMap: TEMPO_MAP });
    clock.update({ playing: false, tick: 480, nowMs: 1575, tempoMap: TEMPO_MAP });
    expect(sent).toEqual([{ message: [0xfc], atMs: undefined }]);
  });
});
