/** The parameters that can be automated, and the scales of their automation lanes. */
import type { PluginParameterList } from '../api/types';
import { dbAtPosition, positionOfDb } from '../ui/fader-scale';
import { lanesOf } from './automation';
import { effectsOf } from './edit-effects';
import { formatValue, parseValue } from './effect-format';
import { clampValue, positionOfValue, stepOf, storedValue, valueAtPosition, type EffectKind, type EffectParameter } from './effect-kinds';
import { formatDb, formatPan, parseNumber, parsePan } from './format';
import { instrumentTargets, pluginEffectTargets } from './plugin-targets';
import { FADER_FLOOR_DB, FADER_TOP_DB, MASTER_ID, SILENCE_DB, type Effect, type PluginEngine, type Project } from './model';

/** How the values of an automation target are drawn, stepped and formatted. */
export type TargetScale = {
  min: number;
  max: number;
  /** Whether the target is a choice or a switch, whose value changes in steps. */
  isStepped: boolean;
  /** Returns the height of a value on the lane, 0..1. */
  positionOf: (value: number) => number;
  /** Returns the value at a height on the lane, 0..1. */
  valueAt: (position: number) => number;
  /** Returns how much one press of an arrow key changes a value. */
  stepAt: (value: number) => number;
  format: (value: number) => string;
  parse: (text: string) => number | null;
};

export type AutomationTarget = TargetScale & {
  /**
   * Id in the project document: `pan`, `volume_db`, `send/<bus id>`, `instrument/<parameter>`,
   * `<effect id>/<parameter>`.
   */
  target: string;
  name: string;
  /** Heading in menus: `Channel`, `Sends`, `Master` or the name of an effect. */
  group: string;
  /** The value to which the control is set. It applies while the target is not automated. */
  current: number;
};

/** Returns the kind of an effect, or null for an effect that the service does not know. */
export type KindOf = (effect: Effect) => EffectKind | null;

/** Returns the parameters of a plugin, or null while they are not known. */
export type ParametersOf = (plugin: Pick<PluginEngine, 'type' | 'plugin_id' | 'state'>) => PluginParameterList | null;

const LEVEL_SCALE: TargetScale = {
  min: SILENCE_DB,
  max: FADER_TOP_DB,
  isStepped: false,
  positionOf: positionOfDb,
  valueAt: (position) => {
    const db = dbAtPosition(Math.min(1, Math.max(0, position)));
    return db <= FADER_FLOOR_DB ? SILENCE_DB : Math.round(db * 10) / 10;
  },
  stepAt: () => 0.5,
  format: (db) => `${formatDb(db)} dB`,
  parse: (text) => parseNumber(text.replace(/db\s*$/i, '')),
};

const PAN_SCALE: TargetScale = {
  min: -1,
  max: 1,
  isStepped: false,
  positionOf: (pan) => (pan + 1) / 2,
  valueAt: (position) => Math.round((2 * Math.min(1, Math.max(0, position)) - 1) * 100) / 100,
  stepAt: () => 0.05,
  format: formatPan,
  parse: parsePan,
};

function scaleOf(parameter: EffectParameter): TargetScale {
  return {
    min: parameter.min,
    max: parameter.max,
    isStepped: parameter.scale === 'choice' || parameter.scale === 'switch',
    positionOf: (value) => positionOfValue(parameter, value),
    valueAt: (position) => clampValue(parameter, valueAtPosition(parameter, position)),
    stepAt: (value) => stepOf(parameter, value),
    format: (value) => formatValue(parameter, clampValue(parameter, value)),
    parse: (text) => parseValue(parameter, text),
  };
}

/**
 * Returns the automation targets of a track or the master, in the order of menus. `channelId` is
 * the id of the track, or `MASTER_ID`.
 */
export function targetsOf(project: Project, channelId: string, kindOf: KindOf, parametersOf: ParametersOf): AutomationTarget[] {
  const targets: AutomationTarget[] = [];
  if (channelId === MASTER_ID) {
    targets.push({ ...LEVEL_SCALE, target: 'volume_db', name: 'Volume', group: 'Master', current: project.master.volume_db });
  }
  const track = project.tracks.find((candidate) => candidate.id === channelId);
  if (track) {
    targets.push(
      { ...LEVEL_SCALE, target: 'volume_db', name: 'Volume', group: 'Channel', current: track.volume_db },
      { ...PAN_SCALE, target: 'pan', name: 'Pan', group: 'Channel', current: track.pan },
    );
    for (const { to, level_db: current = 0 } of track.sends ?? []) {
      const name = project.tracks.find((bus) => bus.id === to)?.name ?? to;
      targets.push({ ...LEVEL_SCALE, target: `send/${to}`, name, group: 'Sends', current });
    }
    targets.push(...instrumentTargets(track, parametersOf));
  }
  const effectCounts = new Map<string, number>();
  for (const effect of effectsOf(project, channelId)) {
    if (effect.type !== 'builtin') {
      targets.push(...pluginEffectTargets(effect, lanesOf(project, channelId), parametersOf));
      continue;
    }
    const kind = kindOf(effect);
    if (!kind) continue;
    const kindCount = (effectCounts.get(kind.id) ?? 0) + 1;
    effectCounts.set(kind.id, kindCount);
    const group = kindCount === 1 ? kind.name : `${kind.name} ${kindCount}`;
    for (const parameter of kind.parameters) {
      const current = storedValue(parameter, effect.params?.[parameter.id]);
      targets.push({ ...scaleOf(parameter), target: `${effect.id}/${parameter.id}`, name: parameter.name, group, current });
    }
  }
  return targets;
}
