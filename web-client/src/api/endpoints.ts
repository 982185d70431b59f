/** Calls the service's operations on songs, sounds, audio and tasks, one function per operation. */
import type { Project, SampleRateHz } from '../project/model';
import { answerOf, UNREAD_BODY, bodyOf, revisionOfEtag, type Api } from './client';
import type {
  AudioRecipe,
  BitDepth,
  BitRateKbps,
  ExportFormat,
  ProjectEntry,
  RenderEntry,
  FileWithReceipt,
  SoundFontRenderRequest,
} from './types';

export const capabilities = ({ call }: Api) => bodyOf(call.GET('/api/v1/system/capabilities'));

/** Returns all saved projects. It reads every page of the service's list. */
export async function listProjects({ call }: Api): Promise<ProjectEntry[]> {
  const entries: ProjectEntry[] = [];
  let cursor: string | null = null;
  do {
    const query: { limit: number; cursor?: string } = { limit: 100, ...(cursor === null ? {} : { cursor }) };
    const page = await bodyOf(call.GET('/api/v1/projects', { params: { query } }));
    entries.push(...page.items);
    cursor = page.next_cursor;
  } while (cursor !== null);
  return entries;
}

/** Loads a saved project. The document may have an older schema version, so callers check it. */
export async function loadProject({ call }: Api, id: string): Promise<{ document: unknown; revision: number | null }> {
  const { data, response } = await call.GET('/api/v1/projects/{id}', { params: { path: { id } } });
  return { document: data, revision: revisionOfEtag(response.headers.get('etag')) };
}
export const createProject = ({ call }: Api, project: Project) => bodyOf(call.POST('/api/v1/projects', { body: project }));
export const saveProject = ({ call }: Api, project: Project, revision: number) =>
  bodyOf(
    call.PUT('/api/v1/projects/{id}', {
      params: { path: { id: project.project_id }, header: { 'If-Match': `"${revision}"` } },
      body: project,
    }),
  );
export const deleteProject = ({ call }: Api, id: string) =>
  bodyOf(call.DELETE('/api/v1/projects/{id}', { params: { path: { id } } }));

/** Returns the autosave of a song. */
export const readTemp = ({ call }: Api, projectId: string) =>
  bodyOf(call.GET('/api/v1/projects/temp', { params: { query: { project_id: projectId } } }));
export const readTempRevision = ({ call }: Api, projectId: string) =>
  bodyOf(call.GET('/api/v1/projects/temp/revision', { params: { query: { project_id: projectId } } }));
/** Returns the autosaves of all songs, newest first. */
export const listTemps = async ({ call }: Api) => (await bodyOf(call.GET('/api/v1/projects/temp/songs'))).items;
/** Deletes the autosave of a song, unless another window than `clientId` wrote it. */
export const deleteTemp = ({ call }: Api, projectId: string, clientId: string) =>
  bodyOf(call.DELETE('/api/v1/projects/temp', { params: { query: { project_id: projectId, client_id: clientId } } }));
/** The body of an autosave request. */
export type TempSave = { client_id: string; project: Project };
/** Writes the autosave. `text` is the JSON text of `save`, which callers make to check its size. */
export const writeTemp = ({ call }: Api, save: TempSave, text: string, keepalive = false) =>
  bodyOf(call.PUT('/api/v1/projects/temp', { body: save, bodySerializer: () => text, keepalive }));

export const soundFontCatalog = ({ call }: Api) => bodyOf(call.GET('/api/v1/plugins/soundfonts/catalog'));
export const deleteSoundFont = ({ call }: Api, id: string) =>
  bodyOf(call.DELETE('/api/v1/plugins/soundfonts/{sf_id}', { params: { path: { sf_id: id } } }));
export const listEffects = ({ call }: Api) => bodyOf(call.GET('/api/v1/plugins/effects'));
/** Downloads some presets of a SoundFont as an SF2 file. A preset is written `bank:program`. */
export const downloadSoundFont = ({ call }: Api, id: string, presets: readonly string[]) =>
  answerOf(
    call.GET('/api/v1/plugins/soundfonts/download/{sf_id}', {
      params: { path: { sf_id: id }, query: { presets: presets.join(',') } },
      ...UNREAD_BODY,
    }),
  );

