/** Tests of frozen tracks: what plays, what can be edited, and how a track is frozen. */
import { afterEach, describe, expect, it, vi } from 'vitest';

import { Api } from '../src/api/client';
import { LANE_PX } from '../src/canvas/draw-clips';
import { TimeView } from '../src/canvas/time-view.svelte';
import { removeTrack } from '../src/project/edit-tracks';
import { filesOf } from '../src/project/files';
import {
  canFreeze,
  describeFrozenPartsChange,
  freezeTrack,
  frozenPartsChange,
  isFrozenAtOtherTempo,
  soundsTheSame,
  unfreezeTrack,
  withoutFrozenParts,
} from '../src/project/freezing';
import { liveChanges } from '../src/project/live-changes';
import type { FrozenSound, Project, Track } from '../src/project/model';
import { normalizeProject } from '../src/project/normalize';
import { updateTrack } from '../src/project/update-track';
import { ClipGestures, type LanePoint } from '../src/rooms/arrangement/clip-gestures';
import { Freezing } from '../src/state/editing/freezing.svelte';
import { ClipCommands } from '../src/state/editing/clip-commands';
import { SelectionCommands } from '../src/state/editing/selection-commands';
import { Song } from '../src/state/editing/song.svelte';
import { AudioFiles } from '../src/state/library/audio-files.svelte';
import { Notices } from '../src/state/notices.svelte';

const TEMPO = [{ tick: 0, bpm: 120 }];
const FROZEN: FrozenSound = { server_file_id: 'recording', length_frames: 48_000, sample_rate_hz: 48_000, tempo_map: TEMPO };
const ITEM = { type: 'midi', id: 'i', start_tick: 0, length_ticks: 960, notes: [{ tick: 0, length_ticks: 480, pitch: 60, velocity: 0.5 }] };
const SONG: Project = normalizeProject({
  project_id: 'p',
  tempo_map: TEMPO,
  tracks: [
    {
      id: 'a',
      name: 'Bass',
      kind: 'instrument',
      items: [ITEM],
      synth_engine: { type: 'vst3', plugin_id: 'x' },
      bypass: true,
      effects: [{ id: 'e', type: 'builtin', name: 'compressor', side_chain: 'b' }, { id: 'c', type: 'builtin', name: 'convolution', impulse: 'room' }],
      automation: [{ target: 'pan', points: [] }, { target: 'instrument/3', points: [] }],
    },
    { id: 'b', name: 'Drums', kind: 'audio', items: [{ type: 'audio', id: 'j', start_tick: 0, source: { server_file_id: 'drums' } }] },
  ],
});
const WITH_FROZEN = freezeTrack(SONG, 'a', FROZEN);
/** The song with a third track, which has a clip of two bars. */
const WITH_CLIP: Project = normalizeProject({
  ...SONG,
  tracks: [...SONG.tracks, { id: 'c', name: 'Keys', kind: 'instrument', items: [{ ...ITEM, id: 'k', length_ticks: 7_680 }] }],
});
const edit = (change: Partial<Track>): Project => updateTrack(WITH_FROZEN, 'a', (track) => ({ ...track, ...change }));

