/** Divides the notes of a recording into passes: one for each time that the loop played. */
import { barPositionAt, tickOfBarPosition } from './grid';
import { newId } from './ids';
import type { LoopRegion } from './loop';
import type { MidiItem, TempoPoint, TimeSignature } from './model';
import type { Recorded, RecordedControl, RecordedNote } from './record-notes';
import { secsAtTick } from './tempo';

export class NotePasses {
  readonly #loop: LoopRegion;
  readonly #tempoMap: readonly TempoPoint[];
  /** Number of the pass that was seen last, its latest tick, and the time of that tick. */
  #pass = 0;
  #seen: { atMs: number; tick: number } | null = null;
  readonly #passes = new Map<number, { id: string; notes: RecordedNote[]; controls: RecordedControl[] }>();

  constructor(loop: LoopRegion, tempoMap: readonly TempoPoint[]) {
    this.#loop = loop;
    this.#tempoMap = tempoMap;
  }

  /** The loop that the recording passes. */
  get loop(): LoopRegion {
    return this.#loop;
  }

  /** Returns the number of the pass that plays at a time, at which playback is at `tick`. */
  passAt(atMs: number, tick: number): number {
    const seen = this.#seen;
    if (seen) {
      const secs = (at: number): number => secsAtTick(this.#tempoMap, at);
      const loopSecs = secs(this.#loop.endTick) - secs(this.#loop.startTick);
      const jumpedSecs = (atMs - seen.atMs) / 1000 - (secs(tick) - secs(seen.tick));
      this.#pass += Math.max(0, Math.round(jumpedSecs / loopSecs));
    }
    this.#seen = { atMs, tick };
    return this.#pass;
  }

  /** Begins a new pass, because playback was moved. */
  begin(): void {
    this.#pass += 1;
    this.#seen = null;
  }

  add(pass: number, { notes, controls }: Recorded): void {
    const known = this.#passes.get(pass) ?? { id: newId('take'), notes: [], controls: [] };
    this.#passes.set(pass, { ...known, notes: [...known.notes, ...notes], controls: [...known.controls, ...controls] });
  }

  /** Returns a take for each pass with notes, from the start of the loop to its end. */
  takes(signatures: readonly TimeSignature[]): MidiItem[] {
    return this.#numbers().map((number) => this.#takeOf(number, signatures));
  }

  /**
   * Returns the id of the take that plays after the recording: the last one that was not cut off in
   * pass `lastPass`.
   */
  chosenId(lastPass: number): string | null {
    const numbers = this.#numbers();
    const number = numbers.filter((candidate) => candidate < lastPass).at(-1) ?? numbers.at(-1);
    return number === undefined ? null : (this.#passes.get(number)?.id ?? null);
  }

  #numbers(): number[] {
    return [...this.#passes.keys()].filter((number) => (this.#passes.get(number)?.notes.length ?? 0) > 0).sort((a, b) => a - b);
  }

  #takeOf(number: number, signatures: readonly TimeSignature[]): MidiItem {
    const { id = newId('take'), notes = [], controls = [] } = this.#passes.get(number) ?? {};
    const firstTick = Math.min(this.#loop.startTick, ...notes.map(({ tick }) => tick), ...controls.map(({ tick }) => tick));
    // A recording that began before the loop starts with a bar.
    const bar = tickOfBarPosition(signatures, { bar: barPositionAt(signatures, firstTick).bar, beat: 1, tick: 0 });
    const startTick = firstTick < this.#loop.startTick ? bar : this.#loop.startTick;
    const within = <T extends { tick: number }>(event: T): T => ({ ...event, tick: event.tick - startTick });
    return {
      type: 'midi',
      id,
      start_tick: startTick,
      length_ticks: this.#loop.endTick - startTick,
      notes: notes.map(within),
      controls: controls.map(within).sort((a, b) => a.tick - b.tick),
    };
  }
}
