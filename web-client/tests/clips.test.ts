import { describe, expect, it } from 'vitest';

import type { SongTime } from '../src/project/audio-time';
import { copiedClips, isClipboardContent, pasteClips, pasteTrack } from '../src/project/clipboard-content';
import { crossfadeClips } from '../src/project/crossfade';
import { clipsOf, copyClips, duplicateOffset, moveClips, removeClips } from '../src/project/edit-clips';
import { findItem, resizeItem } from '../src/project/edit-items';
import { joinMidi, splitMidi, trimMidiStart } from '../src/project/edit-midi-clips';
import type { AudioItem, MidiItem, Project } from '../src/project/model';
import { LANE_PX } from '../src/canvas/draw-clips';
import { TimeView } from '../src/canvas/time-view.svelte';
import { normalizeProject } from '../src/project/normalize';
import { ClipGestures, type LanePoint } from '../src/rooms/arrangement/clip-gestures';
import { ClipCommands } from '../src/state/editing/clip-commands';
import { Song } from '../src/state/editing/song.svelte';

const TIME: SongTime = { tempoMap: [{ tick: 0, bpm: 120 }], sourceOf: () => ({ sampleRateHz: 48_000, frames: 480_000 }) };

const note = (tick: number, length_ticks = 240) => ({ tick, length_ticks, pitch: 60, velocity: 0.5 });
const midi = (id: string, start_tick: number, notes = [note(0)]) => ({ type: 'midi', id, start_tick, length_ticks: 3840, notes });
const audio = (id: string, start_tick: number) => ({ type: 'audio', id, start_tick, length_frames: 96_000, source: { server_file_id: 'f' } });

/** Two instrument tracks and an audio track. */
function song(): Project {
  return normalizeProject({
    schema_version: 1,
    project_id: 'p',
    tracks: [
      { id: 'a', name: 'Bass', kind: 'instrument', synth_engine: { type: 'soundfont', bank: 0, program: 33 }, items: [midi('one', 960), midi('two', 4800)] },
      { id: 'b', name: 'Keys', kind: 'instrument', items: [midi('three', 1920)] },
      { id: 'c', name: 'Voice', kind: 'audio', output: 'group', sends: [{ to: 'bus', level_db: 0 }], items: [audio('four', 0)] },
      { id: 'group', kind: 'group', items: [] },
      { id: 'bus', kind: 'bus', items: [] },
    ],
  });
}
const item = <T = MidiItem>(project: Project, id: string): T => findItem(project, id)?.item as T;
const ids = (...names: string[]) => new Set(names);
const starts = (project: Project, lane: number): number[] => (project.tracks[lane]?.items ?? []).map(({ start_tick }) => start_tick);

describe('several clips', () => {
  it('move together, and not before the start of the song', () => {
    const movedClips = moveClips(song(), ids('one', 'three'), -1500, 0);
    expect([starts(movedClips, 0), starts(movedClips, 1)]).toEqual([[0, 4800], [960]]);
    expect(movedClips.tracks[2], 'other tracks stay the same objects').toEqual(song().tracks[2]);
  });

  it('change their tracks only if all of them fit there', () => {
    const movedClips = moveClips(song(), ids('one'), 0, 1);
    expect(movedClips.tracks.map(({ items }) => items.length)).toEqual([1, 2, 1, 0, 0]);
    const blockedMove = moveClips(song(), ids('one', 'three'), 960, 1);
    expect(blockedMove.tracks.map(({ items }) => items.length), 'an audio track cannot hold notes').toEqual([2, 1, 1, 0, 0]);
    expect(item(blockedMove, 'three').start_tick).toBe(2880);
    const project = song();
    expect(moveClips(project, ids('one'), 0, 2)).toBe(project);
  });

  it('are copied with new ids and removed', () => {
    const copied = copyClips(song(), ids('one', 'four'), 960, 0);
    expect([starts(copied.project, 0), starts(copied.project, 2)]).toEqual([[960, 4800, 1920], [0, 960]]);
    expect(copied.ids.size).toBe(2);
    expect(clipsOf(removeClips(copied.project, copied.ids), copied.ids)).toEqual([]);
  });

  it('are duplicated to the next beat after their length', () => {
    expect(duplicateOffset(3840, 960, 240), 'a whole bar').toBe(3840);
    expect(duplicateOffset(3600, 960, 240), '15/16 of a bar fill the bar').toBe(3840);
    expect(duplicateOffset(500, 960, 240), 'less than a beat uses the grid').toBe(720);
    expect(duplicateOffset(0, 960, 0)).toBe(1);
  });
});

