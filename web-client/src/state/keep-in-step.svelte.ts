/** What goes on by itself while the workstation is open. */
import { untrack } from 'svelte';

import type { App } from './app.svelte';
import { isAudioFile, isMidiFile } from './pick-file';
import { listenToKeys } from './shortcuts';

const DEFAULT_AUTOSAVE_SECS = 30;
const DEFAULT_POLL_SECS = 3;
/** How long editing pauses before a large song is autosaved. */
const SETTLE_MS = 4000;

/** To be called while a component is made; everything ends with it. */
export function keepInStep(app: App): void {
  const { song, player, saving, session } = app;

  // What is edited is heard.
  $effect(() => {
    const { project } = song;
    untrack(() => void player.sync(project));
  });

  // Files that are played are known, and drawn.
  $effect(() => {
    const { project } = song;
    untrack(() => app.audio.learn(project));
  });

  // Another song starts at its beginning.
  $effect(() => {
    void song.generation;
    untrack(() => {
      player.stop();
      player.seekTick(0);
    });
  });

  // A large song is autosaved whenever editing pauses: it cannot be sent off while the page closes.
  $effect(() => {
    void song.project;
    const timer = setTimeout(() => void saving.autosaveIfLarge(), SETTLE_MS);
    return () => clearTimeout(timer);
  });

  $effect(() => listenToKeys(app));

  $effect(() => {
    const limits = session.capabilities?.limits;
    const autosave = setInterval(() => void saving.autosave(), (limits?.autosave_secs ?? DEFAULT_AUTOSAVE_SECS) * 1000);
    const poll = setInterval(() => void saving.poll(), (limits?.revision_poll_secs ?? DEFAULT_POLL_SECS) * 1000);
    return () => {
      clearInterval(autosave);
      clearInterval(poll);
    };
  });

  $effect(() => {
    const listeners = new AbortController();
    const { signal } = listeners;
    const resume = (): void => player.resume();
    window.addEventListener('pointerdown', resume, { signal, capture: true });
    window.addEventListener('keydown', resume, { signal, capture: true });
    document.addEventListener(
      'visibilitychange',
      () => {
        if (document.hidden) saving.flush();
      },
      { signal },
    );
    window.addEventListener('pagehide', () => saving.flush(), { signal });
    window.addEventListener(
      'beforeunload',
      (event) => {
        if (saving.flush()) event.preventDefault();
      },
      { signal },
    );
    window.addEventListener('dragover', (event) => event.preventDefault(), { signal });
    window.addEventListener(
      'drop',
      (event) => {
        event.preventDefault();
        void takeFiles(app, [...(event.dataTransfer?.files ?? [])]);
      },
      { signal },
    );
    return () => listeners.abort();
  });
}

async function takeFiles(app: App, files: File[]): Promise<void> {
  for (const file of files) {
    if (isMidiFile(file)) await app.commands.openMidiFile(file);
    else if (isAudioFile(file)) await app.clips.addFiles([file], { trackId: null, tick: Math.round(app.player.positionTick()) });
    else app.notices.show('error', `${file.name} is neither a MIDI nor an audio file (WAV, AIFF, FLAC, MP3, Ogg Vorbis, AAC).`);
  }
}
