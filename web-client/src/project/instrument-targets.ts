/** The automation targets of a plugin instrument: its parameters. */
import type { PluginParameter } from '../api/types';
import type { AutomationTarget, ParametersOf, TargetScale } from './automation-targets';
import type { Track } from './model';
import { instrumentLanes, pluginOf, targetOfParameter } from './plugin-instrument';
import { formatParameter, hasSteps, parameterName, parseParameter, roundValue, stepOfParameter } from './plugin-parameter-format';

/** Heading of the parameters in menus while the plugin's name is not known. */
const UNKNOWN_GROUP = 'Plugin';

/** The scale of a parameter of which nothing is known, as while its plugin is missing. */
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
  const list = parametersOf(engine);
  const known = (list?.parameters ?? []).filter((parameter) => parameter.is_automatable);
  const targets = known.map((parameter) => ({
    ...scaleOfParameter(parameter),
    target: targetOfParameter(parameter.id),
    name: parameterName(parameter),
    group: list?.name ?? UNKNOWN_GROUP,
    current: engine.params?.[parameter.id] ?? parameter.value,
  }));
  for (const { param, lane } of instrumentLanes(track)) {
    if (known.some((parameter) => String(parameter.id) === param)) continue;
    const current = engine.params?.[param] ?? 0;
    targets.push({ ...UNKNOWN_SCALE, target: lane.target, name: `Parameter ${param}`, group: list?.name ?? UNKNOWN_GROUP, current });
  }
  return targets;
}
