/** The presets that each track of a song plays. */
import type { EngineClient } from '@songfoundry/web-worklet';
import { soundsOnly } from '../project/engine-project';
import type { Project, Track } from '../project/model';
import type { TrackNeeds } from './bank-plan';

export class PresetNeeds {
  /** Presets by the items of their track, with the instrument that they were found for. */
  readonly #known = new WeakMap<Track['items'], { instrument: string; presets: string[] }>();

  /** Finds the presets of all tracks; asks the engine only about tracks that changed. */
  of(engine: EngineClient, project: Project): TrackNeeds[] {
    const players = project.tracks.filter((track) => track.kind === 'instrument' && track.synth_engine?.type === 'soundfont');
    const changed = players.filter((track) => this.#presetsOf(track) === undefined);
    if (changed.length > 0) {
      const presets = engine.presetsUsed({ ...project, tracks: changed.map(soundsOnly) });
      changed.forEach((track, index) => {
        this.#known.set(track.items, { instrument: instrumentKey(track), presets: presets[index] ?? [] });
      });
    }
    return players.flatMap((track) => {
      const soundfontId = track.synth_engine?.type === 'soundfont' ? track.synth_engine.soundfont_id : undefined;
      const presets = this.#presetsOf(track) ?? [];
      return soundfontId === undefined || presets.length === 0 ? [] : [{ trackId: track.id, soundfontId, presets }];
    });
  }

  #presetsOf(track: Track): string[] | undefined {
    const known = this.#known.get(track.items);
    return known?.instrument === instrumentKey(track) ? known.presets : undefined;
  }
}

function instrumentKey(track: Track): string {
  return JSON.stringify(track.synth_engine);
}