export const audioFile = ({ call }: Api, id: string) => bodyOf(call.GET('/api/v1/audio/{id}', { params: { path: { id } } }));
/** Returns the newest 100 audio files of the caller. */
export const listAudio = ({ call }: Api) => bodyOf(call.GET('/api/v1/audio', { params: { query: { limit: 100 } } }));
/** Downloads the 8-bit peaks of an audio file in the binary format of BBC audiowaveform. */
export const downloadAudioPeaks = ({ call }: Api, id: string, framesPerPixel: number) =>
  bodyOf(
    call.GET('/api/v1/audio/{id}/peaks', {
      params: { path: { id }, query: { format: 'dat', bits: 8, samples_per_pixel: framesPerPixel } },
      parseAs: 'arrayBuffer',
    }),
  );

/**
 * Downloads an audio file as a 32-bit float WAV at a sample rate. `range` selects the bytes from
 * `from` up to, but not including, `to`.
 */
export const downloadAudioSamples = ({ call }: Api, id: string, sampleRateHz: number, range?: [from: number, to: number]) =>
  bodyOf(
    call.GET('/api/v1/audio/{id}/file', {
      params: { path: { id }, query: { format: 'wav32f', sample_rate_hz: sampleRateHz } },
      headers: range ? { Range: `bytes=${range[0]}-${range[1] - 1}` } : {},
      parseAs: 'arrayBuffer',
    }),
  );

/** Renders notes, unless the service has their sound already. Returns the id of the stored sound. */
export const storeSoundFontSound = ({ call }: Api, request: SoundFontRenderRequest, signal: AbortSignal) =>
  bodyOf(call.POST('/api/v1/plugins/soundfont-sounds', { body: request, signal }));

/**
 * Quality of a lossy file: a bit rate in kbit/s, or for a variable bit rate a quality from 0 to 10,
 * of which 10 is the best.
 */
export type FileQuality = { bitRateKbps: number } | { quality: number };
export type FileTags = {
  artist: string;
  album: string;
  genre: string;
  year: number | null;
  comment: string;
  isrc: string;
  /** Cover picture in base64. */
  cover: string | null;
};
export const NO_TAGS: FileTags = { artist: '', album: '', genre: '', year: null, comment: '', isrc: '', cover: null };
/** The options of an export, as they are chosen in its form. */
export type ExportOptions = ExportFile &
  CommonOptions & {
    /** Further formats of the same parts. */
    moreFormats: ExportFormat[];
    /** Whether each section becomes a file, instead of `range`. */
    eachSection: boolean;
  };
/** The options of all files of an export. */
export type CommonOptions = {
  targetLufs: number | null;
  /** Highest true peak of a normalized file in dBTP. */
  truePeakDb: number;
  /** Whether to check how the song sounds in mono. */
  channelCheck: boolean;
  /** Ids of the only tracks to render; null for all tracks. */
  trackIds: string[] | null;
  tags: FileTags;
};
/** One file of an export. */
export type ExportFile = {
  format: ExportFormat;
  /** Null for formats without bit depths. */
  bitDepth: BitDepth | null;
  /** Null for lossless formats. */
  quality: FileQuality | null;
  noiseShaping: boolean;
  sampleRateHz: SampleRateHz;
  /** The range to render, without a tail; null for the whole song with its tail. */
  range: { start_tick: number; end_tick: number } | null;
  title: string;
};
/** Starts an export of these files with common options, and returns the id of its task. */
export async function startExport(
  { call }: Api,
  project: Project,
  { targetLufs, truePeakDb, channelCheck, trackIds, tags }: CommonOptions,
  [firstFile, ...further]: readonly [ExportFile, ...ExportFile[]],
): Promise<string> {
  const inRequest = ({ format, bitDepth, quality, noiseShaping, sampleRateHz, range, title }: ExportFile) => ({
    format,
    bit_depth: bitDepth,
    bit_rate_kbps: quality && 'bitRateKbps' in quality ? (quality.bitRateKbps as BitRateKbps) : null,
    quality: quality && 'quality' in quality ? quality.quality : null,
    noise_shaping: noiseShaping,
    normalize: targetLufs === null ? null : { lufs: targetLufs, true_peak_db: truePeakDb },
    channel_check: channelCheck,
    sample_rate_hz: sampleRateHz,
    range,
    metadata: { title, ...tags, cover: format === 'wav' ? null : tags.cover },
  });
  const answer = await bodyOf(
    call.POST('/api/v1/plugins/render', {
      params: { query: { async: true } },
      body: { project, tracks: trackIds, ...inRequest(firstFile), more_files: further.map(inRequest) },
    }),
  );
  if (!('task_id' in answer)) throw new Error('the service answered without the id of an export task; try again');
  return answer.task_id;
}
/** Returns the finished exports of a song that the service keeps, the newest first. */
export const listRenders = async ({ call }: Api, projectId: string): Promise<RenderEntry[]> =>
  (await bodyOf(call.GET('/api/v1/plugins/renders', { params: { query: { project_id: projectId } } }))).items;