describe('a frozen track', () => {
  it('plays its recording, and comes back unchanged', () => {
    const [playedTrack] = withoutFrozenParts(WITH_FROZEN).tracks;
    expect(playedTrack).toMatchObject({ id: 'a', name: 'Bass', items: [], effects: [], frozen: FROZEN });
    expect(playedTrack).not.toHaveProperty('synth_engine');
    expect(playedTrack?.frozen, 'the engine needs the sample rate if the recording is missing').toHaveProperty('sample_rate_hz', 48_000);
    expect(withoutFrozenParts(SONG)).toBe(SONG);
    expect(filesOf(WITH_FROZEN)).toEqual({ clips: new Set(['recording', 'drums']), takes: new Set(), impulses: new Set(['room']) });
    expect(filesOf(withoutFrozenParts(WITH_FROZEN))).toEqual({ clips: new Set(['recording', 'drums']), takes: new Set(), impulses: new Set() });
    expect(unfreezeTrack(WITH_FROZEN, 'a')).toEqual(SONG);
  });

  it('needs a new session of the engine only if it is frozen or unfrozen', () => {
    const changes = (projectBefore: Project, projectAfter: Project): unknown => liveChanges(withoutFrozenParts(projectBefore), withoutFrozenParts(projectAfter), () => null);
    expect(changes(WITH_FROZEN, edit({ volume_db: -3 }))).toEqual([]);
    expect(changes(SONG, WITH_FROZEN)).toBeNull();
    expect(changes(WITH_FROZEN, freezeTrack(SONG, 'a', { ...FROZEN, server_file_id: 'other' }))).toBeNull();
  });

  it('keeps its clips, instrument and effects from edits, but not its fader, sends and name', () => {
    const changed = (projectAfter: Project): string | undefined => frozenPartsChange(WITH_FROZEN, projectAfter)?.frozenTrack.name;
    const [lane] = WITH_FROZEN.tracks[0]?.automation ?? [];
    for (const change of [{ items: [] }, { effects: [] }, { bypass: false }, { automation: [] }, { synth_engine: { type: 'vst3' as const, plugin_id: 'y' } }]) {
      expect(changed(edit(change)), JSON.stringify(change)).toBe('Bass');
    }
    const free: Partial<Track>[] = [
      { volume_db: -3, pan: 1, mute: true, solo: true, name: 'Low', color: '#000000' },
      { automation: [{ target: 'instrument/3', points: [] }, { target: 'volume_db', points: [] }] },
      { items: structuredClone(WITH_FROZEN.tracks[0]?.items ?? []) },
    ];
    for (const change of free) expect(changed(edit(change)), JSON.stringify(change)).toBeUndefined();
    expect(changed(unfreezeTrack(WITH_FROZEN, 'a'))).toBeUndefined();
    expect(changed(removeTrack(WITH_FROZEN, 'a'))).toBeUndefined();
    expect(lane?.target).toBe('pan');

    const refusedNames: string[] = [];
    const song = new Song((change) => refusedNames.push(describeFrozenPartsChange(change)));
    song.open(WITH_FROZEN, 1, true);
    expect(song.edit('Delete clip', () => edit({ items: [] }))).toBe(false);
    expect([song.project, song.undoLabel]).toEqual([WITH_FROZEN, null]);
    expect(refusedNames).toEqual(['Bass is frozen. Unfreeze it to edit its clips, instrument and effects.']);
    expect(song.edit('Change volume', () => edit({ volume_db: -3 }))).toBe(true);
  });

  it('names the side-chain that a deletion would remove, but lets its buses be deleted', () => {
    const withBus = normalizeProject({
      ...SONG,
      tracks: [...SONG.tracks.map((track) => ({ ...track, output: 'c', sends: [{ to: 'c' }] })), { id: 'c', name: 'Bus', kind: 'bus' }],
    });
    const song = freezeTrack(withBus, 'a', FROZEN);
    const change = frozenPartsChange(song, removeTrack(song, 'b'));
    expect([change?.frozenTrack.name, change?.deletedSource?.name]).toEqual(['Bass', 'Drums']);
    expect(change && describeFrozenPartsChange(change)).toBe('Drums feeds a side-chain of Bass, which is frozen. Unfreeze Bass to delete Drums.');
    expect(frozenPartsChange(song, removeTrack(song, 'c'))).toBeNull();
    expect(removeTrack(song, 'c').tracks[0]).toMatchObject({ sends: [], frozen: FROZEN });
  });

  it('does not change the selection if an edit is refused', () => {
    const song = new Song();
    song.open(freezeTrack(WITH_CLIP, 'a', FROZEN), 1, true);
    const { selection } = song;
    // One pixel is a tick. The clip of the third track is dragged to the frozen first track.
    const view = new TimeView(1, 1, 1);
    const clips = new ClipGestures(song, view, () => ({ tempoMap: TEMPO, sourceOf: () => null }));
    const point = (x: number, lane: number): LanePoint => ({ x, y: lane * LANE_PX + LANE_PX / 2, shiftKey: true, altKey: false, ctrlKey: false });
    clips.press(point(100, 2));
    clips.move(point(100, 0));
    expect([selection.trackId, selection.itemId], 'a clip on a frozen track').toEqual(['c', 'k']);
    clips.move(point(200, 2));
    expect([selection.trackId, song.project.tracks[2]?.items[0]?.start_tick], 'the drag goes on').toEqual(['c', 100]);
    clips.release();
    clips.create(point(2_000, 0));
    expect([selection.trackId, selection.itemId], 'a new clip').toEqual(['c', 'k']);

    selection.selectItem('a', 'i');
    // Deleting clips and notes needs only the song.
    const unused = {} as never;
    const commands = new SelectionCommands(song, new ClipCommands(song, unused, unused, unused, unused, unused, unused), unused, unused, unused);
    commands.remove();
    expect(selection.itemId).toBe('i');
    selection.focus = 'notes';
    selection.notes = new Set([0]);
    commands.remove();
    expect(selection.notes).toEqual(new Set([0]));
  });

  it('depends on the settings of the song and on what feeds its side-chains', () => {
    const song = normalizeProject({
      ...SONG,
      tracks: [
        { ...SONG.tracks[0], effects: [{ id: 'e', type: 'vst3', plugin_id: 'x', side_chain: 'bus' }] },
        { ...SONG.tracks[1], output: 'group' },
        { id: 'group', name: 'Group', kind: 'group', output: 'bus' },
        { id: 'bus', name: 'Bus', kind: 'bus', effects: [{ id: 'g', type: 'builtin', name: 'gate', side_chain: 'c' }] },
        { id: 'c', name: 'Keys', kind: 'instrument', items: [ITEM] },
        { id: 'd', name: 'Other', kind: 'instrument', items: [ITEM] },
      ],
    });
    const change = (id: string, fields: Partial<Track>): Project => updateTrack(song, id, (track) => ({ ...track, ...fields }));
    const audible: Record<string, Project> = {
      settings: { ...song, settings: { seed: 7 } },
      'sample rate': { ...song, sample_rate_hz: 96_000 },
      tempo: { ...song, tempo_map: [{ tick: 0, bpm: 90 }] },
      'time signature': { ...song, time_signatures: [{ tick: 0, numerator: 3, denominator: 4 }] },
      'own clips': change('a', { items: [] }),
      'effects of the side-chain': change('bus', { effects: [] }),
      'clips that feed it through a group': change('b', { items: [] }),
      'fader that feeds it': change('b', { volume_db: -3 }),
      'send to it': change('d', { sends: [{ to: 'bus' }] }),
      'side-chain of the side-chain': change('c', { items: [] }),
      'frozen source': freezeTrack(song, 'c', FROZEN),
    };
    for (const [label, projectAfter] of Object.entries(audible)) expect(soundsTheSame('a', song, projectAfter), label).toBe(false);
    const otherChanges = [
      structuredClone(song),
      change('a', { volume_db: -3, mute: true, name: 'Low' }),
      change('b', { name: 'Kit', color: '#000000' }),
      change('bus', { volume_db: -3 }),
      change('c', { volume_db: -3, mute: true }),
      change('d', { items: [] }),
    ];
    for (const [index, projectAfter] of otherChanges.entries()) expect(soundsTheSame('a', song, projectAfter), `${index}`).toBe(true);
  });

  it('knows whether the tempo has changed since', () => {
    expect(isFrozenAtOtherTempo(SONG, FROZEN)).toBe(false);
    expect(isFrozenAtOtherTempo({ ...SONG, tempo_map: [{ tick: 0, bpm: 90 }] }, FROZEN)).toBe(true);
    expect(isFrozenAtOtherTempo({ ...SONG, tempo_map: [...TEMPO, { tick: 960, bpm: 90 }] }, FROZEN)).toBe(true);
    expect(isFrozenAtOtherTempo(SONG, { server_file_id: 'recording', length_frames: 1 })).toBe(false);
  });

  it('has something to play', () => {
    const [bass, drums] = SONG.tracks as [Track, Track];
    expect([canFreeze(bass), canFreeze(drums)]).toEqual([true, true]);
    expect([canFreeze({ ...bass, items: [] }), canFreeze({ ...bass, kind: 'group' })]).toEqual([false, false]);
  });
});

