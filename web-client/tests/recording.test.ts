/** Tests that recorded notes get the positions at which they were played. */
import { describe, expect, it, vi } from 'vitest';

import type { LiveEvent } from '../src/engine/live-keys.svelte';
import type { Player } from '../src/engine/player.svelte';
import { setLoop } from '../src/project/loop';
import type { MidiItem, Note, Project } from '../src/project/model';
import { normalizeProject } from '../src/project/normalize';
import { addRecorded, eraseNotes } from '../src/project/record-notes';
import { Song } from '../src/state/editing/song.svelte';
import { TakeCommands } from '../src/state/editing/take-commands.svelte';
import type { Timeline } from '../src/state/editing/timeline.svelte';
import type { Notices } from '../src/state/notices.svelte';
import { NoteRecorder } from '../src/state/recording/note-recorder.svelte';
import type { Preferences } from '../src/state/view/preferences.svelte';

const note = (tick: number, pitch: number): Note => ({ tick, length_ticks: 240, pitch, velocity: 1 });

function songWith(items: object[] = []): Project {
  const tracks = [{ id: 'keys', kind: 'instrument', synth_engine: { type: 'soundfont', bank: 0, program: 0 }, items }];
  return normalizeProject({ schema_version: 1, project_id: 'song', tracks });
}

const clipsOf = (project: Project): MidiItem[] => project.tracks.flatMap(({ items }) => items.filter((item) => item.type === 'midi'));
const ticksOf = (project: Project): number[] => clipsOf(project).flatMap((item) => item.notes.map(({ tick }) => item.start_tick + tick));

describe('recorded events', () => {
  it('go into the clip at their position, or into a new clip that starts with the bar and grows', () => {
    const songBefore = songWith([{ type: 'midi', id: 'old', start_tick: 3840, length_ticks: 3840, notes: [], controls: [] }]);
    const into = addRecorded(songBefore, 'keys', { notes: [note(4000, 60)], controls: [] }, new Set());
    expect(clipsOf(into.project)).toMatchObject([{ id: 'old', notes: [{ tick: 160 }] }]);
    const first = addRecorded(songBefore, 'keys', { notes: [note(9000, 60)], controls: [{ type: 'cc', tick: 9100, controller: 64, value: 127 }] }, new Set());
    const [id = ''] = first.newItemIds;
    expect(clipsOf(first.project)[1]).toMatchObject({ id, start_tick: 7680, length_ticks: 3840, controls: [{ tick: 1420, controller: 64 }] });
    const laterRecording = addRecorded(first.project, 'keys', { notes: [note(20000, 62)], controls: [] }, new Set([id]));
    expect(clipsOf(laterRecording.project)[1]).toMatchObject({ id, start_tick: 7680, length_ticks: 15360 });
    expect(ticksOf(laterRecording.project)).toEqual([9000, 20000]);
    expect(laterRecording.newItemIds).toEqual([]);
  });

  it('replace the notes that started in a range, but not those of the recording', () => {
    const [first, second, third] = [note(0, 60), note(480, 62), note(960, 64)];
    const song = songWith([{ type: 'midi', id: 'a', start_tick: 960, length_ticks: 3840, notes: [first, second, third], controls: [] }]);
    const keptNote = clipsOf(song)[0]?.notes[1] as Note;
    expect(ticksOf(eraseNotes(song, 'keys', 960, 1920, new Set([keptNote])))).toEqual([1440, 1920]);
    expect(eraseNotes(song, 'keys', 0, 960, new Set())).toBe(song);
  });
});

