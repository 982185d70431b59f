/** Everything the page holds, put together once. */
import { listProjects } from '../api/endpoints';
import type { InstrumentSound, ProjectEntry } from '../api/types';
import { LiveKeys, type LiveTarget } from '../engine/live-keys.svelte';
import { Player } from '../engine/player.svelte';
import { WebMidi } from '../engine/web-midi.svelte';
import { songEndTick, type SongTime } from '../project/audio-time';
import { emptyProject } from '../project/normalise';
import { Catalog } from './catalog.svelte';
import { AudioFiles } from './audio-files.svelte';
import { AudioCommands } from './audio-commands';
import { AutomationCommands } from './automation-commands.svelte';
import { ChainCommands } from './chain-commands';
import { Commands } from './commands.svelte';
import { EffectTable } from './effect-table.svelte';
import { Exporting } from './exporting.svelte';
import { LaneValues } from './lane-values';
import { Layout } from './layout.svelte';
import { Notices } from './notices.svelte';
import { OwnSoundFonts } from './own-soundfonts.svelte';
import { Preferences } from './preferences.svelte';
import { Saving } from './saving.svelte';
import { Session } from './session.svelte';
import { Song } from './song.svelte';
import { isStringOrNull, readStored } from './stored';

/** Id of the song that the service makes on its first start. */
const DEMO_ID = 'demo';

/** What the editor shows. */
export type EditorTab = 'roll' | 'keys' | 'effects' | 'automation';

export type DialogName = 'export' | 'shortcuts' | 'about' | 'password' | 'api-keys' | 'administration';

export class App {
  readonly session = new Session();
  readonly notices = new Notices();
  readonly layout = new Layout();
  readonly preferences = new Preferences();
  readonly song = new Song();
  readonly catalog = new Catalog(this.session.api);
  readonly audio = new AudioFiles(this.session.api);
  readonly effectTable = new EffectTable(this.session.api);
  readonly saving = new Saving(this.session.api, this.song, this.notices);
  readonly exporting = new Exporting(this.session.api);
  readonly player = new Player(this.session.api, {
    defaultSoundfontId: () => this.session.capabilities?.default_soundfont_id ?? this.catalog.defaultId,
    instrumentSound: () => this.instrumentSound,
    kindOf: (effect) => this.effectTable.kindOf(effect),
    failed: (what, error) => this.notices.failed(what, error),
  });
  readonly keys = new LiveKeys(this.player, () => this.#liveTarget());
  readonly midi = new WebMidi(this.keys);
  readonly commands = new Commands(this);
  readonly chain = new ChainCommands(this);
  readonly automation = new AutomationCommands(this);
  readonly laneValues = new LaneValues(this.song, this.player);
  readonly clips = new AudioCommands(this);
  readonly ownSoundFonts = new OwnSoundFonts(this);

  /** Which dialog is open. */
  dialog = $state<DialogName | null>(null);
  editorTab = $state<EditorTab>('roll');
  /** Whether the sound settings are shown. */
  soundShown = $state(false);
  /** Whether the meters of the master are shown, and so measured. */
  metersShown = $state(true);
  /** Set while one is asked what to do with unsaved work before it is left. */
  leaving = $state.raw<{ proceed: () => void } | null>(null);
  /** What the page is busy with, for the status line. */
  busy = $state<string | null>(null);
  /** Whether a song is there to be seen. */
  opened = $state(false);
  projects = $state.raw<readonly ProjectEntry[]>([]);
  /** Octave of the computer keyboard's A key; 4 begins at middle C. */
  keyboardOctave = $state(4);
  /** Counts jumps of the playhead, so that displays follow them while stopped. */
  jumps = $state(0);
  /** What places the items of the song in time. */
  readonly songTime: SongTime = $derived({
    tempoMap: this.song.project.tempo_map,
    sourceOf: (id) => this.audio.sourceOf(id),
  });
  /** Where the last item of the song ends, in ticks. */
  readonly endTick: number = $derived(songEndTick(this.songTime, this.song.project));
  readonly instrumentSound: InstrumentSound = $derived.by(() => {
    const capabilities = this.session.capabilities;
    if (capabilities && !capabilities.soundfont_render) return 'client';
    return this.preferences.sound === 'auto' ? (capabilities?.instrument_sound ?? 'client') : this.preferences.sound;
  });

  /** Loads what the page needs after a log-in, and opens a song. */
  async open(): Promise<void> {
    await Promise.all([this.catalog.load(), this.effectTable.load(), this.refreshProjects()]);
    const last = readStored<string | null>('last-project', null, isStringOrNull);
    const known = [last, DEMO_ID, this.projects[0]?.project_id].find((id) =>
      this.projects.some((entry) => entry.project_id === id),
    );
    try {
      if (known) await this.saving.load(known);
      else this.song.open(emptyProject(), null, true);
    } catch (error) {
      this.song.open(emptyProject(), null, true);
      this.notices.failed('The last song cannot be opened', error);
    }
    await this.saving.restoreAutosave();
    this.opened = true;
  }

  async refreshProjects(): Promise<void> {
    try {
      this.projects = await listProjects(this.session.api);
    } catch (error) {
      this.notices.failed('The list of songs cannot be read', error);
    }
  }

  /** Logs out here or everywhere, with unsaved work kept as an autosave. */
  async logout(everywhere: boolean): Promise<void> {
    await this.saving.autosave();
    try {
      await this.session.logout(everywhere);
    } catch (error) {
      this.notices.failed('Logging out failed', error);
    }
  }

  async connectMidi(): Promise<void> {
    await this.midi.connect();
    if (this.midi.state === 'denied') {
      this.notices.show('error', 'The browser did not allow MIDI keyboards; allow them in its site settings and try again.');
    } else if (this.midi.inputs.length === 0) {
      this.notices.show('info', 'No MIDI keyboard is plugged in yet; one will be heard as soon as it is.');
    } else {
      this.notices.show('done', `Listening to ${this.midi.inputs.join(', ')}.`);
    }
  }

  /** Brings the editor up with one of its tabs. */
  showEditor(tab: EditorTab): void {
    this.editorTab = tab;
    this.layout.show('editor');
  }

  positionMoved(): void {
    this.jumps += 1;
  }

  #liveTarget(): LiveTarget | null {
    const track = this.song.selectedTrack;
    if (track?.synth_engine) return { trackId: track.id };
    const id = this.catalog.defaultId;
    return id === null ? null : { sound: { type: 'soundfont', soundfont_id: id, bank: 0, program: 0 } };
  }
}

export const app = new App();
