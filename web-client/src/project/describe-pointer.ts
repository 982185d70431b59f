/** Descriptions of the parts of a song that the service names by JSON pointers (RFC 6901). */
import type { Effect, Project } from './model';

/** Names of fields of an effect, a track or the master. */
const FIELD_NAMES: Record<string, string> = {
  synth_engine: 'instrument',
  output: 'output',
  side_chain: 'side chain',
  impulse: 'impulse response',
};

/**
 * A description such as `Drums, Compressor, side chain`; the pointer itself if nothing is there.
 */
export function describePointer(project: Project, pointer: string, nameOf: (effect: Effect) => string): string {
  const [owner, ...parts] = pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  const track = owner === 'tracks' ? project.tracks[Number(parts.shift())] : undefined;
  const master = owner === 'master' ? project.master : undefined;
  const holder = track ?? master;
  if (!holder) return pointer;
  const words = [track ? track.name : 'Master'];
  const [field, index, ...within] = parts;
  if (field === 'effects') {
    const effect = holder.effects?.[Number(index)];
    words.push(effect ? nameOf(effect) : 'effect');
    const [part, id] = within;
    if (part !== undefined) words.push(part === 'params' && id !== undefined ? id : (FIELD_NAMES[part] ?? part));
  } else if (field === 'items') {
    words.push(`clip ${Number(index) + 1}`);
  } else if (field === 'automation') {
    const lane = holder.automation?.[Number(index)];
    words.push(lane ? `automation of ${lane.target}` : 'automation');
  } else if (field === 'sends') {
    words.push('send');
  } else if (field !== undefined) {
    words.push(FIELD_NAMES[field] ?? field);
  }
  return words.join(', ');
}
