/** Creates the state of the page, which all components share. */
import { LiveKeys, type LiveTarget } from '../engine/live-keys.svelte';
import { Player } from '../engine/player.svelte';
import { WebMidi } from '../engine/web-midi.svelte';
import { describeFrozenPartsChange } from '../project/freezing';
import { newId } from '../project/ids';
import { isPluginEngine, type Track } from '../project/model';
import { Account } from './account/account';
import { Session } from './account/session.svelte';
import type { Editing, Library, Playback, Songs, Workspace } from './contexts';
import { AudioClipCommands } from './editing/audio-clip-commands';
import { AudioProcessing } from './editing/audio-processing.svelte';
import { AutomationWriting } from './editing/automation-writing.svelte';
import { AutomationCommands } from './editing/automation-commands.svelte';
import { ClipCommands } from './editing/clip-commands';
import { Clipboard } from './editing/clipboard';
import { EffectCommands } from './editing/effect-commands';
import { Freezing } from './editing/freezing.svelte';
import { LoopCommands } from './editing/loop-commands';
import { NoteCommands } from './editing/note-commands.svelte';
import { PluginCommands } from './editing/plugin-commands.svelte';
import { PluginWindows } from './editing/plugin-windows.svelte';
import { SelectionCommands } from './editing/selection-commands';
import { Song } from './editing/song.svelte';
import { StepInput } from './editing/step-input.svelte';
import { TakeCommands } from './editing/take-commands.svelte';
import { Timeline } from './editing/timeline.svelte';
import { TrackCommands } from './editing/track-commands';
import { AudioFiles } from './library/audio-files.svelte';
import { EffectCatalog } from './library/effect-catalog.svelte';
import { FavouritePlugins } from './library/favourite-plugins.svelte';
import { Instruments } from './library/instruments';
import { PluginCatalog } from './library/plugin-catalog.svelte';
import { PluginParameters } from './library/plugin-parameters.svelte';
import { PluginSetup } from './library/plugin-setup.svelte';
import { SoundFontCatalog } from './library/soundfont-catalog.svelte';
import { SoundFontUploads } from './library/soundfont-uploads.svelte';
import { Notices } from './notices.svelte';
import { AutomatedValues } from './playback/automated-values';
import { NotePreview } from './playback/note-preview';
import { PluginKeysHint } from './playback/plugin-keys-hint.svelte';
import { InstrumentRenderer } from './playback/instrument-renderer.svelte';
import { Transport } from './playback/transport';
import { AudioRecorder } from './recording/audio-recorder.svelte';
import { NoteRecorder } from './recording/note-recorder.svelte';
import { Recorder } from './recording/recorder';
import { IndexedDbRecordings } from './recording/recording-store';
import { Autosaves } from './songs/autosaves.svelte';
import { Comparing } from './songs/comparing.svelte';
import { ExportPresets } from './songs/export-presets.svelte';
import { ExportHistory } from './songs/export-history.svelte';
import { Exporting } from './songs/exporting.svelte';
import { IndexedDbCopies } from './songs/local-copies';
import { MidiFiles } from './songs/midi-files.svelte';
import { isOpen, markOpen } from './songs/open-windows';
import { ProjectFiles } from './songs/project-files.svelte';
import { Restoring } from './songs/restoring';
import { Saving } from './songs/saving.svelte';
import { SongList } from './songs/song-list.svelte';
import { SongSwitch } from './songs/song-switch.svelte';
import { View } from './view/view.svelte';

