/** Records an audio input of the browser on an armed audio track. */
import { AudioInput, type EngineClient, type InputBlock } from '@songfoundry/web-worklet';
import type { Api } from '../../api/client';
import type { LiveRecording } from '../../canvas/draw-recording';
import { wakeFrames } from '../../canvas/frames';
import type { Player } from '../../engine/player.svelte';
import { newId } from '../../project/ids';
import { activeLoopOf, type LoopRegion } from '../../project/loop';
import { SILENCE_DB, type Track } from '../../project/model';
import { clipsOfPasses, placeRecording } from '../../project/place-recording';
import { audibleTracks } from '../../project/routing';
import { passesOf } from '../../project/recording-passes';
import type { Song } from '../editing/song.svelte';
import type { TakeCommands } from '../editing/take-commands.svelte';
import type { Timeline } from '../editing/timeline.svelte';
import type { AudioFiles } from '../library/audio-files.svelte';
import type { Notices } from '../notices.svelte';
import { LATENCY_MAX_MS, type Preferences } from '../view/preferences.svelte';
import { AudioTake, PEAK_FRAMES } from './audio-take';
import { measureLatency, type LatencyResult } from './latency-measurement';
import { RecordingSender } from './recording-sender';
import type { RecordingStore, StoredRecording } from './recording-store';

/** Maximum time of a measurement of the latency, in milliseconds. It takes two seconds. */
const MEASUREMENT_MAX_MS = 30_000;

/** The parts of the page that the recorder uses. */
type Page = {
  api: Api;
  song: Song;
  timeline: Timeline;
  takeCommands: TakeCommands;
  player: Player;
  audioFiles: AudioFiles;
  preferences: Preferences;
  notices: Notices;
};

/** This window and its user. */
type Window = { windowId: string; userId: () => string | null; isOpen: (windowId: string) => Promise<boolean> };

/** A recording in progress. */
type Active = { take: AudioTake; recording: StoredRecording; sender: RecordingSender | null; input: AudioInput; stopListening: () => void };

export class AudioRecorder {
  /** Id of the armed audio track; null for none. */
  armedTrackId = $state<string | null>(null);
  /** Highest level of the newest block of the input, in decibels. */
  levelDb = $state(SILENCE_DB);
  /** The inputs that can be chosen. Their names are known once the user has allowed an input. */
  devices = $state.raw<readonly MediaDeviceInfo[]>([]);
  /** What has been recorded so far, to draw it; null while nothing is recorded. */
  live = $state.raw<LiveRecording | null>(null);
  #active = $state.raw<Active | null>(null);
  #input = $state.raw<{ input: AudioInput; engine: EngineClient } | null>(null);
  /** Ended recordings that wait for their last samples. */
  readonly #ending = new Set<AudioTake>();
  /** Resolves when the last samples of all ended recordings have arrived. */
  #lastSamples: Promise<void> = Promise.resolve();
  /** Whether the latency is being measured, during which the input is silent. */
  #isMeasuring = false;
  /** Functions that receive the blocks during a measurement. */
  readonly #blockListeners = new Set<(block: InputBlock) => void>();
  readonly #page: Page;
  readonly #store: RecordingStore;
  readonly #window: Window;
  /** Ids of recordings that this window has offered to recover. */
  readonly #offered = new Set<string>();

  constructor(page: Page, store: RecordingStore, window: Window) {
    this.#page = page;
    this.#store = store;
    this.#window = window;
  }

  get isRecording(): boolean {
    return this.#active !== null;
  }

  /** Latency of output and input together in milliseconds, as the browser says. */
  get browserLatencyMs(): number {
    const opened = this.#input;
    if (!opened) return 0;
    const { outputLatency, baseLatency } = opened.engine.context;
    return ((outputLatency || baseLatency || 0) + opened.input.latencySecs) * 1000;
  }

  /** Name of the open input, as the browser says. */
  get deviceName(): string {
    return this.#input?.input.name || 'Default input';
  }

  /** The latency by which recordings are moved earlier, in milliseconds. */
  get latencyMs(): number {
    return this.#page.preferences.input.latencyMs ?? this.browserLatencyMs;
  }

