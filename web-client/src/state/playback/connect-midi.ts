import type { WebMidi } from '../../engine/web-midi.svelte';
import type { Notices } from '../notices.svelte';

/** Connects MIDI keyboards, and tells the visitor the result. */
export async function connectMidi(midi: WebMidi, notices: Notices): Promise<void> {
  await midi.connect();
  if (midi.state === 'denied') {
    notices.show('error', 'The browser did not allow MIDI keyboards; allow them in its site settings and try again.');
  } else if (midi.inputs.length === 0) {
    notices.show('info', 'No MIDI keyboard is plugged in yet; the page connects one as soon as it is.');
  } else {
    notices.show('done', `Listening to ${midi.inputs.join(', ')}.`);
  }
}
