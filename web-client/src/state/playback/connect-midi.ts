import type { WebMidi } from '../../engine/web-midi.svelte';
import type { Notices } from '../notices.svelte';

/** Connects MIDI keyboards and shows the result as a notice. */
export async function connectMidi(midi: WebMidi, notices: Notices): Promise<void> {
  await midi.connect();
  if (midi.state === 'denied') {
    notices.show('error', 'The browser does not let this page use MIDI keyboards. Allow it in the browser’s site settings and try again.');
  } else if (midi.inputs.length === 0) {
    notices.show('info', 'No MIDI keyboard is plugged in. The page will connect a keyboard as soon as you plug it in.');
  } else {
    notices.show('done', `Connected MIDI keyboards: ${midi.inputs.join(', ')}.`);
  }
}
