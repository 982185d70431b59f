/** Fills in the fields of a project that the page needs. */
import { trackColor } from './colors';
import { newId } from './ids';
import { SAMPLE_RATES_HZ, type Item, type Project, type Track } from './model';

/** Name that the page gives to a project without a name. */
const UNTITLED = 'Untitled';

type Json = Record<string, unknown>;

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function objects(value: unknown): Json[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/**
 * Fills the optional fields of a project document with the defaults of the schema. Keeps fields
 * that the page does not know.
 *
 * @throws {TypeError} when the document is not a JSON object with tracks.
 */
export function normalizeProject(document: unknown): Project {
  if (!isObject(document) || !Array.isArray(document['tracks'])) {
    throw new TypeError('The document is not a project: it has no list of tracks.');
  }
  const tempo = objects(document['tempo_map']);
  const signatures = objects(document['time_signatures']);
  const master = isObject(document['master']) ? document['master'] : {};
  return {
    ...document,
    schema_version: 1,
    project_id: typeof document['project_id'] === 'string' ? document['project_id'] : newId('song'),
    name: typeof document['name'] === 'string' && document['name'] !== '' ? document['name'] : UNTITLED,
    sample_rate_hz: SAMPLE_RATES_HZ.find((rate) => rate === document['sample_rate_hz']) ?? 48000,
    tempo_map: tempo.length > 0 ? tempo : [{ tick: 0, bpm: 120 }],
    time_signatures: signatures.length > 0 ? signatures : [{ tick: 0, numerator: 4, denominator: 4 }],
    markers: objects(document['markers']),
    tracks: objects(document['tracks']).map(normalizeTrack),
    master: { volume_db: 0, ...master },
  } as unknown as Project;
}

function normalizeTrack(track: Json, index: number): Track {
  return {
    volume_db: 0,
    pan: 0,
    mute: false,
    solo: false,
    ...track,
    id: typeof track['id'] === 'string' ? track['id'] : newId('track'),
    name: typeof track['name'] === 'string' && track['name'] !== '' ? track['name'] : `Track ${index + 1}`,
    kind: track['kind'] ?? 'instrument',
    color: typeof track['color'] === 'string' ? track['color'] : trackColor(index),
    items: objects(track['items']).map(normalizeItem),
    ...(Array.isArray(track['takes']) ? { takes: objects(track['takes']).map(normalizeItem) } : {}),
  } as unknown as Track;
}

function normalizeItem(item: Json): Item {
  if (item['type'] !== 'midi') return item as unknown as Item;
  return { ...item, notes: item['notes'] ?? [], controls: item['controls'] ?? [] } as unknown as Item;
}

/** Returns a new song without tracks, at 120 BPM, in 4/4 and at 48 kHz. */
export function emptyProject(): Project {
  return normalizeProject({ schema_version: 1, project_id: newId('song'), name: UNTITLED, tracks: [] });
}
