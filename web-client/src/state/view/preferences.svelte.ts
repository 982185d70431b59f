/** Preferences of the user, stored in this browser. */
import type { InstrumentSound } from '../../api/types';
import { TICKS_PER_QUARTER } from '../../project/model';
import type { PluginGrouping } from '../library/plugin-groups';
import { readStored, writeStored } from '../local-storage';

/** The renderer of instrument tracks: the server or the client. `auto` lets the service choose. */
export type SoundChoice = 'auto' | InstrumentSound;

/** Which position the transport shows. */
export type PositionDisplay = 'both' | 'bars' | 'time';

/** Settings of the transport. */
export type TransportPreferences = {
  metronome: boolean;
  /** Level of the metronome in decibels. */
  metronomeDb: number;
  countInBars: 0 | 1 | 2;
  /** Whether Stop returns to where playback started last, instead of staying. */
  stopReturns: boolean;
  position: PositionDisplay;
  /** Whether the lanes of tempo, time signatures and markers are shown. */
  timeLanes: boolean;
};

/** Settings of recordings. */
export type RecordingPreferences = {
  /** Whether each pass of the loop makes a take, instead of changing the notes of the track. */
  takes: boolean;
  /** Whether a recording replaces the notes that it passes, instead of adding to them. */
  replaces: boolean;
  /** Whether the starts of notes snap to the grid. */
  quantizes: boolean;
};

/** Settings of the audio input. */
export type InputPreferences = {
  /** Id of the device; empty for the browser's default device. */
  deviceId: string;
  channelCount: 1 | 2;
  /** Whether the input is audible while a track is armed. */
  monitors: boolean;
  /** Latency of output and input together in milliseconds; null for what the browser says. */
  latencyMs: number | null;
};

/** Highest latency that can be set, in milliseconds. */
export const LATENCY_MAX_MS = 1000;

const TRANSPORT_DEFAULTS: TransportPreferences = {
  metronome: false,
  metronomeDb: -6,
  countInBars: 0,
  stopReturns: false,
  position: 'both',
  timeLanes: false,
};

type StoredPreferences = {
  sound: SoundChoice;
  follow: boolean;
  snapTicks: number;
  pluginGrouping?: PluginGrouping;
  lettersAreTools?: boolean;
  /** Name of the MIDI output that gets MIDI clock. */
  midiClockOutput?: string;
  transport?: Partial<TransportPreferences>;
  recording?: Partial<RecordingPreferences>;
  input?: Partial<InputPreferences>;
  /** Latencies that were measured or typed, in milliseconds, by the id of the input device. */
  inputLatenciesMs?: Record<string, number>;
};

function areStoredPreferences(value: unknown): value is StoredPreferences {
  const storedPreferences = value as Partial<StoredPreferences> | null;
  return (
    !!storedPreferences &&
    ['auto', 'server', 'client'].includes(storedPreferences.sound ?? '') &&
    typeof storedPreferences.follow === 'boolean' &&
    Number.isInteger(storedPreferences.snapTicks) &&
    [undefined, 'maker', 'kind'].includes(storedPreferences.pluginGrouping) &&
    [undefined, true, false].includes(storedPreferences.lettersAreTools) &&
    ['undefined', 'string'].includes(typeof storedPreferences.midiClockOutput) &&
    areTransportPreferences(storedPreferences.transport ?? {}) &&
    Object.values(storedPreferences.recording ?? {}).every((value) => typeof value === 'boolean') &&
    areInputPreferences(storedPreferences.input ?? {}) &&
    Object.values(storedPreferences.inputLatenciesMs ?? {}).every((ms) => ms >= 0 && ms <= LATENCY_MAX_MS)
  );
}

function areInputPreferences({ deviceId = '', channelCount = 1, monitors = false, latencyMs = null }: Partial<InputPreferences>): boolean {
  const isLatency = latencyMs === null || (latencyMs >= 0 && latencyMs <= LATENCY_MAX_MS);
  return typeof deviceId === 'string' && [1, 2].includes(channelCount) && typeof monitors === 'boolean' && isLatency;
}

