/** The presets of exports: those of the program, and those that the user has stored. */
import { reasonOf, type Api } from '../../api/client';
import { createExportPreset, deleteExportPreset, listExportPresets, readExportPreset } from '../../api/export-presets';
import type { ExportPresetOptions, PresetSummary } from '../../api/types';

export class ExportPresets {
  /** Presets of the user, newest first. */
  userPresets = $state.raw<PresetSummary[]>([]);
  /** Presets that come with the program. */
  factoryPresets = $state.raw<PresetSummary[]>([]);
  /** The reason why the last operation failed; null if it succeeded. */
  problem = $state<string | null>(null);
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /** Reads the list of presets. */
  async load(): Promise<void> {
    await this.#attempt(async () => {
      const presets = await listExportPresets(this.#api);
      this.userPresets = presets.filter((preset) => preset.source === 'user');
      this.factoryPresets = presets.filter((preset) => preset.source === 'factory');
    });
  }

  /** Returns the options of a preset; null if they cannot be read. */
  readOptions(id: string): Promise<ExportPresetOptions | null> {
    return this.#attempt(() => readExportPreset(this.#api, id));
  }

  /** Stores a preset and returns its id; null if it cannot be stored. */
  save(name: string, options: ExportPresetOptions): Promise<string | null> {
    return this.#attempt(async () => {
      const preset = await createExportPreset(this.#api, name, options);
      this.userPresets = [preset, ...this.userPresets];
      return preset.id;
    });
  }

  /** Deletes a preset of the user. */
  async remove(id: string): Promise<void> {
    await this.#attempt(async () => {
      await deleteExportPreset(this.#api, id);
      this.userPresets = this.userPresets.filter((preset) => preset.id !== id);
    });
  }

  async #attempt<T>(work: () => Promise<T>): Promise<T | null> {
    this.problem = null;
    try {
      return await work();
    } catch (error) {
      this.problem = reasonOf(error);
      return null;
    }
  }
}
