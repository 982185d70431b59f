/** Svelte effects that update the engine, the autosave and the audio files while a song is open. */
import { activeLoopOf } from './project/loop';
import { untrack } from 'svelte';

import { listenToKeys } from './keyboard/listen-to-keys';
import type { Workspace } from './state/contexts';
import { writeTabStored } from './state/local-storage';
import { sendMidiClock } from './state/playback/midi-clock-output';
import { isAudioFile, isMidiFile, isProjectFile } from './state/pick-file';

const DEFAULT_AUTOSAVE_SECS = 30;
const DEFAULT_POLL_SECS = 3;
/** Time after the last edit until a large song is autosaved, in milliseconds. */
const SETTLE_MS = 4000;
/** Time after the last edit until this browser keeps the unsaved work, in milliseconds. */
const LOCAL_SETTLE_MS = 400;
/** Number of polls of the open song for each poll of the list of songs. */
const LIST_POLLS = 5;

/**
 * Starts the effects. A component must call this function while the component is created; the
 * effects end when the component is destroyed.
 */
export function startWorkspaceEffects(workspace: Workspace): void {
  syncSong(workspace);
  endRecording(workspace);
  sendClock(workspace);
  $effect(() => listenToKeys(workspace));
  autosave(workspace);
  $effect(() => listenToWindow(workspace));
}

/**
 * Sends every edit to the engine, loads new audio files, and rewinds and resets the meters if
 * another song is opened.
 */
function syncSong({ editing: { song, pluginWindows }, playback: { player }, library: { audioFiles }, view: { preferences } }: Workspace): void {
  $effect(() => {
    const { metronome, metronomeDb, countInBars } = preferences.transport;
    untrack(() => player.setMetronome({ on: metronome, gainDb: metronomeDb, countInBars }));
  });
  $effect(() => {
    const { project } = song;
    untrack(() => void player.sync(project));
  });
  $effect(() => {
    const { project } = song;
    untrack(() => audioFiles.loadFor(project));
  });
  $effect(() => {
    void song.generation;
    untrack(() => {
      player.stop();
      player.seekTick(0);
      player.meters.clear();
      player.resetLoudness();
      // The plugins of another song have other windows.
      pluginWindows.closeAll();
    });
  });
}

/** Sends MIDI clock to the chosen output while it is plugged in. */
function sendClock({ editing: { song }, playback: { player, midi }, view: { preferences } }: Workspace): void {
  $effect(() => {
    const name = preferences.midiClockOutput;
    if (!midi.outputs.includes(name)) return;
    return untrack(() => sendMidiClock(name, midi, player, song));
  });
}

/** Ends a recording when playback ends, and keeps the audible input at the level of its track. */
function endRecording({ editing: { song }, account, playback: { player, recorder } }: Workspace): void {
  $effect(() => {
    void [song.generation, account.session.user?.id];
    untrack(() => {
      recorder.audio.disarm();
      void recorder.audio.offerRecovery();
    });
  });
  $effect(() => {
    const loop = activeLoopOf(song.project);
    untrack(() => recorder.loopChanged(loop));
  });
  $effect(() => {
    void song.project;
    untrack(() => recorder.audio.applyMonitoring());
  });
  $effect(() => {
    if (player.transport === 'stopped') untrack(() => recorder.playbackStopped());
  });
}

/**
 * Keeps unsaved work in this browser and autosaves it on the service, checks for autosaves of other
 * windows, and keeps the list of songs current.
 */
function autosave({ account, editing: { song }, songs: { saving, autosaves, songList } }: Workspace): void {
  $effect(() => {
    void [song.project, song.isDirty];
    const timer = setTimeout(() => void autosaves.keepLocally(), LOCAL_SETTLE_MS);
    return () => clearTimeout(timer);
  });
  // The tab opens its song again when the page is reloaded.
  $effect(() => {
    if (song.generation > 0) writeTabStored('open-song', song.project.project_id);
  });
  // A large song is autosaved soon, because the page cannot send it while the page is closed.
  $effect(() => {
    void song.project;
    const timer = setTimeout(() => {
      if (!saving.conflict) void autosaves.writeIfLarge();
    }, SETTLE_MS);
    return () => clearTimeout(timer);
  });
  $effect(() => {
    const limits = account.session.capabilities?.limits;
    const autosaveSecs = limits?.autosave_secs ?? DEFAULT_AUTOSAVE_SECS;
    const pollSecs = limits?.revision_poll_secs ?? DEFAULT_POLL_SECS;
    const autosaveTimer = setInterval(() => void saving.autosave(), autosaveSecs * 1000);
    const pollTimer = setInterval(() => void autosaves.poll(), pollSecs * 1000);
    const endList = songList.keepCurrent(pollSecs * LIST_POLLS * 1000);
    return () => {
      clearInterval(autosaveTimer);
      clearInterval(pollTimer);
      endList();
    };
  });
}

/**
 * Listens to clicks and keys, to dropped files and to the closing of the page, until the returned
 * function is called.
 */
function listenToWindow(workspace: Workspace): () => void {
  const { player } = workspace.playback;
  const { saving, autosaves } = workspace.songs;
  const flush = (): boolean => !saving.conflict && autosaves.flush();
  const listeners = new AbortController();
  const { signal } = listeners;
  const resume = (): void => player.resume();
  window.addEventListener('pointerdown', resume, { signal, capture: true });
  window.addEventListener('keydown', resume, { signal, capture: true });
  document.addEventListener(
    'visibilitychange',
    () => {
      if (document.hidden) flush();
    },
    { signal },
  );
  window.addEventListener('pagehide', flush, { signal });
  window.addEventListener(
    'beforeunload',
    (event) => {
      if (flush()) event.preventDefault();
    },
    { signal },
  );
  window.addEventListener('dragover', (event) => event.preventDefault(), { signal });
  window.addEventListener(
    'drop',
    (event) => {
      event.preventDefault();
      void addFiles(workspace, [...(event.dataTransfer?.files ?? [])]);
    },
    { signal },
  );
  return () => listeners.abort();
}

async function addFiles({ editing, songs, notices }: Workspace, files: File[]): Promise<void> {
  for (const file of files) {
    if (isMidiFile(file)) await songs.midiFiles.open(file);
    else if (isAudioFile(file)) await editing.audioClipCommands.addFilesAtPlayhead([file]);
    else if (isProjectFile(file)) await songs.projectFiles.open(file);
    else {
      const acceptedFiles = 'a MIDI file, an audio file (WAV, AIFF, FLAC, MP3, Ogg Vorbis, AAC), a DAWproject file or a bundle';
      notices.show('error', `${file.name} is not ${acceptedFiles}.`);
    }
  }
}
