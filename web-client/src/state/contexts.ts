/**
 * The Svelte contexts that give components their state. There is a context for each subject, and a
 * component gets those that it needs, such as `const { song } = getEditing()`. {@link
 * provideWorkspace} sets all contexts at the root of the page.
 */
import { createContext } from 'svelte';

import type { LiveKeys } from '../engine/live-keys.svelte';
import type { Player } from '../engine/player.svelte';
import type { WebMidi } from '../engine/web-midi.svelte';
import type { Account } from './account/account';
import type { AudioClipCommands } from './editing/audio-clip-commands';
import type { AudioProcessing } from './editing/audio-processing.svelte';
import type { AutomationWriting } from './editing/automation-writing.svelte';
import type { AutomationCommands } from './editing/automation-commands.svelte';
import type { ClipCommands } from './editing/clip-commands';
import type { EffectCommands } from './editing/effect-commands';
import type { Selection } from './editing/selection.svelte';
import type { Freezing } from './editing/freezing.svelte';
import type { LoopCommands } from './editing/loop-commands';
import type { NoteCommands } from './editing/note-commands.svelte';
import type { PluginCommands } from './editing/plugin-commands.svelte';
import type { PluginWindows } from './editing/plugin-windows.svelte';
import type { SelectionCommands } from './editing/selection-commands';
import type { Song } from './editing/song.svelte';
import type { StepInput } from './editing/step-input.svelte';
import type { TakeCommands } from './editing/take-commands.svelte';
import type { Timeline } from './editing/timeline.svelte';
import type { TrackCommands } from './editing/track-commands';
import type { AudioFiles } from './library/audio-files.svelte';
import type { EffectCatalog } from './library/effect-catalog.svelte';
import type { FavouritePlugins } from './library/favourite-plugins.svelte';
import type { Instruments } from './library/instruments';
import type { PluginCatalog } from './library/plugin-catalog.svelte';
import type { PluginParameters } from './library/plugin-parameters.svelte';
import type { PluginSetup } from './library/plugin-setup.svelte';
import type { SoundFontCatalog } from './library/soundfont-catalog.svelte';
import type { SoundFontUploads } from './library/soundfont-uploads.svelte';
import type { Notices } from './notices.svelte';
import type { AutomatedValues } from './playback/automated-values';
import type { NotePreview } from './playback/note-preview';
import type { PluginKeysHint } from './playback/plugin-keys-hint.svelte';
import type { InstrumentRenderer } from './playback/instrument-renderer.svelte';
import type { Transport } from './playback/transport';
import type { Recorder } from './recording/recorder';
import type { Autosaves } from './songs/autosaves.svelte';
import type { Comparing } from './songs/comparing.svelte';
import type { ExportPresets } from './songs/export-presets.svelte';
import type { ExportHistory } from './songs/export-history.svelte';
import type { Exporting } from './songs/exporting.svelte';
import type { MidiFiles } from './songs/midi-files.svelte';
import type { ProjectFiles } from './songs/project-files.svelte';
import type { Saving } from './songs/saving.svelte';
import type { SongList } from './songs/song-list.svelte';
import type { SongSwitch } from './songs/song-switch.svelte';
import type { View } from './view/view.svelte';

/** The open song, the selection in it, and the commands that edit it. */
export type Editing = {
  song: Song;
  selection: Selection;
  timeline: Timeline;
  trackCommands: TrackCommands;
  clipCommands: ClipCommands;
  selectionCommands: SelectionCommands;
  noteCommands: NoteCommands;
  stepInput: StepInput;
  effectCommands: EffectCommands;
  automation: AutomationCommands;
  automationWriting: AutomationWriting;
  loopCommands: LoopCommands;
  takeCommands: TakeCommands;
  audioClipCommands: AudioClipCommands;
  audioProcessing: AudioProcessing;
  pluginCommands: PluginCommands;
  pluginWindows: PluginWindows;
  freezing: Freezing;
};

/** The engine, the transport, and the notes that the user plays live. */
export type Playback = {
  player: Player;
  transport: Transport;
  liveKeys: LiveKeys;
  notePreview: NotePreview;
  midi: WebMidi;
  recorder: Recorder;
  pluginKeysHint: PluginKeysHint;
  automatedValues: AutomatedValues;
  instrumentRenderer: InstrumentRenderer;
};

/** Saving, opening, exporting and importing songs, and presets of exports. */
export type Songs = {
  saving: Saving;
  autosaves: Autosaves;
  songList: SongList;
  songSwitch: SongSwitch;
  midiFiles: MidiFiles;
  projectFiles: ProjectFiles;
  exporting: Exporting;
  exportHistory: ExportHistory;
  comparing: Comparing;
  exportPresets: ExportPresets;
};

/** The sounds, plugins, effects and audio files that the service offers. */
export type Library = {
  soundFonts: SoundFontCatalog;
  soundFontUploads: SoundFontUploads;
  plugins: PluginCatalog;
  pluginParameters: PluginParameters;
  pluginSetup: PluginSetup;
  instruments: Instruments;
  effectCatalog: EffectCatalog;
  favouritePlugins: FavouritePlugins;
  audioFiles: AudioFiles;
};

export type Workspace = {
  account: Account;
  editing: Editing;
  playback: Playback;
  songs: Songs;
  library: Library;
  view: View;
  notices: Notices;
};

export const [getAccount, setAccount] = createContext<Account>();
export const [getEditing, setEditing] = createContext<Editing>();
export const [getPlayback, setPlayback] = createContext<Playback>();
export const [getSongs, setSongs] = createContext<Songs>();
export const [getLibrary, setLibrary] = createContext<Library>();
export const [getView, setView] = createContext<View>();
export const [getNotices, setNotices] = createContext<Notices>();

/** Sets the contexts for the components below the calling component. */
export function provideWorkspace(workspace: Workspace): void {
  setAccount(workspace.account);
  setEditing(workspace.editing);
  setPlayback(workspace.playback);
  setSongs(workspace.songs);
  setLibrary(workspace.library);
  setView(workspace.view);
  setNotices(workspace.notices);
}
