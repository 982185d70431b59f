/** The project in the form that the engine receives. */
import { selectsSound } from './instrument';
import type { Item, Project, SoundFontEngine, Track } from './model';

/** Id of the extra track without items on which sounds are auditioned. */
export const AUDITION_TRACK_ID = 'songfoundry-audition';

/** The project with every SoundFont named, and with an audition track if a sound is auditioned. */
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

function withNamedSoundFont(track: Track, defaultId: string | null): Track {
  const engine = track.synth_engine;
  if (engine?.type !== 'soundfont' || engine.soundfont_id !== undefined || defaultId === null) return track;
  return { ...track, synth_engine: { ...engine, soundfont_id: defaultId } };
}

/** The project with each track's SoundFont replaced by the engine's bank for that track. */
export function withBanks(project: Project, banks: ReadonlyMap<string, string>): Project {
  const tracks = project.tracks.map((track) => {
    const bankId = banks.get(track.id);
    if (track.synth_engine?.type !== 'soundfont' || bankId === undefined) return track;
    return { ...track, synth_engine: { ...track.synth_engine, soundfont_id: bankId } };
  });
  return { ...project, tracks };
}

/** The track reduced to the fields that select its presets. */
export function soundsOnly({ id, name, kind, color, volume_db, pan, mute, solo, synth_engine, ...track }: Track): Track {
  const items = track.items.flatMap((item): Item[] => {
    if (item.type !== 'midi') return [];
    return [{ ...item, notes: [], controls: item.controls.filter(selectsSound) }];
  });
  const plain = { id, name, kind, color, volume_db, pan, mute, solo, items };
  return synth_engine ? { ...plain, synth_engine } : plain;
}
