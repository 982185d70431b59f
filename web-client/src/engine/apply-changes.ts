/** Applies edits to the engine immediately, without a new session. */
import type { EngineClient } from '@songfoundry/web-worklet';
import type { LiveChange } from '../project/live-changes';
import { MASTER_ID } from '../project/model';

/** Applies a change of a send, an effect or a bypass. */
export function applyLiveChange(engine: EngineClient, change: LiveChange): void {
  if (change.kind === 'send') {
    engine.setSendGain(change.trackId, change.send, change.levelDb);
    return;
  }
  const trackId = change.channelId === MASTER_ID ? null : change.channelId;
  if (change.kind === 'parameter') engine.setEffectParameter(trackId, change.effectId, change.parameter, change.value);
  else if (change.kind === 'effect-bypass') engine.setEffectBypass(trackId, change.effectId, change.bypass);
  else engine.setBypass(trackId, change.bypass);
}
