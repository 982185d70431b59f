import { describe, expect, it } from 'vitest';

import { Backdrop } from '../src/canvas/backdrop';
import { outwards } from '../src/canvas/band';
import { changedLanes, lanesDataOf } from '../src/canvas/changed-lanes';
import { LANE_PX, type ClipsScene } from '../src/canvas/draw-clips';
import { ghostItems } from '../src/canvas/draw-notes';
import { TimeView } from '../src/canvas/time-view.svelte';
import { addMidiItem, findItem, setItemNotes } from '../src/project/edit-items';
import type { MidiItem, Project } from '../src/project/model';
import { normalizeProject } from '../src/project/normalize';
import { updateTrack } from '../src/project/update-track';

const NOTE = { tick: 0, length_ticks: 240, pitch: 60, velocity: 0.5 };
const clip = (id: string, start_tick = 0) => ({ type: 'midi', id, start_tick, length_ticks: 3840, notes: [NOTE] });

function song(): Project {
  const track = (id: string, items: unknown[]) => ({ id, name: id, kind: 'instrument', items });
  return normalizeProject({ schema_version: 1, project_id: 'p', tracks: [track('a', [clip('one')]), track('b', [clip('two')]), track('c', [clip('three', 38_400)])] });
}

function view(): TimeView {
  const timeView = new TimeView(1, 1, 4096);
  timeView.widthPx = 1000;
  timeView.fit(0, 7680);
  return timeView;
}

const SELECTED = new Set(['one']);
function scene(project: Project, changes: Partial<ClipsScene> = {}): ClipsScene {
  return {
    view: VIEW,
    project,
    time: { tempoMap: project.tempo_map, sourceOf: () => null },
    waveformOf: () => null,
    problemOf: () => undefined,
    scrollTopPx: 10,
    selectedItemIds: SELECTED,
    selectedTrackId: 'a',
    ...changes,
  };
}
const VIEW = view();

describe('lanes that an edit has changed', () => {
  const before = song();
  const lanesOf = (after: Project, changes: Partial<ClipsScene> = {}) =>
    changedLanes(lanesDataOf(scene(before), [1]), lanesDataOf(scene(after, changes), [1]));

  it('are those whose tracks are other objects', () => {
    expect(lanesOf(before)).toEqual([]);
    const topPx = LANE_PX - 10;
    expect(lanesOf(setItemNotes(before, 'two', [NOTE, NOTE]))).toEqual([{ topPx, bottomPx: topPx + LANE_PX }]);
  });

  it('include lanes that a solo elsewhere dims', () => {
    const soloed = updateTrack(before, 'b', (track) => ({ ...track, solo: true }));
    expect(lanesOf(soloed)?.map(({ topPx }) => topPx)).toEqual([-10, LANE_PX - 10, 2 * LANE_PX - 10]);
  });

  it('are all lanes after a change of the view, the selection, the grid or the number of tracks', () => {
    expect(lanesOf(before, { scrollTopPx: 11 })).toBeNull();
    expect(lanesOf(before, { selectedItemIds: new Set(['two']) })).toBeNull();
    expect(lanesOf(before, { selectedTrackId: 'b' })).toBeNull();
    expect(lanesOf({ ...before, time_signatures: [{ tick: 0, numerator: 3, denominator: 4 }] })).toBeNull();
    expect(lanesOf({ ...before, tracks: before.tracks.slice(1) })).toBeNull();
    expect(changedLanes(null, lanesDataOf(scene(before), []))).toBeNull();
    expect(changedLanes(lanesDataOf(scene(before), [1]), lanesDataOf(scene(before), [2]))).toBeNull();
  });
});

it('a band grows to whole pixels of the screen', () => {
  expect(outwards({ topPx: 66, bottomPx: 132 }, 2)).toEqual({ topPx: 66, bottomPx: 132 });
  expect(outwards({ topPx: 65.5, bottomPx: 131.5 }, 1)).toEqual({ topPx: 65, bottomPx: 132 });
});

describe('the backdrop of the piano roll', () => {
  it('has the clips of the view, except the edited one and drum kits', () => {
    const project = addMidiItem(song(), 'a', 3840, 3840).project;
    const found = (edited: Project) => ghostItems({ view: VIEW, project: edited, ...(findItem(edited, 'one') as { track: Project['tracks'][0]; item: MidiItem }) });
    expect(found(project).map(({ start_tick }) => start_tick)).toEqual([3840, 0]);
    // A note in the edited clip leaves the other clips the same objects.
    const edited = setItemNotes(project, 'one', [NOTE, { ...NOTE, pitch: 64 }]);
    expect(found(edited).every((item, index) => item === found(project)[index])).toBe(true);
  });

  it('is painted again only if an input or the size has changed', () => {
    const canvases: { width: number; height: number; getContext: () => unknown }[] = [];
    const newCanvas = () => {
      const canvas = { width: 0, height: 0, getContext: () => ({ setTransform: () => undefined }) };
      canvases.push(canvas);
      return canvas;
    };
    const globals = globalThis as { document?: unknown };
    const { document } = globals;
    globals.document = { createElement: newCanvas };
    try {
      const target = { canvas: { width: 10, height: 5 }, pictures: 0, getTransform: () => null, save() {}, resetTransform() {}, restore() {}, drawImage: () => (target.pictures += 1) };
      let paints = 0;
      const backdrop = new Backdrop();
      const draw = (...inputs: unknown[]) => backdrop.draw(target as unknown as CanvasRenderingContext2D, inputs, () => (paints += 1));
      draw(1, 'a');
      draw(1, 'a');
      expect([paints, target.pictures]).toEqual([1, 2]);
      draw(2, 'a');
      draw(2);
      target.canvas.height = 6;
      draw(2);
      expect([paints, target.pictures, canvases.length]).toEqual([4, 5, 1]);
    } finally {
      globals.document = document;
    }
  });
});
