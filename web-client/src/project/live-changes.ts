/** Finds the edits that the engine can apply without a new session. */
import { storedValue } from './effect-kinds';
import type { KindOf } from './automation-targets';
import { MASTER_ID, type Effect, type Project, type Send } from './model';

export type LiveChange =
  | { kind: 'parameter'; channelId: string; effectId: string; parameter: string; value: number }
  | { kind: 'effect-bypass'; channelId: string; effectId: string; bypass: boolean }
  | { kind: 'bypass'; channelId: string; bypass: boolean }
  | { kind: 'send'; trackId: string; send: number; levelDb: number };

/** Fields of a project and of a track whose change needs a new session. */
const SONG_FIELDS = ['sample_rate_hz', 'tempo_map', 'settings'] as const;
const TRACK_FIELDS = ['id', 'kind', 'items', 'synth_engine', 'output', 'automation', 'frozen'] as const;

/**
 * Returns the changes of effects and sends between two projects, or null if the engine needs a new
 * session. It ignores all other fields, such as faders, pans, mutes, solos, names and colours.
 */
export function liveChanges(before: Project, after: Project, kindOf: KindOf): LiveChange[] | null {
  const sameSong = SONG_FIELDS.every((field) => before[field] === after[field]);
  if (!sameSong || before.tracks.length !== after.tracks.length) return null;
  if (before.master.automation !== after.master.automation) return null;
  const changes: LiveChange[] = [];
  const masterChanges = effectChanges(MASTER_ID, before.master.effects, after.master.effects, kindOf);
  if (!masterChanges) return null;
  changes.push(...masterChanges);
  for (const [index, track] of after.tracks.entries()) {
    const oldTrack = before.tracks[index];
    if (!oldTrack || TRACK_FIELDS.some((field) => oldTrack[field] !== track[field])) return null;
    const effects = effectChanges(track.id, oldTrack.effects, track.effects, kindOf);
    const sends = sendChanges(track.id, oldTrack.sends, track.sends);
    if (!effects || !sends) return null;
    changes.push(...effects, ...sends);
    if (Boolean(oldTrack.bypass) !== Boolean(track.bypass)) {
      changes.push({ kind: 'bypass', channelId: track.id, bypass: Boolean(track.bypass) });
    }
  }
  return changes;
}

function effectChanges(channelId: string, before: Effect[] = [], after: Effect[] = [], kindOf: KindOf): LiveChange[] | null {
  if (before === after) return [];
  if (before.length !== after.length) return null;
  const changes: LiveChange[] = [];
  for (const [index, effect] of after.entries()) {
    const oldEffect = before[index];
    if (oldEffect === effect) continue;
    if (!oldEffect || otherFieldsOf(oldEffect) !== otherFieldsOf(effect)) return null;
    const kind = kindOf(effect);
    if (!kind) return null;
    for (const parameter of kind.parameters) {
      const value = storedValue(parameter, effect.params?.[parameter.id]);
      if (value === storedValue(parameter, oldEffect.params?.[parameter.id])) continue;
      changes.push({ kind: 'parameter', channelId, effectId: effect.id, parameter: parameter.id, value });
    }
    if (Boolean(oldEffect.bypass) !== Boolean(effect.bypass)) {
      changes.push({ kind: 'effect-bypass', channelId, effectId: effect.id, bypass: Boolean(effect.bypass) });
    }
  }
  return changes;
}

/** Returns the fields of an effect, except its parameters and its bypass, as JSON text. */
function otherFieldsOf(effect: Effect): string {
  const { params: _params, bypass: _bypass, ...otherFields } = effect;
  return JSON.stringify(otherFields);
}

function sendChanges(trackId: string, before: Send[] = [], after: Send[] = []): LiveChange[] | null {
  if (before === after) return [];
  if (before.length !== after.length) return null;
  const changes: LiveChange[] = [];
  for (const [index, { to, level_db: levelDb = 0, pre_fader: pre = false }] of after.entries()) {
    const oldSend = before[index];
    if (!oldSend || oldSend.to !== to || (oldSend.pre_fader ?? false) !== pre) return null;
    if ((oldSend.level_db ?? 0) !== levelDb) changes.push({ kind: 'send', trackId, send: index, levelDb });
  }
  return changes;
}
