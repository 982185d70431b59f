/**
 * Records what the user plays live on the armed track.
 *
 * A note gets the position of the song that the user heard at the time of its key or MIDI event.
 * The position thus takes into account the latency of the audio output. The delay between a key and
 * its event is unknown and remains, as does that of the sound of the key itself.
 */
import type { LiveEvent } from '../../engine/live-keys.svelte';
import type { Player } from '../../engine/player.svelte';
import { snapTick } from '../../project/grid';
import { activeLoopOf, type LoopRegion } from '../../project/loop';
import type { Note, Project, Take as MediaTake, Track } from '../../project/model';
import { NotePasses } from '../../project/note-passes';
import { addRecorded, eraseNotes, type RecordedControl, type RecordedNote } from '../../project/record-notes';
import { addTakes, chooseTake, takesOf } from '../../project/takes';
import { updateTrack } from '../../project/update-track';
import type { Song } from '../editing/song.svelte';
import type { TakeCommands } from '../editing/take-commands.svelte';
import type { Timeline } from '../editing/timeline.svelte';
import type { Notices } from '../notices.svelte';
import type { Preferences } from '../view/preferences.svelte';

/** Notes that start at most this long before the end of a count-in are recorded at the start. */
const EARLY_SECS = 0.25;
/** Shortest recorded note in ticks: a 128th note. */
const MIN_NOTE_TICKS = 30;

/** A recording in progress. */
type Take = {
  trackId: string;
  /** The song that is recorded, to detect that another one was opened. */
  generation: number;
  gesture: string;
  /** The notes of held keys, by MIDI key. Their ticks are those that the user heard. */
  held: Map<number, { tick: number; velocity: number; pass: number }>;
  notes: RecordedNote[];
  controls: RecordedControl[];
  itemIds: Set<string>;
  /** All notes that this recording has added. */
  added: Set<Note>;
  /** The tick from which the notes of the track are replaced next. */
  replacedTo: number;
  /** The passes of the loop, which become takes; null if the notes are added to the clips. */
  passes: NotePasses | null;
  /** The takes that the track had before the recording. */
  earlierTakes: readonly MediaTake[];
};

export class NoteRecorder {
  /** Id of the track that live keys play and record; null for none. */
  armedTrackId = $state<string | null>(null);
  #take = $state.raw<Take | null>(null);
  readonly #song: Song;
  readonly #player: Player;
  readonly #preferences: Preferences;
  readonly #notices: Notices;
  readonly #timeline: Timeline;
  readonly #takeCommands: TakeCommands;
  #takeCount = 0;

  constructor(song: Song, player: Player, preferences: Preferences, notices: Notices, timeline: Timeline, takeCommands: TakeCommands) {
    this.#song = song;
    this.#player = player;
    this.#timeline = timeline;
    this.#takeCommands = takeCommands;
    this.#preferences = preferences;
    this.#notices = notices;
  }

  get isRecording(): boolean {
    return this.#take !== null;
  }

  /** The armed track; null if no track is armed or the track cannot be recorded any longer. */
  get armedTrack(): Track | null {
    const track = this.#song.project.tracks.find(({ id }) => id === this.armedTrackId);
    return track && canRecord(track) ? track : null;
  }

  /** Arms a track, or disarms it if it is armed. Ends a recording. */
  toggleArmed(track: Track): void {
    this.finish();
    if (this.armedTrackId === track.id) this.armedTrackId = null;
    else if (canRecord(track)) this.armedTrackId = track.id;
    else this.#refuse();
  }

