/** Converts the project to the form that the engine receives. */
import { selectsPreset } from './instrument';
import type { Item, Project, SoundFontEngine, Track } from './model';

/** Id of an extra track without items, which plays the sounds that the user auditions. */
export const AUDITION_TRACK_ID = 'songfoundry-audition';

/**
 * Sets the default SoundFont for each track that names none. If `audition` is an instrument, also
 * adds the audition track with that instrument.
 */
export function projectForEngine(
  project: Project,
  defaultSoundfontId: string | null,
  audition: SoundFontEngine | null,
): Project {
  const tracks = project.tracks.map((track) => withNamedSoundFont(track, defaultSoundfontId));
  if (audition) {
    tracks.push({
      id: AUDITION_TRACK_ID,
      name: 'Audition',
      kind: 'instrument',
      color: '#000000',
      volume_db: 0,
      pan: 0,
      mute: false,
      // The audition track stays audible while other tracks are soloed.
      solo: tracks.some((track) => track.solo),
      items: [],
      synth_engine: audition,
    });
  }
  return { ...project, tracks };
}

/** Tracks with another SoundFont, by the original track; valid while the SoundFont's id is `id`. */
type TrackCopies = WeakMap<Track, { id: string; copy: Track }>;
const tracksWithDefault: TrackCopies = new WeakMap();
const tracksWithBank: TrackCopies = new WeakMap();

/**
 * Returns a copy of a track with another SoundFont. It is the same object as long as the track and
 * the SoundFont are unchanged, because the engine recognizes unchanged tracks by reference.
 */
function withSoundFont(copies: TrackCopies, track: Track, engine: SoundFontEngine, id: string): Track {
  const knownCopy = copies.get(track);
  if (knownCopy?.id === id) return knownCopy.copy;
  const copy = { ...track, synth_engine: { ...engine, soundfont_id: id } };
  copies.set(track, { id, copy });
  return copy;
}

function withNamedSoundFont(track: Track, defaultId: string | null): Track {
  const engine = track.synth_engine;
  if (engine?.type !== 'soundfont' || engine.soundfont_id !== undefined || defaultId === null) return track;
  return withSoundFont(tracksWithDefault, track, engine, defaultId);
}

/** Replaces the SoundFont of each track with the track's bank; `banks` has bank ids by track id. */
export function withBanks(project: Project, banks: ReadonlyMap<string, string>): Project {
  const tracks = project.tracks.map((track) => {
    const bankId = banks.get(track.id);
    if (track.synth_engine?.type !== 'soundfont' || bankId === undefined) return track;
    return withSoundFont(tracksWithBank, track, track.synth_engine, bankId);
  });
  return { ...project, tracks };
}

/**
 * Returns a track without notes, effects, sends and automation, which do not select its presets.
 */
export function trackWithPresetSelection({ id, name, kind, color, volume_db, pan, mute, solo, synth_engine, ...track }: Track): Track {
  const items = track.items.flatMap((item): Item[] => {
    if (item.type !== 'midi') return [];
    return [{ ...item, notes: [], controls: item.controls.filter(selectsPreset) }];
  });
  const reducedTrack = { id, name, kind, color, volume_db, pan, mute, solo, items };
  return synth_engine ? { ...reducedTrack, synth_engine } : reducedTrack;
}
