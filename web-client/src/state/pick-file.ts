/** Lets the user choose a file. Resolves to null if the user cancels. */
export function pickFile(accept: string): Promise<File | null> {
  return new Promise((resolve) => {
    const input = document.createElement('input');
    input.type = 'file';
    input.accept = accept;
    input.addEventListener('change', () => resolve(input.files?.[0] ?? null));
    input.addEventListener('cancel', () => resolve(null));
    input.click();
  });
}

/** File name extensions and media types of Standard MIDI Files. */
export const MIDI_ACCEPT = '.mid,.midi,.kar,.rmi,audio/midi,audio/x-midi';

/** File name extensions of the audio formats that the service reads. */
export const AUDIO_ACCEPT = '.wav,.aif,.aiff,.flac,.mp3,.ogg,.oga,.m4a,.aac';

/** File name extensions of SoundFonts. */
export const SOUNDFONT_ACCEPT = '.sf2,.sf3';

/** File name extensions of presets of plugins. */
export const PLUGIN_PRESET_ACCEPT = '.vstpreset,.fxp,.fxb';

/** File name extensions of files that contain a song with its audio. */
export const PROJECT_FILE_ACCEPT = '.dawproject,.zip';

export function isAudioFile(file: File): boolean {
  return /\.(wav|aiff?|flac|mp3|og[ga]|m4a|aac)$/i.test(file.name);
}

export function isMidiFile(file: File): boolean {
  return /\.(midi?|kar|rmi)$/i.test(file.name) || /^audio\/(x-)?midi$/.test(file.type);
}

export function isProjectFile(file: File): boolean {
  return /\.(dawproject|zip)$/i.test(file.name);
}
