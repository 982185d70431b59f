/**
 * Sends MIDI clock to a MIDI output, so that drum machines, synthesizers and other programs follow
 * the song: 24 clocks for each quarter note, Start, Stop, Continue and Song Position Pointer (MIDI
 * 1.0, system common and real-time messages).
 */
import { TICKS_PER_QUARTER, type TempoPoint } from '../project/model';
import { secsAtTick } from '../project/tempo';

/** The member of a MIDIOutput that the clock needs. `atMs` is a time of `performance.now()`. */
export type ClockPort = { send: (message: number[], atMs?: number) => void };

/** The state of playback at `nowMs`. `tick` is audible then. */
export type ClockState = { playing: boolean; tick: number; nowMs: number; tempoMap: readonly TempoPoint[] };

const CLOCK = 0xf8;
const START = 0xfa;
const CONTINUE = 0xfb;
const STOP = 0xfc;
const SONG_POSITION = 0xf2;

/** Ticks between two clocks. */
const CLOCK_TICKS = TICKS_PER_QUARTER / 24;
/** Ticks between two values of the song position, which counts sixteenths. */
const POSITION_TICKS = TICKS_PER_QUARTER / 4;
/** Highest song position, which has 14 bits. */
const POSITION_MAX = 0x3fff;

/** Interval of {@link MidiClock.update} in milliseconds. */
export const UPDATE_MS = 25;
/** How far ahead clocks are sent, in milliseconds: several updates, because timers are late. */
const AHEAD_MS = 120;
/**
 * Difference between the expected and the audible position, in milliseconds, that counts as a seek
 * or a jump of the loop. The position of the audio varies by a few milliseconds.
 */
const SEEK_MS = 60;

export class MidiClock {
  readonly #port: ClockPort;
  /** The state at the last update; null while stopped. */
  #last: ClockState | null = null;
  /** Number of the next clock, counted from the start of the song. */
  #nextClock = 0;

  constructor(port: ClockPort) {
    this.#port = port;
  }

  /** Sends the messages of the next moments. Must be called every {@link UPDATE_MS}. */
  update(state: ClockState): void {
    if (!state.playing) return this.stop();
    if (this.#last === null || hasMoved(this.#last, state)) this.#startAt(state);
    this.#last = state;
    const { tick, nowMs, tempoMap } = state;
    const audibleSecs = secsAtTick(tempoMap, tick);
    for (;;) {
      const atMs = nowMs + (secsAtTick(tempoMap, this.#nextClock * CLOCK_TICKS) - audibleSecs) * 1000;
      if (atMs > nowMs + AHEAD_MS) return;
      this.#port.send([CLOCK], Math.max(nowMs, atMs));
      this.#nextClock += 1;
    }
  }

  /** Sends Stop, if the receivers play. */
  stop(): void {
    if (this.#last) this.#port.send([STOP]);
    this.#last = null;
  }

  /**
   * Lets the receivers start at the next sixteenth, because the song position counts sixteenths.
   */
  #startAt({ tick }: ClockState): void {
    if (this.#last) this.#port.send([STOP]);
    const position = Math.min(POSITION_MAX, Math.max(0, Math.ceil(tick / POSITION_TICKS - 1e-6)));
    if (position === 0) this.#port.send([START]);
    else {
      this.#port.send([SONG_POSITION, position & 0x7f, position >> 7]);
      this.#port.send([CONTINUE]);
    }
    this.#nextClock = (position * POSITION_TICKS) / CLOCK_TICKS;
  }
}

/** Whether playback has moved between two states by other means than time. */
function hasMoved(last: ClockState, state: ClockState): boolean {
  const playedMs = (secsAtTick(state.tempoMap, state.tick) - secsAtTick(state.tempoMap, last.tick)) * 1000;
  return Math.abs(playedMs - (state.nowMs - last.nowMs)) > SEEK_MS;
}
