/** The automation targets of plugins, instruments and effects: their parameters. */
import type { PluginParameter } from '../api/types';
import type { AutomationTarget, ParametersOf, TargetScale } from './automation-targets';
import type { AutomationLane, PluginEffect, PluginEngine, Track } from './model';
import { instrumentLanes, pluginOf, targetOfParameter } from './plugin-instrument';
import { formatParameter, hasSteps, parameterName, parseParameter, roundValue, stepOfParameter } from './plugin-parameter-format';

/** Heading of the parameters in menus while the plugin's name is not known. */
const UNKNOWN_GROUP = 'Plugin';

/** The scale of an unknown parameter, for example while its plugin is missing. */
const UNKNOWN_SCALE: TargetScale = {
  min: 0,
  max: 1,
  isStepped: false,
  positionOf: (value) => value,
  valueAt: (position) => Math.round(Math.min(1, Math.max(0, position)) * 1000) / 1000,
  stepAt: () => 0.01,
  format: (value) => `${(value * 100).toFixed(1)} %`,
  parse: (text) => {
    const percent = parseFloat(text.replace('\u2212', '-'));
    return Number.isNaN(percent) ? null : Math.min(1, Math.max(0, percent / 100));
  },
};

/** Returns the scale of a plugin's parameter, with the plugin's texts. */
export function scaleOfParameter(parameter: PluginParameter): TargetScale {
  return {
    ...UNKNOWN_SCALE,
    isStepped: hasSteps(parameter),
    valueAt: (position) => roundValue(parameter, position),
    stepAt: () => stepOfParameter(parameter),
    format: (value) => formatParameter(parameter, value),
    parse: (text) => parseParameter(parameter, text),
  };
}

/**
 * Returns the automation targets of a track's plugin instrument. Lanes of parameters that are not
 * known keep a target, so that they stay visible.
 */
export function instrumentTargets(track: Track, parametersOf: ParametersOf): AutomationTarget[] {
  const engine = pluginOf(track);
  if (!engine) return [];
  const params = instrumentLanes(track).map(({ param }) => param);
  return pluginTargets(engine, params, (param) => targetOfParameter(Number(param)), parametersOf);
}

/**
 * Like {@link instrumentTargets}, for a plugin effect; `lanes` are those of its track or the
 * master.
 */
export function pluginEffectTargets(effect: PluginEffect, lanes: readonly AutomationLane[], parametersOf: ParametersOf): AutomationTarget[] {
  const prefix = `${effect.id}/`;
  const params = lanes.filter(({ target }) => target.startsWith(prefix)).map(({ target }) => target.slice(prefix.length));
  return pluginTargets(effect, params, (param) => prefix + param, parametersOf);
}

/** Returns the targets of a plugin, also those of the parameters in `params` that are not known. */
function pluginTargets(
  plugin: PluginEngine | PluginEffect,
  params: readonly string[],
  targetOf: (param: string) => string,
  parametersOf: ParametersOf,
): AutomationTarget[] {
  const list = parametersOf(plugin);
  const group = list?.name ?? UNKNOWN_GROUP;
  const automatableParameters = (list?.parameters ?? []).filter((parameter) => parameter.is_automatable);
  const currentOf = (param: string): number | null => {
    const value = plugin.params?.[param];
    return typeof value === 'number' ? value : null;
  };
  const targets = automatableParameters.map((parameter) => ({
    ...scaleOfParameter(parameter),
    target: targetOf(String(parameter.id)),
    name: parameterName(parameter),
    group,
    current: currentOf(String(parameter.id)) ?? parameter.value,
  }));
  for (const param of params) {
    if (automatableParameters.some((parameter) => String(parameter.id) === param)) continue;
    targets.push({ ...UNKNOWN_SCALE, target: targetOf(param), name: `Parameter ${param}`, group, current: currentOf(param) ?? 0 });
  }
  return targets;
}
