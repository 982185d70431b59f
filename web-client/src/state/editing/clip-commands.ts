/** Commands of menus, keys and gestures that edit the selected clips. */
import type { Player } from '../../engine/player.svelte';
import { itemEndTick } from '../../project/audio-time';
import { copiedClips, pasteClips, pasteTrack } from '../../project/clipboard-content';
import { crossfadeClips } from '../../project/crossfade';
import { splitAudio } from '../../project/edit-audio';
import { clipsOf, copyClips, duplicateOffset, moveClips, removeClips, type PlacedClip } from '../../project/edit-clips';
import { itemId } from '../../project/edit-items';
import { joinMidi, splitMidi } from '../../project/edit-midi-clips';
import { removeTrack } from '../../project/edit-tracks';
import { barPositionAt, signatureAt } from '../../project/grid';
import { TICKS_PER_QUARTER, type Project } from '../../project/model';
import type { Notices } from '../notices.svelte';
import type { Preferences } from '../view/preferences.svelte';
import type { Clipboard } from './clipboard';
import type { Song } from './song.svelte';
import type { Timeline } from './timeline.svelte';
import type { TrackCommands } from './track-commands';

export class ClipCommands {
  readonly #song: Song;
  readonly #timeline: Timeline;
  readonly #player: Player;
  readonly #tracks: TrackCommands;
  readonly #clipboard: Clipboard;
  readonly #preferences: Preferences;
  readonly #notices: Notices;

  constructor(
    song: Song,
    timeline: Timeline,
    player: Player,
    tracks: TrackCommands,
    clipboard: Clipboard,
    preferences: Preferences,
    notices: Notices,
  ) {
    this.#song = song;
    this.#timeline = timeline;
    this.#player = player;
    this.#tracks = tracks;
    this.#clipboard = clipboard;
    this.#preferences = preferences;
    this.#notices = notices;
  }

  get #selected(): PlacedClip[] {
    return clipsOf(this.#song.project, this.#song.selection.itemIds);
  }

