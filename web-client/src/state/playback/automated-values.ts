/** Computes the values of automated controls at the playhead. */
import { createSubscriber } from 'svelte/reactivity';

import { onFrame } from '../../canvas/frames';
import type { Player } from '../../engine/player.svelte';
import { lanesOf, valueAtTick } from '../../project/automation';
import type { Song } from '../editing/song.svelte';

export class AutomatedValues {
  readonly #song: Song;
  readonly #player: Player;
  readonly #followPlayhead: () => void;

  constructor(song: Song, player: Player) {
    this.#song = song;
    this.#player = player;
    this.#followPlayhead = createSubscriber((update) => {
      let previousTick = NaN;
      return onFrame(() => {
        const tick = player.positionTick();
        if (tick !== previousTick) update();
        previousTick = tick;
      });
    });
  }

  /** Returns the value of a target of a track or the master; null if it is not automated. */
  currentValueOf(channelId: string, target: string): number | null {
    const { project } = this.#song;
    const points = lanesOf(project, channelId).find((lane) => lane.target === target)?.points ?? [];
    if (points.length === 0) return null;
    this.#followPlayhead();
    return valueAtTick(points, project.tempo_map, this.#player.positionTick());
  }
}