  /** Arms a track and opens the input, for which the browser asks the user. */
  async arm(track: Track): Promise<boolean> {
    if (!canRecordAudio(track)) return false;
    this.armedTrackId = track.id;
    if (await this.#openInput()) return true;
    this.armedTrackId = null;
    return false;
  }

  disarm(): void {
    this.finish();
    this.armedTrackId = null;
    this.#closeInput();
  }

  /** Opens the input again after its settings have changed. */
  async settingsChanged(): Promise<void> {
    this.finish();
    this.#closeInput();
    if (this.armedTrackId !== null && !(await this.#openInput())) this.armedTrackId = null;
  }

  /** Makes the input audible with the level and the pan of the armed track, or silent. */
  applyMonitoring(): void {
    const { song, preferences } = this.#page;
    const track = song.project.tracks.find(({ id }) => id === this.armedTrackId);
    if (!this.#input || !track) return;
    const isAudible = preferences.input.monitors && audibleTracks(song.project).get(track.id) !== false && !this.#isMeasuring;
    this.#input.input.monitor(isAudible ? 10 ** (track.volume_db / 20) : 0, track.pan);
  }

  /**
   * Plays noise and measures how late the open input hears it. Keeps a latency that was found for
   * the device. Playback and a recording end, and the input is not audible meanwhile.
   * @throws {Error} with the reason why nothing can be measured.
   */
  async measureLatency(): Promise<LatencyResult> {
    this.finish();
    const { player, preferences } = this.#page;
    player.stop();
    const opened = this.#input;
    if (!opened || opened.engine !== player.engine) throw new Error('Arm an audio track first: the input is not open.');
    const { context } = opened.engine;
    player.resume();
    this.#isMeasuring = true;
    this.applyMonitoring();
    try {
      const result = await within(
        MEASUREMENT_MAX_MS,
        measureLatency(context, (receive) => {
          this.#blockListeners.add(receive);
          return () => this.#blockListeners.delete(receive);
        }),
      );
      if (result.frames !== null && this.#input === opened) {
        const latencyMs = Math.round((result.frames / result.rateHz) * 100_000) / 100;
        preferences.setInput({ latencyMs: Math.min(LATENCY_MAX_MS, latencyMs) });
      }
      return result;
    } finally {
      this.#blockListeners.clear();
      this.#isMeasuring = false;
      this.applyMonitoring();
    }
  }

  /** Ends a recording, or starts one on the armed track, or else on `selected`. */
  toggle(selected: Track | null): void {
    if (this.#active) this.finish();
    else void this.#start(selected);
  }

  /** Ends the recording. Its clip appears when the service has the file. */
  finish(): void {
    const active = this.#active;
    if (!active) return;
    this.#active = null;
    this.#page.player.playsPastEnd = false;
    active.stopListening();
    this.#ending.add(active.take);
    const received = this.#receiveLast(active);
    this.#lastSamples = Promise.all([this.#lastSamples, received]).then(() => undefined);
    void this.#complete(active, received);
  }

  /**
   * Ends the recording if the loop is no longer the one at its start, because the passes of the
   * recording are divided by that loop.
   */
  loopChanged(loop: LoopRegion | null): void {
    const active = this.#active;
    const engine = this.#page.player.engine;
    if (!active || !engine) return;
    const { loop: recordedLoop } = active.recording;
    const isSame = loop
      ? recordedLoop?.startFrame === engine.tickToFrame(loop.startTick) && recordedLoop.endFrame === engine.tickToFrame(loop.endTick)
      : recordedLoop === null;
    if (!isSame) this.finish();
  }

  playbackStopped(): void {
    // Before its first sample, a recording waits for playback to start.
    if (this.#active?.sender) this.finish();
  }

  /** Offers the recordings of the open song whose window was closed before they became clips. */
  async offerRecovery(): Promise<void> {
    const { song, notices } = this.#page;
    const recordings = await this.#store.all().catch(() => []);
    const userId = this.#window.userId();
    for (const recording of recordings) {
      if (recording.projectId !== song.project.project_id || recording.userId !== userId || this.#offered.has(recording.id)) continue;
      if (recording.windowId === this.#window.windowId || (await this.#window.isOpen(recording.windowId))) continue;
      this.#offered.add(recording.id);
      notices.show(
        'info',
        `A recording on “${recording.name}” was not finished when its window was closed.`,
        [
          { label: 'Recover recording', action: () => void this.#recover(recording) },
          { label: 'Discard', action: () => void this.#discard(recording) },
        ],
        true,
      );
    }
  }

  async #openInput(): Promise<boolean> {
    const { player, preferences, notices, song } = this.#page;
    if (!player.engine) await player.sync(song.project);
    const { engine } = player;
    if (!engine) {
      notices.show('error', 'The input cannot be used, because this browser plays no sound; see the notice about sound.');
      return false;
    }
    const { deviceId, channelCount } = preferences.input;
    try {
      // `mediaDevices` is missing on pages that are not secure.
      const devices = navigator.mediaDevices as MediaDevices | undefined;
      if (!devices) throw new Error('browsers allow inputs only on HTTPS pages and localhost');
      const stream = await devices.getUserMedia({
        audio: {
          ...(deviceId ? { deviceId: { exact: deviceId } } : {}),
          channelCount: { ideal: channelCount },
          sampleRate: { ideal: engine.context.sampleRate },
          echoCancellation: false,
          noiseSuppression: false,
          autoGainControl: false,
        },
      });
      this.#closeInput();
      const input = new AudioInput(engine.context, stream, channelCount, (block) => this.#receive(block));
      this.#input = { input, engine };
      this.applyMonitoring();
      player.resume();
      this.devices = (await devices.enumerateDevices()).filter(({ kind }) => kind === 'audioinput');
      return true;
    } catch (error) {
      notices.showFailure('The audio input cannot be used; allow it in the browser, or choose another one', error);
      return false;
    }
  }

  /** Closes the input as soon as the last samples of ended recordings have arrived. */
  #closeInput(): void {
    const opened = this.#input;
    this.#input = null;
    this.levelDb = SILENCE_DB;
    if (!opened) return;
    opened.input.monitor(0, 0);
    void this.#lastSamples.then(() => {
      opened.input.close();
      if (!this.#input) this.levelDb = SILENCE_DB;
    });
  }

  async #start(selected: Track | null): Promise<void> {
    const { song, player, preferences } = this.#page;
    if (this.armedTrackId === null && !(selected && (await this.arm(selected)))) return;
    const isStale = !this.#input || this.#input.engine !== player.engine;
    if (isStale && !(await this.#openInput())) return;
    const opened = this.#input;
    const track = song.project.tracks.find(({ id }) => id === this.armedTrackId);
    if (!opened || !track || this.#active) return;
    const { engine, input } = opened;
    const rateHz = engine.context.sampleRate;
    const loop = activeLoopOf(song.project);
    const isPlaying = player.transport === 'playing';
    const { channelCount } = preferences.input;
    const recording: StoredRecording = {
      id: newId('recording'),
      windowId: this.#window.windowId,
      userId: this.#window.userId() ?? '',
      projectId: song.project.project_id,
      trackId: track.id,
      name: track.name,
      rateHz,
      channelCount,
      uploadPath: null,
      songFrame: 0,
      loop: loop && { startFrame: engine.tickToFrame(loop.startTick), endFrame: engine.tickToFrame(loop.endTick) },
    };
    const take = new AudioTake({
      rateHz,
      channelCount,
      startFrame: isPlaying ? null : engine.tickToFrame(Math.round(player.positionTick())),
      latencyFrames: Math.round((this.latencyMs / 1000) * rateHz),
      onStart: (songFrame) => {
        active.recording = { ...recording, songFrame };
        active.sender = this.#senderOf(active.recording);
      },
      onBytes: (bytes) => active.sender?.add(bytes),
    });
    const stopListening = engine.onStatus((status) => {
      if (player.transport === 'playing') take.receiveStatus(status);
    });
    const active: Active = { take, recording, sender: null, input, stopListening };
    this.#active = active;
    player.playsPastEnd = true;
    song.endGesture();
    if (!isPlaying) void player.play(true);
  }

  #receive(block: InputBlock): void {
    const peak = Math.max(...block.channels.map((channel) => channel.reduce((highest, value) => Math.max(highest, Math.abs(value)), 0)));
    this.levelDb = peak > 0 ? Math.max(SILENCE_DB, 20 * Math.log10(peak)) : SILENCE_DB;
    this.#ending.forEach((take) => take.receive(block));
    this.#blockListeners.forEach((receive) => receive(block));
    this.#active?.take.receive(block);
    if (this.#active) this.#show(this.#active);
  }

  #show({ take, recording }: Active): void {
    if (take.songFrame === null) return;
    const { trackId, rateHz } = recording;
    this.live = { trackId, rateHz, songFrame: take.songFrame, frames: take.frames, peaks: take.peaks, peakFrames: PEAK_FRAMES };
    wakeFrames();
  }

  /** Waits for what was played until Stop, which arrives after the latency. */
  async #receiveLast({ take, input }: Active): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, this.latencyMs));
    await input.flush();
    this.#ending.delete(take);
    take.finish();
  }

  async #complete(active: Active, received: Promise<void>): Promise<void> {
    const { sender, recording, take } = active;
    await received;
    if (!sender) {
      this.live = null;
      return;
    }
    if (take.frames === 0) {
      await this.#discard(recording, sender);
      this.live = null;
      return;
    }
    await this.#place(recording, () => sender.finish());
    if (!this.#active) this.live = null;
  }

  #senderOf(recording: StoredRecording): RecordingSender {
    const { api, notices } = this.#page;
    const sender = new RecordingSender(api, this.#store, recording);
    sender.onTrouble = (problem) =>
      notices.show(
        'info',
        problem === 'unreachable'
          ? 'The service does not answer. This browser keeps the recording and sends it as soon as the service answers again.'
          : 'This browser has no room to keep the recording. The recording is lost if the window closes before the service has it.',
      );
    return sender;
  }

  #recover(recording: StoredRecording): Promise<void> {
    return this.#place(recording, () => this.#senderOf(recording).recover());
  }

  async #discard(recording: StoredRecording, sender?: RecordingSender): Promise<void> {
    await (sender ?? this.#senderOf(recording)).discard();
    await this.#store.remove(recording.id).catch(() => undefined);
  }

  /** Waits for the file of a recording, and adds its clip in one undo step. */
  async #place(recording: StoredRecording, finish: () => Promise<string>): Promise<void> {
    const { song, timeline, takeCommands, audioFiles, notices } = this.#page;
    try {
      const fileId = await finish();
      const file = await audioFiles.addStored(fileId);
      if (song.project.project_id !== recording.projectId) {
        notices.show('info', `The recording on “${recording.name}” is offered again when its song is opened.`);
        return;
      }
      const passes = passesOf(recording.songFrame, file.frames, recording.loop);
      const recorded = clipsOfPasses(timeline.songTime, fileId, recording.name, recording.rateHz, passes);
      if (recorded) {
        song.endGesture();
        const placed = placeRecording(song.project, timeline.songTime, recording.trackId, recorded);
        const label = placed.takeCount > 1 ? `Record ${placed.takeCount} takes` : 'Record audio';
        if (song.edit(label, () => placed.project)) song.selection.selectItem(placed.trackId, placed.clipId);
        if (placed.takeCount > 0) takeCommands.show(placed.trackId);
      }
      await this.#store.remove(recording.id).catch(() => undefined);
    } catch (error) {
      this.#offered.delete(recording.id);
      notices.showFailure(`The recording on “${recording.name}” could not be stored; it is offered again when the song is opened`, error);
    }
  }
}

/** Rejects if a measurement does not end in time, because the input sends nothing. */
function within<T>(maxMs: number, measurement: Promise<T>): Promise<T> {
  const late = new Promise<never>((_, reject) => {
    setTimeout(() => reject(new Error('The input sends nothing. Check that the browser may use it, and that it is plugged in.')), maxMs);
  });
  return Promise.race([measurement, late]);
}

/** Whether sound can be recorded on a track. */
export function canRecordAudio(track: Track): boolean {
  return track.kind === 'audio' && !track.frozen;
}
