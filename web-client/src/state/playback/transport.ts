/** Commands of buttons and keys that play, stop and seek. */
import type { Player } from '../../engine/player.svelte';
import type { Timeline } from '../editing/timeline.svelte';

export class Transport {
  readonly #player: Player;
  readonly #timeline: Timeline;

  constructor(player: Player, timeline: Timeline) {
    this.#player = player;
    this.#timeline = timeline;
  }

  togglePlay(): void {
    if (this.#player.transport === 'stopped') void this.#player.play();
    else this.#player.stop();
  }

  /** Stops playback. If playback has already stopped, seeks to the start of the song. */
  stop(): void {
    if (this.#player.transport === 'stopped') this.seek(0);
    else this.#player.stop();
  }

  seek(tick: number): void {
    this.#player.seekTick(tick);
  }

  seekEnd(): void {
    this.seek(this.#timeline.endTick);
  }
}
