/** The state of a plugin in a song, and the version of the plugin that the song was made with. */
import type { PluginEffect, PluginEngine } from './model';

/** A state that a plugin has saved, and the version of the plugin; empty if it states none. */
export type SavedState = { state: string; version: string };

/** Returns a plugin with a state, or with that of a new plugin for null, and without values. */
export function withSavedState<P extends PluginEngine | PluginEffect>(plugin: P, savedState: SavedState | null): P {
  const { state: _state, plugin_version: _version, params: _params, ...remaining } = plugin;
  return { ...remaining, ...(savedState ? { state: savedState.state, ...versionField(savedState.version) } : {}) } as P;
}

/** Maximum length of the field `plugin_version` of a song, in characters. */
const VERSION_LENGTH_MAX = 128;

/** Returns a version as songs have it: its beginning, if it is too long. */
const savedVersion = (version: string): string => Array.from(version).slice(0, VERSION_LENGTH_MAX).join('');

/** Returns the field `plugin_version` of a plugin in a song; no field for an empty version. */
export const versionField = (version: string): { plugin_version?: string } => (version === '' ? {} : { plugin_version: savedVersion(version) });

/**
 * Returns the version that the song was made with if another version is installed, and null
 * otherwise. An empty version is not known. Of a long version, only the part that songs have is
 * compared.
 */
export function otherVersionOf({ plugin_version: songVersion = '' }: PluginEngine | PluginEffect, installed: string): string | null {
  return songVersion === '' || installed === '' || songVersion === savedVersion(installed) ? null : songVersion;
}