describe('the recorder', () => {
  /**
   * Makes a recorder whose player is at the tick that `at` sets; the time of an event is its tick.
   */
  function recording(project: Project, choices: { takes?: boolean; replaces?: boolean; quantizes?: boolean } = {}) {
    const song = new Song();
    song.open(project, 1, true);
    const state = { tick: 0, transport: 'stopped', countInSecs: 0 };
    const player = {
      playsPastEnd: false,
      get transport() {
        return state.transport;
      },
      play: () => {
        state.transport = 'playing';
        return Promise.resolve();
      },
      positionTick: () => state.tick,
      tickAt: (atMs: number) => atMs,
      countInSecs: () => state.countInSecs,
    };
    const preferences = { recording: { takes: false, replaces: false, quantizes: false, ...choices }, snapTicks: 240 };
    const messages: string[] = [];
    const notices = { show: (_tone: string, text: string) => messages.push(text) };
    const timeline = { songTime: { tempoMap: project.tempo_map, sourceOf: () => null } } as unknown as Timeline;
    const recorder = new NoteRecorder(
      song,
      player as unknown as Player,
      preferences as unknown as Preferences,
      notices as unknown as Notices,
      timeline,
      new TakeCommands(song, timeline),
    );
    const send = (event: Partial<LiveEvent> & { kind: LiveEvent['kind']; atMs: number }): void => {
      state.tick = event.atMs;
      recorder.receive({ trackId: 'keys', key: 60, velocity: 0.5, ...event } as LiveEvent);
    };
    return { song, recorder, state, player, messages, send };
  }

  it('records notes at the times of their events, in one step of the history', () => {
    const { song, recorder, player, send } = recording(songWith());
    recorder.toggle();
    expect([recorder.armedTrackId, recorder.isRecording, player.playsPastEnd]).toEqual(['keys', true, true]);
    send({ kind: 'press', atMs: 1001 });
    send({ kind: 'controller', atMs: 1100, controller: 64, value: 127 } as never);
    send({ kind: 'release', atMs: 1301 });
    expect(ticksOf(song.project)).toEqual([1001]);
    send({ kind: 'press', atMs: 2000, key: 62 });
    send({ kind: 'bend', atMs: 2100, value: -300 } as never);
    send({ kind: 'press', atMs: 2200, key: 64, trackId: 'other' });
    send({ kind: 'release', atMs: 2500, key: 62 });
    recorder.toggle();
    expect(clipsOf(song.project)).toMatchObject([
      {
        notes: [
          { tick: 1001, length_ticks: 300, pitch: 60, velocity: 0.5 },
          { tick: 2000, length_ticks: 500, pitch: 62 },
        ],
        controls: [
          { type: 'cc', tick: 1100, controller: 64, value: 127 },
          { type: 'bend', tick: 2100, value: -300 },
        ],
      },
    ]);
    expect([recorder.isRecording, player.playsPastEnd]).toEqual([false, false]);
    song.undo();
    expect(clipsOf(song.project)).toEqual([]);
  });

  it('quantises the starts of notes, and ends held notes at the end of the loop or of the recording', () => {
    const { song, recorder, send } = recording(setLoop(songWith(), { startTick: 0, endTick: 3840, active: true }), { quantizes: true });
    recorder.toggle();
    send({ kind: 'press', atMs: 3590 });
    send({ kind: 'release', atMs: 100 });
    send({ kind: 'press', atMs: 500, key: 62 });
    const clock = vi.spyOn(performance, 'now').mockReturnValue(900);
    recorder.finish();
    clock.mockRestore();
    expect(clipsOf(song.project)[0]?.notes).toMatchObject([
      { tick: 3600, length_ticks: 250 },
      { tick: 480, length_ticks: 400 },
    ]);
  });

  it('moves an early first beat to the start of the loop, and keeps the notes that a seek skips', () => {
    const old = [note(1920, 40), note(2880, 40)];
    const project = songWith([{ type: 'midi', id: 'a', start_tick: 0, length_ticks: 3840, notes: old, controls: [] }]);
    const loopedRecording = recording(setLoop(project, { startTick: 0, endTick: 3840, active: true }), { quantizes: true });
    loopedRecording.recorder.toggle();
    loopedRecording.send({ kind: 'press', atMs: 3800 });
    loopedRecording.send({ kind: 'release', atMs: 200 });
    expect(ticksOf(loopedRecording.song.project)).toEqual([1920, 2880, 0]);
    const { song, recorder, state, send } = recording(project, { replaces: true });
    recorder.toggle();
    send({ kind: 'press', atMs: 100 });
    recorder.moveTo(2400);
    state.tick = 3000;
    recorder.finish();
    expect(ticksOf(song.project)).toEqual([1920, 100]);
  });

  it('replaces the notes that it passes, also across the jump of a loop', () => {
    const old = [0, 960, 1920, 2880].map((tick) => note(tick, 40));
    const project = songWith([{ type: 'midi', id: 'a', start_tick: 0, length_ticks: 3840, notes: old, controls: [] }]);
    const { song, recorder, state, send } = recording(setLoop(project, { startTick: 0, endTick: 3840, active: true }), { replaces: true });
    state.tick = 1500;
    recorder.toggle();
    send({ kind: 'press', atMs: 2000 });
    send({ kind: 'release', atMs: 2400 });
    expect(ticksOf(song.project)).toEqual([0, 960, 2880, 2000]);
    state.tick = 500;
    recorder.finish();
    expect(ticksOf(song.project)).toEqual([960, 2000]);
  });

  it('makes a take of each pass of the loop, of which the last whole one plays, in one step of the history', () => {
    const project = setLoop(songWith(), { startTick: 960, endTick: 4800, active: true });
    const { song, recorder, state, player, send } = recording(project, { takes: true });
    // A beat lasts 500 ms, and the loop two seconds; playback starts with the song.
    const ticksAt = (ms: number): number => (ms * 960) / 500;
    player.tickAt = (atMs) => (ticksAt(atMs) < 4800 ? ticksAt(atMs) : 960 + ((ticksAt(atMs) - 960) % 3840));
    const clock = vi.spyOn(performance, 'now');
    recorder.toggle();
    const play = (key: number, fromMs: number, toMs: number): void => {
      send({ kind: 'press', atMs: fromMs, key });
      send({ kind: 'release', atMs: toMs, key });
    };
    play(60, 750, 900);
    // Held over the end of the loop.
    play(62, 2000, 2600);
    // Nobody plays in the second pass. At the end of the third one, the first beat comes early.
    play(64, 5000, 5100);
    play(65, 7000, 7100);
    expect(song.project.tracks[0]?.items, 'takes do not play while they are recorded').toEqual([]);
    clock.mockReturnValue(7200);
    state.tick = 0;
    recorder.finish();
    clock.mockRestore();
    const track = song.project.tracks[0];
    expect(track?.takes).toMatchObject([
      { name: 'Take 1', start_tick: 960, length_ticks: 3840, notes: [{ pitch: 60, tick: 480 }, { pitch: 62, tick: 2880, length_ticks: 960 }] },
      { name: 'Take 2', start_tick: 960, notes: [{ pitch: 64 }] },
      { name: 'Take 3', start_tick: 960, notes: [{ pitch: 65 }] },
    ]);
    expect(track?.items).toMatchObject([{ take_id: track?.takes?.[1]?.id, start_tick: 960, length_ticks: 3840, notes: [{ pitch: 64 }] }]);
    expect([song.undoLabel, song.editCount]).toEqual(['Record takes', 1]);
    song.undo();
    expect(song.project).toBe(project);
  });

  it('ends a recording of takes when the loop changes, because the loop divides it', () => {
    const loop = { startTick: 0, endTick: 3840, active: true };
    const { recorder } = recording(setLoop(songWith(), loop), { takes: true });
    recorder.toggle();
    recorder.loopChanged(loop);
    expect(recorder.isRecording).toBe(true);
    recorder.loopChanged({ startTick: 0, endTick: 1920 });
    expect(recorder.isRecording).toBe(false);
  });

  it('ignores notes early in a count-in, and another song, and says what to arm', () => {
    const { song, recorder, state, messages, send } = recording(songWith());
    recorder.toggle();
    state.countInSecs = 1;
    send({ kind: 'press', atMs: 0 });
    send({ kind: 'release', atMs: 0 });
    expect(clipsOf(song.project)).toEqual([]);
    state.countInSecs = 0;
    send({ kind: 'press', atMs: 100 });
    const otherProject = normalizeProject({ schema_version: 1, project_id: 'other', tracks: [{ id: 'keys', kind: 'audio', items: [] }] });
    song.open(otherProject, 1, true);
    recorder.finish();
    expect(song.project).toBe(otherProject);
    recorder.toggle();
    expect([recorder.isRecording, messages.length]).toEqual([false, 1]);
  });
});
