/** Records on the armed or selected track: notes on an instrument track, sound on an audio track. */
import type { LoopRegion } from '../../project/loop';
import type { Track } from '../../project/model';
import type { Song } from '../editing/song.svelte';
import { canRecordAudio, type AudioRecorder } from './audio-recorder.svelte';
import { canRecord as canRecordNotes, type NoteRecorder } from './note-recorder.svelte';

export class Recorder {
  readonly audio: AudioRecorder;
  readonly #song: Song;
  readonly #notes: NoteRecorder;

  constructor(song: Song, notes: NoteRecorder, audio: AudioRecorder) {
    this.#song = song;
    this.#notes = notes;
    this.audio = audio;
  }

  get isRecording(): boolean {
    return this.audio.isRecording || this.#notes.isRecording;
  }

  /** Id of the armed track; null for none. */
  get armedTrackId(): string | null {
    return this.audio.armedTrackId ?? this.#notes.armedTrackId;
  }

  /** Arms a track, or disarms it if it is armed. Ends a recording. */
  toggleArmed(track: Track): void {
    this.finish();
    if (track.kind !== 'audio') {
      this.audio.disarm();
      this.#notes.toggleArmed(track);
      return;
    }
    this.#notes.armedTrackId = null;
    if (this.audio.armedTrackId === track.id) this.audio.disarm();
    else void this.audio.arm(track);
  }

  /** Ends a recording, or starts one at the playhead. */
  toggle(): void {
    const { track } = this.#song.selection;
    const recordsSelected = track !== null && canRecordAudio(track) && this.armedTrackId === null;
    if (!this.#notes.isRecording && (this.audio.isRecording || this.audio.armedTrackId !== null || recordsSelected)) this.audio.toggle(track);
    else this.#notes.toggle();
  }

  /** Ends the recording. */
  finish(): void {
    this.#notes.finish();
    this.audio.finish();
  }

  /** Playback is moved to a tick: notes are recorded there, but a recording of sound ends. */
  moveTo(tick: number): void {
    this.#notes.moveTo(tick);
    this.audio.finish();
  }

  /** Ends a recording whose passes are divided by another loop than the one that is on now. */
  loopChanged(loop: LoopRegion | null): void {
    this.#notes.loopChanged(loop);
    this.audio.loopChanged(loop);
  }

  /** Ends the recording after playback has stopped. */
  playbackStopped(): void {
    this.#notes.playbackStopped();
    this.audio.playbackStopped();
  }
}

/** Whether a track can be armed. */
export function canRecord(track: Track): boolean {
  return canRecordNotes(track) || canRecordAudio(track);
}
