/** Calls the service's operations on VST plugins and their folders, one function per operation. */
import type { Project } from '../project/model';
import { bodyOf, type Api } from './client';
import { followTask } from './task-events';
import type { ParametersRequest, PluginFolders, PluginOutcome, PluginScanResult, PresetFileRequest } from './types';

/** Returns the VST instruments and SoundFonts that the user can use. May wait for a scan. */
export const listInstruments = ({ call }: Api) => bodyOf(call.GET('/api/v1/plugins/available'));

/** Lists the parameters of a plugin with its own texts. The service starts the plugin for this. */
export const listPluginParameters = ({ call }: Api, body: ParametersRequest) => bodyOf(call.POST('/api/v1/plugins/parameters', { body }));

/**
 * Returns the settings of a plugin as the content of a preset file. `params` are values of
 * parameters by their ids, which are set after the state.
 */
export const savePluginPreset = ({ call }: Api, body: PresetFileRequest) =>
  bodyOf(call.POST('/api/v1/plugins/preset-file', { body, parseAs: 'blob' }));

/** Returns all plugin folders; the service allows 32 of them. */
export const listPluginFolders = ({ call }: Api): Promise<PluginFolders> =>
  bodyOf(call.GET('/api/v1/plugins/dirs', { params: { query: { limit: 100 } } }));
export const addPluginFolder = ({ call }: Api, path: string): Promise<PluginFolders> =>
  bodyOf(call.POST('/api/v1/plugins/dirs', { body: { path } }));
export const removePluginFolder = ({ call }: Api, path: string): Promise<PluginFolders> =>
  bodyOf(call.DELETE('/api/v1/plugins/dirs', { params: { query: { path } } }));

/**
 * Shows a folder dialog on the screen of the service's machine, and waits for the user's choice.
 * Returns null if the user cancelled the dialog.
 */
export const pickPluginFolder = async ({ call }: Api): Promise<string | null> =>
  (await bodyOf(call.POST('/api/v1/plugins/pick-dir'))).path;

/** How far a scan is: a fraction, 0..1, and a text such as `3 of 40 modules, now Foo.vst3`. */
export type ScanProgress = { fraction: number; message: string };

/** A module that is scanned even if it has not changed. Without `maxSecs`, its last limit applies. */
export type ModuleScan = { path: string; maxSecs: number | null };

/**
 * Scans the folders in a task of the service, which completes the scan even if nobody waits for it.
 */
export async function scanPlugins(api: Api, module: ModuleScan | null, onProgress: (progress: ScanProgress) => void): Promise<PluginScanResult> {
  const ofModule = module && { module: module.path, ...(module.maxSecs === null ? {} : { max_secs: module.maxSecs }) };
  const answer = await bodyOf(api.call.POST('/api/v1/plugins/scan', { params: { query: { async: true, ...ofModule } } }));
  // A service that answers with the result has already completed the scan.
  if (!('task_id' in answer)) return answer;
  const task = await followTask<PluginScanResult>(api, answer.task_id, ({ progress, message }) =>
    onProgress({ fraction: progress, message }),
  );
  if (task.state === 'succeeded' && task.result) return task.result;
  throw new Error(task.error?.detail ?? 'the service stopped the scan; start it again');
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
export const downloadPluginSound = ({ call }: Api, soundId: string, [from, to]: [from: number, to: number], signal?: AbortSignal) =>
  bodyOf(
    call.GET('/api/v1/plugins/sounds/{sound_id}', {
      params: { path: { sound_id: soundId } },
      headers: { Range: `bytes=${from}-${to - 1}` },
      parseAs: 'arrayBuffer',
      ...(signal ? { signal } : {}),
    }),
  );
