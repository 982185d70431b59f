import type { VstPlugin } from '../../api/types';
import { LazyPart } from '../../ui/lazy-part';

export type PluginEffectDialogProps = { channelName: string; onchoose: (plugin: VstPlugin) => void; onclose: () => void };

export const PLUGIN_EFFECT_DIALOG = new LazyPart<PluginEffectDialogProps>('The list of VST effects', () => import('./plugin-effect-dialog.svelte'));
