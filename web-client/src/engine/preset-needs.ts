/** Finds the presets that each track of a song plays. */
import type { EngineClient } from '@songfoundry/web-worklet';
import { trackWithPresetSelection } from '../project/engine-project';
import type { Project, Track } from '../project/model';
import type { TrackNeeds } from './bank-plan';

export class PresetNeeds {
  /** Presets of tracks, by the track's items. They are valid while `instrument` stays the same. */
  readonly #cache = new WeakMap<Track['items'], { instrument: string; presets: string[] }>();

  /** Returns the presets of all SoundFont tracks. Asks the engine only about changed tracks. */
  needsOf(engine: EngineClient, project: Project): TrackNeeds[] {
    const soundfontTracks = project.tracks.filter((track) => track.kind === 'instrument' && track.synth_engine?.type === 'soundfont');
    const changedTracks = soundfontTracks.filter((track) => this.#presetsOf(track) === undefined);
    if (changedTracks.length > 0) {
      const presets = engine.presetsUsed({ ...project, tracks: changedTracks.map(trackWithPresetSelection) });
      changedTracks.forEach((track, index) => {
        this.#cache.set(track.items, { instrument: instrumentKey(track), presets: presets[index] ?? [] });
      });
    }
    return soundfontTracks.flatMap((track) => {
      const soundfontId = track.synth_engine?.type === 'soundfont' ? track.synth_engine.soundfont_id : undefined;
      const presets = this.#presetsOf(track) ?? [];
      return soundfontId === undefined || presets.length === 0 ? [] : [{ trackId: track.id, soundfontId, presets }];
    });
  }

  #presetsOf(track: Track): string[] | undefined {
    const cachedPresets = this.#cache.get(track.items);
    return cachedPresets?.instrument === instrumentKey(track) ? cachedPresets.presets : undefined;
  }
}

function instrumentKey(track: Track): string {
  return JSON.stringify(track.synth_engine);
}
