/** The service's operations that the page uses, one function each. */
import type { Note, Control, Project, SampleRateHz, TempoPoint } from '../project/model';
import { Api, revisionOfEtag } from './client';
import type {
  AudioFile,
  BitDepth,
  Capabilities,
  EffectList,
  MidiImport,
  ProjectEntry,
  ProjectPage,
  SavedAnswer,
  SoundFontCatalog,
  Task,
  RenderResult,
  TempProject,
  TempRevision,
  TempWritten,
} from './types';

export const capabilities = (api: Api) => api.json<Capabilities>('GET', '/system/capabilities');

/** Every saved project, all pages of the list. */
export async function listProjects(api: Api): Promise<ProjectEntry[]> {
  const entries: ProjectEntry[] = [];
  let cursor: string | undefined;
  do {
    const page: ProjectPage = await api.json<ProjectPage>('GET', '/projects', { query: { limit: 100, cursor } });
    entries.push(...page.items);
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
  return entries;
}

export async function loadProject(api: Api, id: string): Promise<{ document: unknown; revision: number | null }> {
  const response = await api.send('GET', `/projects/${encodeURIComponent(id)}`);
  return { document: await response.json(), revision: revisionOfEtag(response.headers.get('etag')) };
}
export const createProject = (api: Api, project: Project) =>
  api.json<SavedAnswer>('POST', '/projects', { json: project });
export const saveProject = (api: Api, project: Project, revision: number) =>
  api.json<SavedAnswer>('PUT', `/projects/${encodeURIComponent(project.project_id)}`, {
    json: project,
    headers: { 'If-Match': `"${revision}"` },
  });
export const deleteProject = (api: Api, id: string) => api.send('DELETE', `/projects/${encodeURIComponent(id)}`);

export const readTemp = (api: Api) => api.json<TempProject>('GET', '/projects/temp');
export const tempRevision = (api: Api) => api.json<TempRevision>('GET', '/projects/temp/revision');
export const deleteTemp = (api: Api) => api.send('DELETE', '/projects/temp');
/** Writes the autosave; `body` is the JSON text of {client_id, project}. */
export const writeTemp = (api: Api, body: string, keepalive = false) =>
  api.json<TempWritten>('PUT', '/projects/temp', {
    body,
    headers: { 'Content-Type': 'application/json' },
    keepalive,
  });

export const soundFontCatalog = (api: Api) => api.json<SoundFontCatalog>('GET', '/plugins/soundfonts/catalog');
export const listEffects = (api: Api) => api.json<EffectList>('GET', '/plugins/effects');
/** A SoundFont reduced to some presets, `bank:program` each, as an SF2 file. */
export const downloadSoundFont = (api: Api, id: string, presets: readonly string[]) =>
  api.send('GET', `/plugins/soundfonts/download/${encodeURIComponent(id)}`, { query: { presets: presets.join(',') } });

export const audioFile = (api: Api, id: string) => api.json<AudioFile>('GET', `/audio/${encodeURIComponent(id)}`);
/** The newest of the caller's audio files. */
export const listAudio = (api: Api) => api.json<{ items: AudioFile[] }>('GET', '/audio', { query: { limit: 100 } });
/** Peaks of a file in audiowaveform's binary layout, 8 bits. */
export async function audioPeaks(api: Api, id: string, framesPerPixel: number): Promise<ArrayBuffer> {
  const query = { format: 'dat', bits: 8, samples_per_pixel: framesPerPixel };
  return (await api.send('GET', `/audio/${encodeURIComponent(id)}/peaks`, { query })).arrayBuffer();
}

/** Samples of a file as a 32-bit float WAV at a rate: all of it, or bytes from one place up to another. */
export async function audioSamples(api: Api, id: string, sampleRateHz: number, range?: [from: number, to: number]): Promise<ArrayBuffer> {
  const query = { format: 'wav32f', sample_rate_hz: sampleRateHz };
  const headers = range ? { Range: `bytes=${range[0]}-${range[1] - 1}` } : {};
  return (await api.send('GET', `/audio/${encodeURIComponent(id)}/file`, { query, headers })).arrayBuffer();
}

export type SoundFontRenderRequest = {
  notes: Note[];
  controls: Control[];
  soundfont_id?: string;
  bank: number;
  program: number;
  tempo_map: TempoPoint[];
  time_base: 'ticks';
  sample_rate_hz: SampleRateHz;
  settings: Project['settings'];
  /** Whether to render what the track sends to reverb and chorus, too. */
  sends: true;
};
export const renderSoundFont = (api: Api, request: SoundFontRenderRequest, signal: AbortSignal) =>
  api.send('POST', '/plugins/soundfont-render', { json: request, signal });

export type ExportOptions = { bitDepth: BitDepth; sampleRateHz: SampleRateHz; title: string };
export const startExport = (api: Api, project: Project, options: ExportOptions) =>
  api.json<{ task_id: string }>('POST', '/plugins/render', {
    query: { async: 'true' },
    json: {
      project,
      format: 'wav',
      bit_depth: options.bitDepth,
      sample_rate_hz: options.sampleRateHz,
      metadata: { title: options.title },
    },
  });
export const readTask = (api: Api, id: string, signal: AbortSignal) =>
  api.json<Task<RenderResult>>('GET', `/tasks/${encodeURIComponent(id)}`, { signal });
export const cancelTask = (api: Api, id: string) => api.send('DELETE', `/tasks/${encodeURIComponent(id)}`);

export const importMidi = (api: Api, bytes: ArrayBuffer, name: string, soundfontId: string | null) =>
  api.json<MidiImport>('POST', '/multitrack/midi/import', {
    body: bytes,
    headers: { 'Content-Type': 'audio/midi' },
    query: { name, soundfont_id: soundfontId ?? undefined },
  });
export const exportMidi = (api: Api, project: Project) =>
  api.send('POST', '/multitrack/midi/export', { json: { project } });