/** Returns an exported file of a song again, with its receipt. */
export const readRender = async ({ call }: Api, renderId: string): Promise<FileWithReceipt> =>
  (await bodyOf(call.GET('/api/v1/plugins/renders/{render_id}', { params: { path: { render_id: renderId } } }))) as FileWithReceipt;
export const deleteRender = ({ call }: Api, renderId: string) =>
  bodyOf(call.DELETE('/api/v1/plugins/renders/{render_id}', { params: { path: { render_id: renderId } } }));
/**
 * Makes a link with which others can download an export. It expires after `expiresSecs` seconds.
 */
export const shareRender = ({ call }: Api, renderId: string, expiresSecs: number) =>
  bodyOf(
    call.POST('/api/v1/plugins/renders/{render_id}/link', {
      params: { path: { render_id: renderId } },
      body: { expires_secs: expiresSecs },
    }),
  );
/** Measures an exported file. */
export const analyzeRender = ({ call }: Api, renderId: string) =>
  bodyOf(call.POST('/api/v1/plugins/renders/{render_id}/analyze', { params: { path: { render_id: renderId } } }));
export const downloadExportedFile = ({ call }: Api, renderId: string) =>
  bodyOf(call.GET('/api/v1/plugins/renders/{render_id}/file', { params: { path: { render_id: renderId } }, parseAs: 'blob' }));
/** Starts to render a track to an audio file for its field `frozen`; returns the id of the task. */
export const startFreeze = async ({ call }: Api, project: Project, trackId: string): Promise<string> =>
  (await bodyOf(call.POST('/api/v1/multitrack/freeze', { body: { project, track_id: trackId } }))).task_id;
/** Starts to make a processed copy of a piece of an audio file; returns the id of the task. */
export const startProcessing = async ({ call }: Api, fileId: string, recipe: AudioRecipe): Promise<string> =>
  (await bodyOf(call.POST('/api/v1/audio/{id}/process', { params: { path: { id: fileId } }, body: recipe }))).task_id;
export const readTask = ({ call }: Api, id: string) => bodyOf(call.GET('/api/v1/tasks/{id}', { params: { path: { id } } }));
export const openTaskEvents = ({ call }: Api, id: string) =>
  answerOf(call.GET('/api/v1/tasks/{id}/events', { params: { path: { id } }, ...UNREAD_BODY }));
export const cancelTask = ({ call }: Api, id: string) => bodyOf(call.DELETE('/api/v1/tasks/{id}', { params: { path: { id } } }));

export const importMidi = ({ call }: Api, file: Blob, name: string, soundfontId: string | null) =>
  bodyOf(
    call.POST('/api/v1/multitrack/midi/import', {
      params: { query: { name, ...(soundfontId === null ? {} : { soundfont_id: soundfontId }) } },
      headers: { 'Content-Type': 'audio/midi' },
      // The generated types do not allow a binary body, so the serializer supplies the file.
      body: '',
      bodySerializer: () => file,
    }),
  );
/** A file that contains a song with its audio. */
export type SongFileFormat = 'bundle' | 'dawproject';
/** Returns a saved song with its audio. */
export const downloadSongFile = ({ call }: Api, id: string, format: SongFileFormat) =>
  bodyOf(call.GET(`/api/v1/projects/{id}/${format}`, { params: { path: { id } }, parseAs: 'blob' }));
export const exportMidi = ({ call }: Api, project: Project) =>
  bodyOf(call.POST('/api/v1/multitrack/midi/export', { body: { project }, parseAs: 'blob' }));
