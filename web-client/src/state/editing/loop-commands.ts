/** Commands that set the loop of the song. Each can be undone. */
import { itemEndTick } from '../../project/audio-time';
import { findItem } from '../../project/edit-items';
import { ticksPerBarAt } from '../../project/grid';
import { loopOf, MIN_LOOP_TICKS, setLoop, type LoopRegion } from '../../project/loop';
import type { Notices } from '../notices.svelte';
import type { Song } from './song.svelte';
import type { Timeline } from './timeline.svelte';

export class LoopCommands {
  readonly #song: Song;
  readonly #timeline: Timeline;
  readonly #positionTick: () => number;
  readonly #notices: Notices;

  constructor(song: Song, timeline: Timeline, positionTick: () => number, notices: Notices) {
    this.#song = song;
    this.#timeline = timeline;
    this.#positionTick = positionTick;
    this.#notices = notices;
  }

  /** Switches the loop on or off. In a song without a loop, loops two bars from the playhead on. */
  toggle(): void {
    const loop = loopOf(this.#song.project);
    const label = loop?.active ? 'Switch loop off' : 'Switch loop on';
    this.#song.edit(label, (project) => setLoop(project, loop ? { ...loop, active: !loop.active } : { ...this.#twoBars(), active: true }));
  }

  /** Loops the selected notes or, without any, the selected clip. */
  loopSelection(): void {
    const region = this.#selectedRegion();
    if (region) this.#song.edit('Loop selection', (project) => setLoop(project, { ...region, active: true }));
    else this.#notices.show('info', 'Nothing is selected: select a clip or notes, and choose “Loop selection” again.');
  }

  /**
   * Moves an end of the loop to a tick, by default to the playhead. The other end moves along if it
   * would be passed.
   */
  setEnd(end: 'start' | 'end', tick = Math.round(this.#positionTick())): void {
    const { startTick, endTick } = loopOf(this.#song.project) ?? this.#twoBars();
    const lengthTicks = endTick - startTick;
    const region =
      end === 'start'
        ? { startTick: tick, endTick: endTick - tick >= MIN_LOOP_TICKS ? endTick : tick + lengthTicks }
        : { startTick: tick - startTick >= MIN_LOOP_TICKS ? startTick : Math.max(0, tick - lengthTicks), endTick: tick };
    this.#song.edit(`Set the ${end} of the loop`, (project) => setLoop(project, { ...region, active: true }));
  }

  /** Sets the loop by a drag; edits with the same `gesture` are undone together. */
  drag(region: LoopRegion, gesture: string): void {
    const active = loopOf(this.#song.project)?.active ?? true;
    this.#song.edit('Change loop', (project) => setLoop(project, { ...region, active }), gesture);
  }

  #twoBars(): LoopRegion {
    const { time_signatures } = this.#song.project;
    const tick = Math.round(this.#positionTick());
    const barTicks = ticksPerBarAt(time_signatures, tick);
    return { startTick: tick, endTick: tick + 2 * barTicks };
  }

  #selectedRegion(): LoopRegion | null {
    const { project, selection } = this.#song;
    const { midiClip, notes } = selection;
    if (midiClip && notes.size > 0) {
      const selectedNotes = [...notes].flatMap((index) => midiClip.item.notes[index] ?? []);
      const start = Math.min(...selectedNotes.map((note) => note.tick));
      const end = Math.max(...selectedNotes.map((note) => note.tick + note.length_ticks));
      return { startTick: midiClip.item.start_tick + start, endTick: midiClip.item.start_tick + end };
    }
    const itemInTrack = findItem(project, selection.itemId);
    if (!itemInTrack) return null;
    return { startTick: itemInTrack.item.start_tick, endTick: itemEndTick(this.#timeline.songTime, itemInTrack.item) };
  }
}