  /**
   * Ends a recording, or starts one at the playhead. If no track is armed, arms the selected track.
   * Starts playback, with the count-in, if the song does not play.
   */
  toggle(): void {
    if (this.#take) {
      this.finish();
      return;
    }
    const { track: selected } = this.#song.selection;
    if (!this.armedTrack && selected && canRecord(selected)) this.armedTrackId = selected.id;
    const track = this.armedTrack;
    if (!track) {
      this.#refuse();
      return;
    }
    this.#takeCount += 1;
    const startTick = Math.round(this.#player.positionTick());
    this.#take = {
      trackId: track.id,
      generation: this.#song.generation,
      gesture: `record ${this.#takeCount}`,
      held: new Map(),
      notes: [],
      controls: [],
      itemIds: new Set(),
      added: new Set(),
      replacedTo: startTick,
      passes: this.#passesFrom(startTick),
      earlierTakes: takesOf(track),
    };
    this.#player.playsPastEnd = true;
    this.#song.endGesture();
    if (this.#player.transport === 'stopped') void this.#player.play(true);
  }

  /** Ends the recording. Notes of keys that are still held end now. */
  finish(): void {
    const take = this.#take;
    if (!take) return;
    this.#releaseAll(take);
    this.#commit(take);
    this.#chooseTake(take);
    this.#take = null;
    this.#player.playsPastEnd = false;
    this.#song.endGesture();
  }

  /** Records what was played before playback is moved to a tick. Notes of held keys end. */
  moveTo(tick: number): void {
    const take = this.#take;
    if (!take) return;
    this.#releaseAll(take);
    this.#commit(take);
    take.replacedTo = tick;
    take.passes?.begin();
  }

  /** Ends a recording of takes if the loop is no longer the one that divides it. */
  loopChanged(loop: LoopRegion | null): void {
    const recordedLoop = this.#take?.passes?.loop;
    if (recordedLoop && (loop?.startTick !== recordedLoop.startTick || loop.endTick !== recordedLoop.endTick)) this.finish();
  }

  /** Ends the recording after playback has stopped. */
  playbackStopped(): void {
    this.finish();
  }

  /** Records an event of a live key, pedal or wheel. */
  receive(event: LiveEvent): void {
    const take = this.#take;
    if (!take || event.trackId !== take.trackId || this.#player.transport !== 'playing') return;
    const countInSecs = this.#player.countInSecs();
    if (event.kind === 'release') {
      this.#release(take, event.key, event.atMs);
      this.#commit(take);
      return;
    }
    if (countInSecs > EARLY_SECS) return;
    const tick = this.#tickAt(event.atMs);
    const pass = take.passes?.passAt(event.atMs, tick) ?? 0;
    if (event.kind === 'press') take.held.set(event.key, { tick, velocity: event.velocity, pass });
    else {
      const control: RecordedControl =
        event.kind === 'bend' ? { type: 'bend', tick, value: event.value } : { type: 'cc', tick, controller: event.controller, value: event.value };
      if (take.passes) take.passes.add(pass, { notes: [], controls: [control] });
      else take.controls.push(control);
    }
  }

  /** Returns the passes of a recording that starts at a tick and makes takes; else null. */
  #passesFrom(tick: number): NotePasses | null {
    const { project } = this.#song;
    const loop = activeLoopOf(project);
    return this.#preferences.recording.takes && loop && tick < loop.endTick ? new NotePasses(loop, project.tempo_map) : null;
  }

  #tickAt(atMs: number): number {
    return Math.max(0, Math.round(this.#player.tickAt(atMs)));
  }

  #releaseAll(take: Take): void {
    const nowMs = performance.now();
    for (const key of [...take.held.keys()]) this.#release(take, key, nowMs);
  }

  #release(take: Take, key: number, atMs: number): void {
    const note = take.held.get(key);
    if (!note) return;
    take.held.delete(key);
    const releaseTick = this.#tickAt(atMs);
    const { project } = this.#song;
    const loop = activeLoopOf(project);
    // A note that is held at the end of the loop ends there.
    const endTick = releaseTick < note.tick ? (loop?.endTick ?? note.tick) : releaseTick;
    const step = this.#preferences.recording.quantizes ? this.#preferences.snapTicks : 0;
    const snappedTick = snapTick(project.time_signatures, note.tick, step);
    // A note just before the end of the loop belongs to its start.
    const isPastLoop = loop !== null && note.tick < loop.endTick && snappedTick >= loop.endTick;
    const tick = isPastLoop ? snappedTick - loop.endTick + loop.startTick : snappedTick;
    const length_ticks = Math.max(MIN_NOTE_TICKS, endTick - note.tick);
    const recorded = { tick, length_ticks, pitch: key, velocity: note.velocity };
    if (take.passes) take.passes.add(isPastLoop ? note.pass + 1 : note.pass, { notes: [recorded], controls: [] });
    else take.notes.push(recorded);
  }

