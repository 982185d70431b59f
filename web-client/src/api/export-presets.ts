/** Calls the service's operations on presets of exports. */
import { bodyOf, type Api } from './client';
import type { ExportPresetOptions, PresetSummary } from './types';

/** Returns the presets of exports: first the caller's own, then those of the program. */
export async function listExportPresets({ call }: Api): Promise<PresetSummary[]> {
  const presets: PresetSummary[] = [];
  let cursor: string | null = null;
  do {
    const page: { limit: number; cursor?: string } = { limit: 100, ...(cursor === null ? {} : { cursor }) };
    const query = { kind: 'export' as const, ...page };
    const answer = await bodyOf(call.GET('/api/v1/presets', { params: { query } }));
    presets.push(...answer.items);
    cursor = answer.next_cursor;
  } while (cursor !== null);
  return presets;
}

/** Returns the options of a preset. The service has checked them when it stored the preset. */
export const readExportPreset = async ({ call }: Api, id: string): Promise<ExportPresetOptions> => {
  const preset = await bodyOf(call.GET('/api/v1/presets/{id}', { params: { path: { id } } }));
  return preset.content as ExportPresetOptions;
};

export const createExportPreset = ({ call }: Api, name: string, content: ExportPresetOptions): Promise<PresetSummary> =>
  bodyOf(call.POST('/api/v1/presets', { body: { kind: 'export', name, category: '', description: '', content } }));

export const deleteExportPreset = ({ call }: Api, id: string) =>
  bodyOf(call.DELETE('/api/v1/presets/{id}', { params: { path: { id } } }));
