/** Calls the service's operations on VST plugins and their folders, one function per operation. */
import type { Project } from '../project/model';
import { bodyOf, type Api } from './client';
import type { PluginOutcome, PluginScanResult } from './types';

/** Returns the VST instruments and SoundFonts that the user can use. May wait for a scan. */
export const listInstruments = ({ call }: Api) => bodyOf(call.GET('/api/v1/plugins/available'));

/** Returns all plugin folders; the service allows 32 of them. */
export const listPluginFolders = async ({ call }: Api): Promise<string[]> =>
  (await bodyOf(call.GET('/api/v1/plugins/dirs', { params: { query: { limit: 100 } } }))).plugin_dirs;
export const addPluginFolder = async ({ call }: Api, path: string): Promise<string[]> =>
  (await bodyOf(call.POST('/api/v1/plugins/dirs', { body: { path } }))).plugin_dirs;
export const removePluginFolder = async ({ call }: Api, path: string): Promise<string[]> =>
  (await bodyOf(call.DELETE('/api/v1/plugins/dirs', { params: { query: { path } } }))).plugin_dirs;

/**
 * Shows a folder dialog on the screen of the service's machine, and waits for the user's choice.
 * Returns null if the user cancelled the dialog.
 */
export const pickPluginFolder = async ({ call }: Api): Promise<string | null> =>
  (await bodyOf(call.POST('/api/v1/plugins/pick-dir'))).path;

/** Scans the folders. The service completes the scan even if nobody waits for the answer. */
export async function scanPlugins({ call }: Api): Promise<PluginScanResult> {
  const answer = await bodyOf(call.POST('/api/v1/plugins/scan'));
  if ('task_id' in answer) throw new Error('the service answered with a task instead of the result of the scan; try again');
  return answer;
}
/** Ends the processes of the service that load plugins for a scan. */
export async function endPluginScans({ call }: Api): Promise<void> {
  const { items } = await bodyOf(call.GET('/api/v1/files/processes'));
  const scans = items.filter(({ kind }) => kind === 'plugin scan');
  await Promise.all(scans.map(({ id }) => bodyOf(call.DELETE('/api/v1/files/processes/{id}', { params: { path: { id } } }))));
}
/** Returns the results of the last scans of all users. Only administrators may read them. */
export const readScans = ({ call }: Api) => bodyOf(call.GET('/api/v1/admin/scans'));

/**
 * Lets the plugins of a song render their sounds. The service reuses sounds that it has rendered
 * before.
 */
export const renderPluginSounds = async ({ call }: Api, project: Project, signal: AbortSignal): Promise<PluginOutcome[]> =>
  (await bodyOf(call.POST('/api/v1/plugins/sounds', { body: { project }, signal }))).sounds;
/** Downloads bytes of a plugin's sound from `from` up to, but not including, `to`. */
export const downloadPluginSound = ({ call }: Api, soundId: string, [from, to]: [from: number, to: number]) =>
  bodyOf(
    call.GET('/api/v1/plugins/sounds/{sound_id}', {
      params: { path: { sound_id: soundId } },
      headers: { Range: `bytes=${from}-${to - 1}` },
      parseAs: 'arrayBuffer',
    }),
  );