describe('MIDI clips', () => {
  it('are split with the notes across the cut, and joined to what they were', () => {
    const project = moveClips(song(), ids('two'), 9600, 0);
    const withNotes = { ...project, tracks: project.tracks.map((track) => ({ ...track, items: track.items.map((currentTrack) => (currentTrack.type === 'midi' && currentTrack.id === 'one' ? { ...currentTrack, notes: [note(0), note(1800, 480), note(2400)], controls: [{ type: 'cc' as const, tick: 0, controller: 7, value: 90 }] } : currentTrack)) })) };
    const split = splitMidi(withNotes, 'one', 960 + 1920);
    if (!split) throw new Error('the clip is not split');
    const [first, second] = [item(split.project, 'one'), item(split.project, split.itemId)];
    expect([first.length_ticks, first.notes]).toEqual([1920, [note(0), note(1800, 120)]]);
    expect([second.start_tick, second.length_ticks, second.notes]).toEqual([2880, 1920, [note(0, 360), note(480)]]);
    expect(second.controls, 'the second part starts with the controls in force').toEqual([{ type: 'cc', tick: 0, controller: 7, value: 90 }]);
    const joinedProject = joinMidi(split.project, ids('one', split.itemId));
    expect(joinedProject && item(joinedProject.project, 'one').notes).toEqual([note(0), note(1800, 480), note(2400)]);
    expect(joinedProject && item(joinedProject.project, 'one').length_ticks).toBe(3840);
    const shortened = resizeItem(withNotes, 'one', 1920);
    const silentJoin = joinMidi(shortened, ids('one', 'two'));
    expect(silentJoin && item(silentJoin.project, 'one').notes.filter(({ tick }) => tick < 3840), 'notes behind the end stay silent').toEqual([note(0), note(1800, 120)]);
    expect([splitMidi(song(), 'one', 960), splitMidi(song(), 'one', 4800), splitMidi(song(), 'four', 10)]).toEqual([null, null, null]);
    expect(joinMidi(song(), ids('one', 'three')), 'clips of two tracks').toBeNull();
  });

  it('keep their notes in place when their start is trimmed', () => {
    const laterItem = trimMidiStart(song(), 'one', 960 + 120);
    expect([item(laterItem, 'one').start_tick, item(laterItem, 'one').length_ticks, item(laterItem, 'one').notes]).toEqual([1080, 3720, [note(0, 120)]]);
    const earlierClip = trimMidiStart(song(), 'one', 0);
    expect([item(earlierClip, 'one').start_tick, item(earlierClip, 'one').length_ticks, item(earlierClip, 'one').notes]).toEqual([0, 4800, [note(960)]]);
    expect(item(trimMidiStart(song(), 'one', 99_999), 'one').length_ticks).toBe(1);
  });
});

describe('the clipboard', () => {
  it('keeps the places of clips, and pastes into another song with new tracks where they are needed', () => {
    const copied = copiedClips(song(), ids('one', 'three', 'four'), TIME);
    if (!copied) throw new Error('nothing is copied');
    const into = pasteClips(song(), copied, 'a', 9600);
    expect([starts(into.project, 0), starts(into.project, 1), starts(into.project, 2)]).toEqual([[960, 4800, 10_560], [1920, 11_520], [0, 9600]]);
    expect([into.ids.size, into.trackId]).toEqual([3, 'a']);
    const empty = normalizeProject({ project_id: 'q', tracks: [] });
    const pasted = pasteClips(empty, copied, null, 0);
    expect(pasted.project.tracks.map(({ name, kind, synth_engine }) => [name, kind, synth_engine?.type])).toEqual([
      ['Bass', 'instrument', 'soundfont'],
      ['Keys', 'instrument', undefined],
      ['Voice', 'audio', undefined],
    ]);
    expect(isClipboardContent(JSON.parse(JSON.stringify(copied)))).toBe(true);
    expect([isClipboardContent({ kind: 'clips', clips: [{}] }), isClipboardContent(null), isClipboardContent({ kind: 'track' })]).toEqual([false, false, false]);
  });

  it('pastes a track without references that the song lacks', () => {
    const track = song().tracks[2];
    if (!track) throw new Error('no track');
    const pastedTrack = pasteTrack(song(), { kind: 'track', track }, 'a');
    expect(pastedTrack.project.tracks[1]).toMatchObject({ id: pastedTrack.trackId, output: 'group', sends: [{ to: 'bus' }] });
    const otherProject = pasteTrack(normalizeProject({ project_id: 'q', tracks: [] }), { kind: 'track', track }, null);
    expect(otherProject.project.tracks[0]?.sends).toEqual([]);
    expect(otherProject.project.tracks[0]).not.toHaveProperty('output');
  });
});