  /**
   * Copies the selected clips, or else the selected track. Returns false if nothing is selected.
   */
  copy(): boolean {
    const { project, selection } = this.#song;
    const clips = copiedClips(project, selection.itemIds, this.#timeline.songTime);
    const track = selection.isMaster ? null : selection.track;
    if (clips) this.#clipboard.copy(clips);
    else if (track) this.#clipboard.copy({ kind: 'track', track });
    return clips !== null || track !== null;
  }

  /** Copies the selected clips or the selected track, and removes them. */
  cut(): void {
    if (!this.copy()) return;
    const song = this.#song;
    const { track } = song.selection;
    if (this.#selected.length > 0) this.#removeAs('Cut');
    else if (track) song.edit(`Cut ${track.name}`, (project) => removeTrack(project, track.id));
  }

  /** Pastes clips at a tick, by default the playhead, or a track below the selected track. */
  paste(tick = this.#player.positionTick()): void {
    const song = this.#song;
    const { content } = this.#clipboard;
    if (content === null) {
      this.#notices.show('info', 'There is nothing to paste: copy clips or a track first.');
    } else if (content.kind === 'track') {
      const pasted = pasteTrack(song.project, content, song.selection.trackId);
      if (song.edit(`Paste ${content.track.name}`, () => pasted.project)) song.selection.selectTrack(pasted.trackId);
    } else {
      const pasted = pasteClips(song.project, content, song.selection.trackId, tick);
      if (song.edit(clipLabel('Paste', pasted.ids.size), () => pasted.project)) song.selection.selectItems(pasted.ids);
    }
  }

  /** Inserts copies of the selected clips after them, on the next beat; or copies the track. */
  duplicate(): void {
    const song = this.#song;
    const clips = this.#selected;
    const { trackId, itemIds } = song.selection;
    if (clips.length === 0) {
      if (trackId !== null) this.#tracks.duplicate(trackId);
      return;
    }
    const time = this.#timeline.songTime;
    const startTick = Math.min(...clips.map(({ item }) => item.start_tick));
    const endTick = Math.max(...clips.map(({ item }) => itemEndTick(time, item)));
    const beatTicks = (TICKS_PER_QUARTER * 4) / signatureAt(song.project.time_signatures, startTick).denominator;
    const offset = duplicateOffset(endTick - startTick, beatTicks, this.#preferences.stepTicks);
    const copied = copyClips(song.project, itemIds, offset, 0);
    if (song.edit(clipLabel('Duplicate', clips.length), () => copied.project)) song.selection.selectItems(copied.ids);
  }

  remove(): void {
    if (this.#selected.length > 0) this.#removeAs('Delete');
  }

  /** Moves the selected clips by ticks. */
  nudge(byTicks: number): void {
    const ids = this.#song.selection.itemIds;
    if (byTicks === 0 || ids.size === 0) return;
    this.#song.edit(clipLabel('Move', ids.size), (project) => moveClips(project, ids, byTicks, 0));
  }

  /** Splits the selected clips at a tick, by default the playhead. */
  split(atTick = this.#player.positionTick()): void {
    const song = this.#song;
    const tick = Math.round(atTick);
    const time = this.#timeline.songTime;
    const clips = this.#selected;
    let { project } = song;
    const secondIds = new Set<string>();
    for (const { item } of clips) {
      const id = itemId(item);
      const split: { project: Project; itemId: string } | null = item.type === 'audio' ? splitAudio(project, time, id, tick) : splitMidi(project, id, tick);
      if (!split) continue;
      project = split.project;
      secondIds.add(split.itemId);
    }
    if (secondIds.size === 0) {
      const hasLoop = clips.some(({ item }) => item.type === 'audio' && item.loop);
      this.#notices.show('info', hasLoop ? 'A loop cannot be split.' : 'To split a clip, select it and put the playhead inside it.');
      return;
    }
    if (song.edit(clipLabel('Split', secondIds.size), () => project)) song.selection.selectItems(secondIds);
  }

  /** Joins the selected MIDI clips of each track. */
  join(): void {
    const song = this.#song;
    const joinedProject = joinMidi(song.project, song.selection.itemIds);
    if (!joinedProject) this.#notices.show('info', 'To join MIDI clips, select two or more on the same track.');
    else if (song.edit('Join clips', () => joinedProject.project)) song.selection.selectItems(joinedProject.ids);
  }

  /** Fades the selected audio clips into those that they overlap. */
  crossfade(): void {
    const song = this.#song;
    const fadedSong = crossfadeClips(song.project, this.#timeline.songTime, song.selection.itemIds);
    if (fadedSong === song.project) this.#notices.show('info', 'To crossfade audio clips, let two clips of a track overlap and select one.');
    else song.edit('Crossfade clips', () => fadedSong);
  }

  /** Selects all clips of the song. */
  selectAll(): void {
    const { project, selection } = this.#song;
    const items = project.tracks.flatMap((track) => track.items.filter((item) => item.type !== 'section'));
    selection.selectItems(new Set(items.map(itemId)));
  }

  /**
   * Selects the next clip, or with a negative offset an earlier one, in the order of tracks and
   * starts. Without a selected clip, begins with the selected track. With `adds`, keeps the others.
   */
  selectNext(offset: 1 | -1, adds: boolean): void {
    const { project, selection } = this.#song;
    const clips = project.tracks.flatMap((track) =>
      track.items.filter((item) => item.type !== 'section').sort((a, b) => a.start_tick - b.start_tick).map((item) => ({ track, id: itemId(item) })),
    );
    const currentIndex = clips.findIndex(({ id }) => id === selection.itemId);
    const ofTrack = clips.findIndex(({ track }) => track.id === selection.trackId);
    const next = clips[currentIndex >= 0 ? currentIndex + offset : Math.max(0, ofTrack)];
    if (!next) return;
    selection.selectItems(new Set(adds ? [...[...selection.itemIds].filter((id) => id !== next.id), next.id] : [next.id]));
  }

  /** Describes the selected clips in a few words, for screen readers. */
  describeSelected(): string {
    const clips = this.#selected;
    const firstClip = clips.find(({ item }) => itemId(item) === this.#song.selection.itemId) ?? clips[0];
    if (!firstClip) return 'No clip is selected.';
    const { bar, beat } = barPositionAt(this.#song.project.time_signatures, firstClip.item.start_tick);
    const name = ('name' in firstClip.item ? firstClip.item.name : undefined) ?? firstClip.track.name;
    const place = `${name} on ${firstClip.track.name}, bar ${bar}, beat ${beat}`;
    return clips.length === 1 ? `${place}.` : `${clips.length} clips, last ${place}.`;
  }

  #removeAs(verb: string): void {
    const song = this.#song;
    const ids = song.selection.itemIds;
    if (song.edit(clipLabel(verb, ids.size), (project) => removeClips(project, ids))) song.selection.itemId = null;
  }
}

/** Returns the name of an edit: `Cut clip`, `Cut 3 clips`. */
export function clipLabel(verb: string, count: number): string {
  return count === 1 ? `${verb} clip` : `${verb} ${count} clips`;
}
