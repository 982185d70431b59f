/** The dialogs and panels whose scripts are loaded when they are first shown, or while the page is idle. */
import type { DialogName } from '../../state/view/view.svelte';
import { LazyPart } from '../../ui/lazy-part';

export const DIALOGS: Readonly<Record<DialogName, LazyPart>> = {
  export: new LazyPart('The export dialog', () => import('./export/export-dialog.svelte')),
  shortcuts: new LazyPart('The list of shortcuts', () => import('./shortcuts-dialog.svelte')),
  password: new LazyPart('The dialog for passwords', () => import('../account/password-dialog.svelte')),
  'api-keys': new LazyPart('The dialog for API keys', () => import('../account/api-keys-dialog.svelte')),
  administration: new LazyPart('Administration', () => import('../administration/administration.svelte')),
  latency: new LazyPart('The dialog for latency', () => import('./latency-dialog.svelte')),
  plugins: new LazyPart('The dialog for plugins', () => import('../plugins/plugins-dialog.svelte')),
};

export const SOUND_PANEL = new LazyPart('The sound settings', () => import('../mixer/sound-panel.svelte'));
export const PLUGIN_WINDOWS = new LazyPart('The window of the plugin', () => import('../plugin/plugin-windows.svelte'));
export const PLUGIN_DOCK = new LazyPart('The dock of plugin windows', () => import('../plugin/plugin-dock.svelte'));
export const WORK_DIALOGS = new LazyPart('The question about unsaved work', () => import('./work-dialogs.svelte'));
