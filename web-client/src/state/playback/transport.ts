/** Commands of buttons and keys that play, stop and seek. */
import type { Player } from '../../engine/player.svelte';
import type { Recorder } from '../recording/recorder';
import type { Timeline } from '../editing/timeline.svelte';
import type { Preferences } from '../view/preferences.svelte';

export class Transport {
  readonly #player: Player;
  readonly #timeline: Timeline;
  readonly #preferences: Preferences;

  readonly #recorder: Recorder;

  constructor(player: Player, timeline: Timeline, preferences: Preferences, recorder: Recorder) {
    this.#player = player;
    this.#timeline = timeline;
    this.#preferences = preferences;
    this.#recorder = recorder;
  }

  togglePlay(): void {
    if (this.#player.transport === 'stopped') void this.#player.play();
    else this.#stopPlayback();
  }

  /** Stops playback. If playback has already stopped, seeks to the start of the song. */
  stop(): void {
    if (this.#player.transport === 'stopped') this.seek(0);
    else this.#stopPlayback();
  }

  seek(tick: number): void {
    this.#player.seekTick(tick);
  }

  seekEnd(): void {
    this.seek(this.#timeline.endTick);
  }

  #stopPlayback(): void {
    const wasPlaying = this.#player.transport === 'playing';
    // Notes of held keys end where playback stops.
    this.#recorder.finish();
    this.#player.stop();
    if (wasPlaying && this.#preferences.transport.stopReturns) this.#player.returnToStart();
  }
}
