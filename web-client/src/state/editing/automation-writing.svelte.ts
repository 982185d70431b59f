/** Writes moves of plugin parameters as automation while the song plays, if the user wants it. */
import type { Player } from '../../engine/player.svelte';
import { lanesOf } from '../../project/automation';
import type { AutomationPoint } from '../../project/model';
import { setLane, withWrittenValues, type WrittenValue } from '../../project/write-automation';
import type { Song } from './song.svelte';

/** A value that a control gets. `initial` is the value without automation. */
export type Move = { channelId: string; target: string; name: string; value: number; initial: number; isStepped: boolean };

/** The values that a gesture has written into a lane. */
type Writing = { key: string; before: readonly AutomationPoint[]; written: WrittenValue[] };

export class AutomationWriting {
  /** Whether moves are written while the song plays. */
  isOn = $state(false);
  readonly #song: Song;
  readonly #player: Player;
  #writing: Writing | null = null;

  constructor(song: Song, player: Player) {
    this.#song = song;
    this.#player = player;
  }

  /** Writes a move. Returns false if moves are not written now, so that they change the control. */
  write({ channelId, target, name, value, initial, isStepped }: Move, gesture: string): boolean {
    if (!this.isOn || this.#player.transport !== 'playing') return false;
    const tick = Math.round(this.#player.positionTick());
    const key = `${channelId} ${target} ${gesture}`;
    const isAtSameTick = (this.#writing?.written.at(-1)?.tick ?? -1) >= tick;
    // After a jump backwards, as in a loop, the lane is written over from there.
    if (this.#writing?.key !== key || (isAtSameTick && this.#writing.written.at(-1)?.tick !== tick)) {
      this.#writing = { key, before: this.#pointsOf(channelId, target), written: [] };
    }
    const { before, written } = this.#writing;
    if (isAtSameTick) written.pop();
    written.push({ tick, value });
    const { tempo_map: tempoMap } = this.#song.project;
    const points = withWrittenValues(before, tempoMap, written, initial, { isStepped });
    this.#song.edit(`Write automation of ${name}`, (project) => setLane(project, channelId, target, points), `automation ${key}`);
    return true;
  }

  /** Ends a gesture. The next move is a separate undo step. */
  end(): void {
    this.#writing = null;
    this.#song.endGesture();
  }

  #pointsOf(channelId: string, target: string): readonly AutomationPoint[] {
    return lanesOf(this.#song.project, channelId).find((lane) => lane.target === target)?.points ?? [];
  }
}
