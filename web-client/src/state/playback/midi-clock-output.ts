/** Sends MIDI clock to the output that the user has chosen. */
import { MidiClock, UPDATE_MS } from '../../engine/midi-clock';
import type { Player } from '../../engine/player.svelte';
import type { WebMidi } from '../../engine/web-midi.svelte';
import type { Song } from '../editing/song.svelte';

/**
 * Sends MIDI clock to the output `name` until the returned function is called. Receivers get Stop
 * then. Does nothing while no output has this name.
 */
export function sendMidiClock(name: string, midi: WebMidi, player: Player, song: Song): () => void {
  const port = midi.outputNamed(name);
  if (!port) return () => {};
  const clock = new MidiClock(port);
  const timer = setInterval(() => {
    const nowMs = performance.now();
    // A count-in has no position in the song, so the clock starts after it.
    const playing = player.transport === 'playing' && player.countInSecs() === 0;
    clock.update({ playing, tick: player.tickAt(nowMs), nowMs, tempoMap: song.project.tempo_map });
  }, UPDATE_MS);
  return () => {
    clearInterval(timer);
    clock.stop();
  };
}