  /** Puts what was recorded into the song. All edits of a recording are undone together. */
  #commit(take: Take): void {
    if (take.generation !== this.#song.generation) return;
    if (take.passes) {
      this.#showTakes(take, take.passes);
      return;
    }
    const { notes, controls } = take;
    const replacesTo = this.#preferences.recording.replaces ? Math.round(this.#player.positionTick()) : take.replacedTo;
    take.notes = [];
    take.controls = [];
    const { project } = this.#song;
    const edited = addRecorded(project, take.trackId, { notes, controls }, take.itemIds);
    edited.newItemIds.forEach((id) => take.itemIds.add(id));
    edited.added.forEach((note) => take.added.add(note));
    let result = edited.project;
    for (const [from, to] of this.#replacedRanges(take, replacesTo, project)) result = eraseNotes(result, take.trackId, from, to, take.added);
    take.replacedTo = replacesTo;
    if (result === project) return;
    this.#song.selection.notes = new Set();
    const isAccepted = this.#song.edit('Record', () => result, take.gesture);
    const [firstItemId] = take.itemIds;
    if (isAccepted && firstItemId && edited.newItemIds.includes(firstItemId)) this.#song.selection.selectItem(take.trackId, firstItemId);
  }

  /** Puts the takes of the passes so far on the track, where they do not play yet. */
  #showTakes(take: Take, passes: NotePasses): void {
    const takes = passes.takes(this.#song.project.time_signatures);
    if (takes.length === 0) return;
    this.#song.edit(
      'Record takes',
      (project) => addTakes(updateTrack(project, take.trackId, (track) => ({ ...track, takes: [...take.earlierTakes] })), take.trackId, takes),
      take.gesture,
    );
    this.#takeCommands.show(take.trackId);
  }

  /** Lets the last whole pass play after the recording. */
  #chooseTake(take: Take): void {
    const { passes, trackId } = take;
    if (!passes || take.generation !== this.#song.generation) return;
    const nowMs = performance.now();
    const takeId = passes.chosenId(passes.passAt(nowMs, this.#tickAt(nowMs)));
    if (takeId === null) return;
    const whole = { startTick: 0, endTick: passes.loop.endTick };
    this.#song.edit('Record takes', (project) => chooseTake(project, this.#timeline.songTime, trackId, takeId, whole), take.gesture);
  }

  /**
   * Returns the ranges that playback has passed since the last commit. After a jump of the loop,
   * there are two.
   */
  #replacedRanges(take: Take, tick: number, project: Project): [number, number][] {
    if (!this.#preferences.recording.replaces) return [];
    if (tick >= take.replacedTo) return [[take.replacedTo, tick]];
    const loop = activeLoopOf(project);
    return loop
      ? [
          [take.replacedTo, loop.endTick],
          [loop.startTick, tick],
        ]
      : [];
  }

  #refuse(): void {
    this.#notices.show('info', 'No track can be recorded: select an audio track, or an instrument track that has a sound, that is not frozen, or arm one with its R button.');
  }
}

/** Whether live keys can be recorded on a track. */
export function canRecord(track: Track): boolean {
  return track.kind === 'instrument' && Boolean(track.synth_engine) && !track.frozen;
}