function areTransportPreferences(transport: Partial<TransportPreferences>): boolean {
  const { metronomeDb = 0, countInBars = 0, position = 'both', ...switches } = transport;
  return (
    Number.isFinite(metronomeDb) &&
    [0, 1, 2].includes(countInBars) &&
    ['both', 'bars', 'time'].includes(position) &&
    Object.values(switches).every((value) => typeof value === 'boolean')
  );
}

export class Preferences {
  #stored = $state<StoredPreferences>(readStored<StoredPreferences>('preferences', { sound: 'auto', follow: true, snapTicks: 240 }, areStoredPreferences));

  get sound(): SoundChoice {
    return this.#stored.sound;
  }
  set sound(value: SoundChoice) {
    this.#stored.sound = value;
    this.#remember();
  }

  /** Whether the view follows the playhead. */
  get followsPlayhead(): boolean {
    return this.#stored.follow;
  }
  set followsPlayhead(value: boolean) {
    this.#stored.follow = value;
    this.#remember();
  }

  /** Grid step to which edits snap, in ticks; 0 if snapping is off. */
  get snapTicks(): number {
    return this.#stored.snapTicks;
  }
  set snapTicks(value: number) {
    this.#stored.snapTicks = value;
    this.#remember();
  }

  /** How lists of plugins are grouped. */
  get pluginGrouping(): PluginGrouping {
    return this.#stored.pluginGrouping ?? 'maker';
  }
  set pluginGrouping(value: PluginGrouping) {
    this.#stored.pluginGrouping = value;
    this.#remember();
  }

  get transport(): TransportPreferences {
    return { ...TRANSPORT_DEFAULTS, ...this.#stored.transport };
  }

  setTransport(change: Partial<TransportPreferences>): void {
    this.#stored.transport = { ...this.#stored.transport, ...change };
    this.#remember();
  }

  get recording(): RecordingPreferences {
    return { takes: true, replaces: false, quantizes: false, ...this.#stored.recording };
  }

  setRecording(change: Partial<RecordingPreferences>): void {
    this.#stored.recording = { ...this.#stored.recording, ...change };
    this.#remember();
  }

  get input(): InputPreferences {
    const stored = { deviceId: '', channelCount: 1 as const, monitors: false, latencyMs: null, ...this.#stored.input };
    return { ...stored, latencyMs: this.#stored.inputLatenciesMs?.[stored.deviceId] ?? null };
  }

  /** Changes the settings of the input. A latency is kept for its device. */
  setInput({ latencyMs, ...change }: Partial<InputPreferences>): void {
    this.#stored.input = { ...this.#stored.input, ...change };
    if (latencyMs !== undefined) {
      const { [this.input.deviceId]: _latencyMs, ...others } = this.#stored.inputLatenciesMs ?? {};
      this.#stored.inputLatenciesMs = latencyMs === null ? others : { ...others, [this.input.deviceId]: latencyMs };
    }
    this.#remember();
  }

  /** Whether letter keys choose tools of the piano roll; otherwise they play notes. */
  get lettersAreTools(): boolean {
    return this.#stored.lettersAreTools ?? false;
  }
  set lettersAreTools(value: boolean) {
    this.#stored.lettersAreTools = value;
    this.#remember();
  }

  /** Name of the MIDI output that gets MIDI clock; empty for none. */
  get midiClockOutput(): string {
    return this.#stored.midiClockOutput ?? '';
  }
  set midiClockOutput(name: string) {
    this.#stored.midiClockOutput = name;
    this.#remember();
  }

  /** Grid step, in ticks, of commands that always need one: a sixteenth if snapping is off. */
  get stepTicks(): number {
    return this.#stored.snapTicks || TICKS_PER_QUARTER / 4;
  }

  #remember(): void {
    writeStored('preferences', $state.snapshot(this.#stored));
  }
}
