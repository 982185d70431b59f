/** Describes parts of a song for which the service's error gives a JSON pointer (RFC 6901). */
import type { Effect, Project } from './model';

/** Names, on the page, of fields of an effect, a track or the master. */
const FIELD_NAMES: Record<string, string> = {
  synth_engine: 'instrument',
  frozen: 'recording of the frozen track',
  output: 'output',
  side_chain: 'side-chain',
  impulse: 'impulse response',
};

/**
 * Returns a description such as `Drums, Compressor, side-chain`, or the pointer itself if it names
 * neither a track nor the master. `nameOf` returns the name of an effect.
 */
export function describePointer(project: Project, pointer: string, nameOf: (effect: Effect) => string): string {
  const [root, ...parts] = pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  const track = root === 'tracks' ? project.tracks[Number(parts.shift())] : undefined;
  const master = root === 'master' ? project.master : undefined;
  const holder = track ?? master;
  if (!holder) return pointer;
  const descriptionParts = [track ? track.name : 'Master'];
  const [field, index, ...remainingParts] = parts;
  if (field === 'effects') {
    const effect = holder.effects?.[Number(index)];
    descriptionParts.push(effect ? nameOf(effect) : 'effect');
    const [part, id] = remainingParts;
    if (part !== undefined) descriptionParts.push(part === 'params' && id !== undefined ? id : (FIELD_NAMES[part] ?? part));
  } else if (field === 'items') {
    descriptionParts.push(`clip ${Number(index) + 1}`);
  } else if (field === 'automation') {
    const lane = holder.automation?.[Number(index)];
    descriptionParts.push(lane ? `automation of ${lane.target}` : 'automation');
  } else if (field === 'sends') {
    descriptionParts.push('send');
  } else if (field !== undefined) {
    descriptionParts.push(FIELD_NAMES[field] ?? field);
  }
  return descriptionParts.join(', ');
}
