/** Names of the keys of drum kits, after the percussion map of General MIDI 2. */
import { keyName } from './format';
import type { Track } from './model';

/** MIDI key of the first name in `NAMES`. */
const FIRST_KEY = 27;
const NAMES: readonly string[] = [
  'High Q',
  'Slap',
  'Scratch push',
  'Scratch pull',
  'Sticks',
  'Square click',
  'Metronome click',
  'Metronome bell',
  'Kick 2',
  'Kick 1',
  'Side stick',
  'Snare 1',
  'Hand clap',
  'Snare 2',
  'Low floor tom',
  'Closed hi-hat',
  'High floor tom',
  'Pedal hi-hat',
  'Low tom',
  'Open hi-hat',
  'Low mid tom',
  'High mid tom',
  'Crash 1',
  'High tom',
  'Ride 1',
  'China cymbal',
  'Ride bell',
  'Tambourine',
  'Splash cymbal',
  'Cowbell',
  'Crash 2',
  'Vibraslap',
  'Ride 2',
  'High bongo',
  'Low bongo',
  'Mute conga',
  'Open conga',
  'Low conga',
  'High timbale',
  'Low timbale',
  'High agogo',
  'Low agogo',
  'Cabasa',
  'Maracas',
  'Short whistle',
  'Long whistle',
  'Short guiro',
  'Long guiro',
  'Claves',
  'High woodblock',
  'Low woodblock',
  'Mute cuica',
  'Open cuica',
  'Mute triangle',
  'Open triangle',
  'Shaker',
  'Jingle bell',
  'Bell tree',
  'Castanets',
  'Mute surdo',
  'Open surdo',
];

/** MIDI bank of drum kits. */
const DRUM_BANK = 128;

/** Whether a track plays a drum kit, whose keys are instruments instead of pitches. */
export function isDrumTrack({ synth_engine: engine }: Track): boolean {
  return engine?.type === 'soundfont' && engine.bank === DRUM_BANK;
}

/** Returns the drum that a key plays; null for a key without a name. */
export function drumName(key: number): string | null {
  return NAMES[key - FIRST_KEY] ?? null;
}

/** Returns the name of a key of a track: the drum of a kit, or the note, such as `C4`. */
export function keyNameIn(track: Track, key: number): string {
  return (isDrumTrack(track) ? drumName(key) : null) ?? keyName(key);
}