describe('gestures on clips', () => {
  // One pixel is a tick.
  const openClips = () => {
    const editedSong = new Song();
    editedSong.open(song(), 1, true);
    const gestures = new ClipGestures(editedSong, new TimeView(1, 1, 1), () => TIME);
    const at = (x: number, lane: number, keys: Partial<LanePoint> = {}): LanePoint => ({ x, y: lane * LANE_PX + LANE_PX / 2, shiftKey: false, altKey: false, ctrlKey: false, ...keys });
    return { editedSong, gestures, at };
  };

  it('select with Ctrl and with a rectangle, and drag all that is selected', () => {
    const { editedSong, gestures, at } = openClips();
    const { selection } = editedSong;
    gestures.press(at(2000, 0));
    gestures.release();
    gestures.press(at(3000, 1, { ctrlKey: true }));
    gestures.release();
    expect([...selection.itemIds]).toEqual(['one', 'three']);
    gestures.press(at(2000, 0));
    gestures.move(at(2960, 0));
    gestures.release();
    expect([starts(editedSong.project, 0), starts(editedSong.project, 1)]).toEqual([[1920, 4800], [2880]]);
    expect([editedSong.undoLabel, selection.itemIds.size]).toEqual(['Move 2 clips', 2]);
    editedSong.undo();
    expect(gestures.press(at(9000, 0))).toBe(false);
    gestures.move(at(4000, 1));
    expect(gestures.marquee).toMatchObject({ left: 4000, width: 5000 });
    gestures.release();
    expect([...selection.itemIds].sort()).toEqual(['one', 'three', 'two']);
    gestures.press(at(9000, 1));
    gestures.release();
    expect([selection.itemIds.size, selection.trackId], 'a press beside clips selects the track').toEqual([0, 'b']);
    expect(selection.midiClip?.item.id, 'and its clip is shown').toBe('three');
  });

  it('have keys that select the next clip, and words for screen readers', () => {
    const { editedSong } = openClips();
    const unused = {} as never;
    const commands = new ClipCommands(editedSong, unused, unused, unused, unused, unused, unused);
    editedSong.selection.selectItem('a', null);
    expect(commands.describeSelected()).toBe('No clip is selected.');
    const selectedIds = [1, 1, 1, -1].map((offset) => {
      commands.selectNext(offset as 1 | -1, false);
      return editedSong.selection.itemId;
    });
    expect(selectedIds).toEqual(['one', 'two', 'three', 'two']);
    commands.selectNext(1, true);
    expect([...editedSong.selection.itemIds]).toEqual(['two', 'three']);
    expect(commands.describeSelected()).toBe('2 clips, last Keys on Keys, bar 1, beat 3.');
  });

  it('copy with Ctrl or Alt, as one undo step, and keep the copies selected', () => {
    const { editedSong, gestures, at } = openClips();
    for (const keys of [{ ctrlKey: true }, { altKey: true }]) {
      gestures.press(at(2000, 0, keys));
      gestures.move(at(3000, 1, keys));
      gestures.move(at(6800, 1, keys));
      gestures.release();
      expect(starts(editedSong.project, 0)).toEqual([960, 4800]);
      expect(starts(editedSong.project, 1)).toEqual([1920, 5760]);
      expect(editedSong.selection.itemIds.has('one')).toBe(false);
      editedSong.undo();
      expect(starts(editedSong.project, 1)).toEqual([1920]);
    }
  });
});

describe('overlapping audio clips', () => {
  it('fade into each other', () => {
    const project = song();
    const both = { ...project, tracks: project.tracks.map((track) => (track.id === 'c' ? { ...track, items: [...track.items, audio('five', 2880) as AudioItem] } : track)) };
    // Both last two seconds, and the second one starts after 1.5 seconds.
    const fadedSong = crossfadeClips(both, TIME, ids('five'));
    expect(item<AudioItem>(fadedSong, 'four').fades).toEqual({ out_frames: 24_000 });
    expect(item<AudioItem>(fadedSong, 'five').fades).toEqual({ in_frames: 24_000 });
    expect(crossfadeClips(project, TIME, ids('four'))).toBe(project);
  });
});
