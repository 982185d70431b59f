/** The state of a plugin in a song, and the version of the plugin that the song was made with. */
import type { PluginEffect, PluginEngine } from './model';

/** A state that a plugin has saved, and the version of the plugin; empty if it states none. */
export type SavedState = { state: string; version: string };

/** Returns a plugin with a state, or with that of a new plugin for null, and without values. */
export function withSavedState<P extends PluginEngine | PluginEffect>(plugin: P, saved: SavedState | null): P {
  const { state: _state, plugin_version: _version, params: _params, ...remaining } = plugin;
  return { ...remaining, ...(saved ? { state: saved.state, ...versionField(saved.version) } : {}) } as P;
}

/** Returns the field `plugin_version` of a plugin in a song; no field for an empty version. */
export const versionField = (version: string): { plugin_version?: string } => (version === '' ? {} : { plugin_version: version.slice(0, 128) });

/**
 * Returns the version that the song was made with if another version is installed, and null
 * otherwise. An empty version is not known.
 */
export function otherVersionOf({ plugin_version: saved = '' }: PluginEngine | PluginEffect, installed: string): string | null {
  return saved === '' || installed === '' || saved === installed ? null : saved;
}
