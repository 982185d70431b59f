/** The project as the engine is given it. */
import type { Item, Project, SoundFontEngine, Track } from './model';

/** Id of the silent extra track on which sounds are tried out. */
export const AUDITION_TRACK_ID = 'songfoundry-audition';

/** The project with every SoundFont named, and a track for trying sounds when one is being tried. */
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
      // Heard whatever is soloed.
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

/** The project with each track's SoundFont named by the engine's bank that it plays. */
export function withBanks(project: Project, banks: ReadonlyMap<string, string>): Project {
  const tracks = project.tracks.map((track) => {
    const bankId = banks.get(track.id);
    if (track.synth_engine?.type !== 'soundfont' || bankId === undefined) return track;
    return { ...track, synth_engine: { ...track.synth_engine, soundfont_id: bankId } };
  });
  return { ...project, tracks };
}

/** MIDI controllers that select a bank. */
const BANK_SELECT = [0, 32];

/** The track with no more than what says which presets it plays. */
export function soundsOnly(track: Track): Track {
  const items = track.items.flatMap((item): Item[] => {
    if (item.type !== 'midi') return [];
    const controls = item.controls.filter(
      (control) => control.type === 'program' || (control.type === 'cc' && BANK_SELECT.includes(control.controller)),
    );
    return [{ ...item, notes: [], controls }];
  });
  return { ...track, items };
}

/** Whether two projects differ in nothing but faders, pans, mutes, solos, names and colours. */
export function sameMusic(a: Project, b: Project): boolean {
  return (
    a.sample_rate_hz === b.sample_rate_hz &&
    a.tempo_map === b.tempo_map &&
    a.settings === b.settings &&
    a.tracks.length === b.tracks.length &&
    a.tracks.every((track, index) => {
      const other = b.tracks[index];
      return (
        other !== undefined &&
        track.id === other.id &&
        track.items === other.items &&
        track.synth_engine === other.synth_engine
      );
    })
  );
}
