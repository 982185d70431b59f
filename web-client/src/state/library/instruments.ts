/** The sounds from which a user chooses the instrument of a track: presets and VST instruments. */
import type { VstPlugin } from '../../api/types';
import { isPluginEngine, type SynthEngine } from '../../project/model';
import { versionField } from '../../project/plugin-state';
import type { PluginCatalog } from './plugin-catalog.svelte';
import type { CatalogPreset, SoundFontCatalog } from './soundfont-catalog.svelte';

/** An instrument that a user chooses. */
export type InstrumentChoice = { kind: 'preset'; preset: CatalogPreset } | { kind: 'plugin'; plugin: VstPlugin };

/** Returns the field `synth_engine` of a track that plays an instrument. */
export function engineOf(choice: InstrumentChoice): SynthEngine {
  if (choice.kind === 'plugin') {
    const { format, plugin_id, version } = choice.plugin;
    return { type: format, plugin_id, ...versionField(version) };
  }
  const { soundfont, bank, program } = choice.preset;
  return { type: 'soundfont', soundfont_id: soundfont.soundfont_id, bank, program };
}

export function nameOfChoice(choice: InstrumentChoice): string {
  return choice.kind === 'plugin' ? choice.plugin.name : choice.preset.name;
}

/** Returns a text that identifies an instrument among all others. */
export function keyOfChoice(choice: InstrumentChoice): string {
  return choice.kind === 'plugin' ? `${choice.plugin.format}/${choice.plugin.plugin_id}` : choice.preset.key;
}

export class Instruments {
  readonly #soundFonts: SoundFontCatalog;
  readonly #plugins: PluginCatalog;

  constructor(soundFonts: SoundFontCatalog, plugins: PluginCatalog) {
    this.#soundFonts = soundFonts;
    this.#plugins = plugins;
  }

  /** Returns the name under which the page shows the instrument of a track. */
  nameOf(engine: SynthEngine | undefined): string {
    if (!engine) return 'No instrument';
    return isPluginEngine(engine) ? this.#plugins.nameOf(engine) : this.#soundFonts.nameOf(engine);
  }

  /** Returns the key of the instrument of a track, as {@link keyOfChoice}; null without one. */
  keyOf(engine: SynthEngine | undefined): string | null {
    if (!engine) return null;
    if (isPluginEngine(engine)) return `${engine.type}/${engine.plugin_id}`;
    return `${engine.soundfont_id ?? this.#soundFonts.defaultId}/${engine.bank}/${engine.program}`;
  }
}