export function createWorkspace(): Workspace {
  const session = new Session();
  const { api } = session;
  const notices = new Notices();
  const view = new View();
  const { preferences } = view;
  const song = new Song((change) =>
    notices.show('info', describeFrozenPartsChange(change), [
      { label: `Unfreeze${change.deletedSource ? ` ${change.frozenTrack.name}` : ''}`, action: () => freezing.unfreeze(change.frozenTrack) },
    ]),
  );

  const soundFonts = new SoundFontCatalog(api);
  const plugins = new PluginCatalog(api);
  const pluginParameters = new PluginParameters(api);
  const instruments = new Instruments(soundFonts, plugins);
  const effectCatalog = new EffectCatalog(api);
  const audioFiles = new AudioFiles(api);
  const instrumentRenderer = new InstrumentRenderer(session, preferences);
  const player = new Player(api, {
    defaultSoundfontId: () => session.capabilities?.default_soundfont_id ?? soundFonts.defaultId,
    instrumentSound: () => instrumentRenderer.current,
    kindOf: (effect) => effectCatalog.kindOf(effect),
    audioFileName: (fileId) => audioFiles.fileOf(fileId)?.name ?? null,
    reportFailure: (action, error) => notices.showFailure(action, error),
  });
  const library: Library = {
    soundFonts,
    soundFontUploads: new SoundFontUploads(session, soundFonts, player, notices),
    plugins,
    pluginParameters,
    pluginSetup: new PluginSetup(session, { plugins, effects: effectCatalog, parameters: pluginParameters }, player),
    instruments,
    effectCatalog,
    favouritePlugins: new FavouritePlugins(),
    audioFiles,
  };

  const pluginKeysHint = new PluginKeysHint();
  const timeline = new Timeline(song, audioFiles);
  const takeCommands = new TakeCommands(song, timeline);
  const noteRecorder = new NoteRecorder(song, player, preferences, notices, timeline, takeCommands);
  const liveKeys = new LiveKeys(player, () => liveTarget(noteRecorder.armedTrack ?? song.selection.track, soundFonts), () => pluginKeysHint.show());
  liveKeys.onEvent = (event) => noteRecorder.receive(event);
  const notePreview = new NotePreview(liveKeys);

  const freezing = new Freezing(api, song, audioFiles, notices);
  const effectCommands = new EffectCommands(song, effectCatalog, view);
  const automation = new AutomationCommands(song, player, preferences, { effects: effectCatalog, parameters: pluginParameters });
  const noteCommands = new NoteCommands(song, notePreview, preferences);
  const trackCommands = new TrackCommands(song, soundFonts, instruments, notices);
  const clipCommands = new ClipCommands(song, timeline, player, trackCommands, new Clipboard(), preferences, notices);
  const automatedValues = new AutomatedValues(song, player);
  const automationWriting = new AutomationWriting(song, player);
  const editing: Editing = {
    song,
    selection: song.selection,
    timeline,
    trackCommands,
    clipCommands,
    selectionCommands: new SelectionCommands(song, clipCommands, effectCommands, automation, preferences),
    noteCommands,
    stepInput: new StepInput(song, noteCommands, liveKeys, notePreview),
    effectCommands,
    automation,
    automationWriting,
    loopCommands: new LoopCommands(song, timeline, () => player.positionTick(), notices),
    takeCommands,
    audioClipCommands: new AudioClipCommands(song, player, audioFiles, notices),
    audioProcessing: new AudioProcessing(api, song, timeline, audioFiles, notices),
    pluginCommands: new PluginCommands(song, plugins, pluginParameters, notices),
    pluginWindows: new PluginWindows(api, song, pluginParameters, { values: automatedValues, writing: automationWriting }, notices),
    freezing,
  };

  const userId = (): string | null => session.user?.id ?? null;
  const windowId = newId('window');
  markOpen(windowId);
  const audioRecorder = new AudioRecorder(
    { api, song, timeline, takeCommands, player, audioFiles, preferences, notices },
    new IndexedDbRecordings(),
    { windowId, userId, isOpen },
  );
  const recorder = new Recorder(song, noteRecorder, audioRecorder);
  player.onMove = (tick) => recorder.moveTo(tick);
  const playback: Playback = {
    player,
    transport: new Transport(player, timeline, preferences, recorder),
    liveKeys,
    notePreview,
    midi: new WebMidi(liveKeys),
    recorder,
    pluginKeysHint,
    automatedValues,
    instrumentRenderer,
  };

  const copies = new IndexedDbCopies();
  const autosaves = new Autosaves(api, song, notices, copies, userId);
  markOpen(autosaves.windowId);
  const songList = new SongList(api, notices);
  const saving = new Saving(api, song, autosaves, notices, () => void songList.changed());
  const restoring = new Restoring(api, song, { saving, autosaves, copies }, userId, notices);
  const songSwitch = new SongSwitch(song, player, { saving, autosaves, restoring }, songList, notices);
  const songs: Songs = {
    saving,
    autosaves,
    songList,
    songSwitch,
    midiFiles: new MidiFiles(session, song, songSwitch, soundFonts, notices),
    projectFiles: new ProjectFiles(api, song, saving, songList, songSwitch, notices),
    exporting: new Exporting(api),
    exportHistory: new ExportHistory(api),
    comparing: new Comparing(api),
    exportPresets: new ExportPresets(api),
  };

  const account = new Account(session, notices, () => saving.autosave());
  return { account, editing, playback, songs, library, view, notices };
}

/**
 * Loads the catalogues and the list of songs after a log-in, and opens a song. The song does not
 * wait for the list of plugins, because the service may scan plugins before it answers.
 */
export async function openWorkspace({ library, songs }: Workspace): Promise<void> {
  void library.plugins.load();
  await Promise.all([library.soundFonts.load(), library.effectCatalog.load(), songs.songList.refresh()]);
  await songs.songSwitch.openFirst();
}

/**
 * Returns the target of live keys: an instrument track, or else the default sound, as for a frozen
 * track, whose instrument the engine does not have. Returns null if the service has no
 * sound.
 */
function liveTarget(track: Track | null, soundFonts: SoundFontCatalog): LiveTarget | null {
  if (track?.synth_engine && !track.frozen) return { trackId: track.id, isPlugin: isPluginEngine(track.synth_engine) };
  const sound = soundFonts.defaultSound;
  return sound && { sound };
}
