/**
 * Compiles the versions of a project, one after the other. Tracks that are the same objects as in
 * the version before are not read again, so the work for an edit depends on its size.
 */
import type { Project, Track } from '@songfoundry/schemas';
import { ProjectCompiler as WasmCompiler, type CompiledSession } from '../pkg/dsp_wasm.js';

/** Marks a track that has changed, in the order of tracks that the WebAssembly module reads. */
const CHANGED = 0xffff_ffff;
/** Numbers of a note: tick, length in ticks, pitch and velocity. */
const NUMBERS_OF_NOTE = 4;

/** The engine that a project is compiled for. */
export type CompileTarget = {
  /** The engine's bank slots, by the ids of the banks. */
  bankSlots: Readonly<Record<string, number>>;
  sampleRateHz: number;
  /** The engine's audio files, by their ids. */
  audio: Readonly<Record<string, { slot: number; frames: number; fileRateHz: number }>>;
  pluginOutputs: readonly { trackId: string | null; effectId: string | null; audioId: string }[];
};

export class ProjectCompiler {
  #compiler = new WasmCompiler();
  /** The tracks that the WebAssembly module has, in its order. */
  #tracks: readonly Track[] = [];

  /** Compiles a project. @throws {Error} with the reason why the project cannot be played. */
  compile(project: Project, { bankSlots, sampleRateHz, audio, pluginOutputs }: CompileTarget): CompiledSession {
    const { tracks } = project;
    const previousIndices = new Map(this.#tracks.map((track, index) => [track, index]));
    const order = Uint32Array.from(tracks, (track) => {
      const index = previousIndices.get(track);
      // A track is used once, even if the project contains the same object twice.
      previousIndices.delete(track);
      return index ?? CHANGED;
    });
    const changedTracks = tracks.filter((_, index) => order[index] === CHANGED);
    const { notes, counts } = packNotes(changedTracks);
    try {
      const song = { ...project, tracks: [] };
      const session = this.#compiler.compile(song, order, changedTracks.map(withoutNotes), notes, counts, bankSlots, sampleRateHz, audio, pluginOutputs);
      this.#tracks = tracks;
      return session;
    } catch (error) {
      this.#compiler.free();
      this.#compiler = new WasmCompiler();
      this.#tracks = [];
      throw error;
    }
  }

  /** Frees the memory of the WebAssembly module. The compiler cannot be used any more. */
  free(): void {
    this.#compiler.free();
  }
}

function withoutNotes(track: Track): Track {
  return { ...track, items: (track.items ?? []).map((item) => (item.type === 'midi' ? { ...item, notes: [] } : item)) };
}

/** Returns the notes of all MIDI items as numbers, and how many notes each of these items has. */
function packNotes(tracks: readonly Track[]): { notes: Float64Array; counts: Uint32Array } {
  const items = tracks.flatMap((track) => (track.items ?? []).flatMap((item) => (item.type === 'midi' ? [item.notes ?? []] : [])));
  const notes = new Float64Array(items.reduce((sum, itemNotes) => sum + itemNotes.length, 0) * NUMBERS_OF_NOTE);
  let offset = 0;
  for (const itemNotes of items) {
    for (const note of itemNotes) {
      notes[offset] = note.tick;
      notes[offset + 1] = note.length_ticks;
      notes[offset + 2] = note.pitch;
      notes[offset + 3] = note.velocity;
      offset += NUMBERS_OF_NOTE;
    }
  }
  return { notes, counts: Uint32Array.from(items, (itemNotes) => itemNotes.length) };
}