describe('freezing', () => {
  /** Answers the requests of a freeze; `task` is the finished task. */
  function opened(task: object, onTask: (song: Song) => void = () => undefined): { song: Song; freezing: Freezing; notices: Notices } {
    const [api, notices, song] = [new Api('http://songs.test'), new Notices(), new Song()];
    song.open(SONG, 1, true);
    const json = (body: object, status = 200): Response => new Response(JSON.stringify(body), { status, headers: { 'Content-Type': 'application/json' } });
    vi.stubGlobal('fetch', async (request: Request) => {
      if (request.url.endsWith('/multitrack/freeze')) return json({ task_id: 't' }, 202);
      if (request.url.endsWith('/events')) return json({ code: 'not_found', detail: 'No events.' }, 404);
      onTask(song);
      return json({ id: 't', progress: 1, message: '', ...task });
    });
    return { song, freezing: new Freezing(api, song, new AudioFiles(api), notices), notices };
  }
  const result = (extraFields: object = {}): object => ({ state: 'succeeded', result: { frozen: FROZEN, left_out: [], warnings: [], ...extraFields } });
  const texts = (notices: Notices): string[] => notices.visibleNotices.map(({ text }) => text);
  const bass = SONG.tracks[0] as Track;

  afterEach(() => vi.unstubAllGlobals());

  it('is one step that can be undone', async () => {
    const { song, freezing, notices } = opened(result());
    const freezing_promise = freezing.freeze(bass);
    expect(freezing.stateOf(bass)).toEqual({ kind: 'rendering', fraction: 0 });
    await freezing_promise;
    expect(song.project).toEqual(WITH_FROZEN);
    expect(song.undoLabel).toBe('Freeze Bass');
    expect(freezing.stateOf(song.project.tracks[0] as Track)).toEqual({ kind: 'frozen' });
    song.edit('Change tempo', (project) => ({ ...project, tempo_map: [{ tick: 0, bpm: 90 }] }));
    expect(freezing.stateOf(song.project.tracks[0] as Track)).toEqual({ kind: 'other-tempo' });
    freezing.unfreeze(song.project.tracks[0] as Track);
    expect(song.project.tracks).toEqual(SONG.tracks);
    expect(texts(notices)).toEqual([]);
  });

  it('belongs to one song: a copy with the same tracks is not being frozen', async () => {
    const { song, freezing, notices } = opened(result(), (currentProject) => {
      expect(freezing.stateOf(bass)?.kind).toBe('rendering');
      currentProject.open({ ...SONG, project_id: 'copy' }, 1, true);
      expect(freezing.stateOf(bass)).toBeNull();
    });
    await freezing.freeze(bass);
    expect(song.project.tracks).toEqual(SONG.tracks);
    expect(texts(notices)).toEqual([`Bass cannot be frozen: the song ${SONG.name} was closed in the meantime; open it and freeze the track again.`]);
  });

  it('knows a recording that is missing', () => {
    const api = new Api('http://songs.test');
    const audioFiles = new AudioFiles(api);
    const freezing = new Freezing(api, new Song(), audioFiles, new Notices());
    audioFiles.problemsById.set('recording', 'There is no audio file recording.');
    const [track] = WITH_FROZEN.tracks as [Track];
    expect(freezing.stateOf(track)).toEqual({ kind: 'missing', reason: 'There is no audio file recording.' });
    expect(freezing.stateOf(bass)).toBeNull();
  });

  it('says why a track cannot be frozen, and changes nothing', async () => {
    const missing = { pointer: '/tracks/0/synth_engine', reason: 'the plugin cannot play the notes: it is missing' };
    const edits: ((project: Project) => Project)[] = [
      (project) => updateTrack(project, 'a', (track) => ({ ...track, items: [] })),
      (project) => updateTrack(project, 'b', (track) => ({ ...track, items: [] })),
      (project) => removeTrack(project, 'b'),
      (project) => ({ ...project, settings: { polyphony: 8 } }),
    ];
    const cases: [object, string, ((song: Song) => void)?][] = [
      [{ state: 'failed', error: { detail: 'The plugin crashed twice.' } }, 'Bass cannot be frozen: The plugin crashed twice.'],
      [result({ left_out: [missing] }), 'Bass cannot be frozen: the plugin cannot play the notes: it is missing.'],
      ...edits.map((edit): [object, string, (song: Song) => void] => [
        result(),
        'Bass cannot be frozen: the track, its side-chain or the settings of the song were edited in the meantime; freeze it again.',
        (song) => song.edit('Edit', edit),
      ]),
    ];
    for (const [task, text, onTask] of cases) {
      const { song, freezing, notices } = opened(task, onTask);
      await freezing.freeze(bass);
      expect(texts(notices)).toEqual([text]);
      expect(song.project.tracks[0]?.frozen).toBeUndefined();
      expect(freezing.stateOf(song.project.tracks[0] as Track)).toBeNull();
    }
    const { song, freezing, notices } = opened({ state: 'cancelled' });
    await freezing.freeze(bass);
    expect([song.project, texts(notices)]).toEqual([SONG, []]);
  });
});
