/** Short names for the generated types of the service's requests and answers. */
import type { FrozenSound } from '@songfoundry/schemas';

import type { components, operations } from './generated/schema';

type Schemas = components['schemas'];

/** A page of a list, newest first. */
export type Page<T> = { items: T[]; next_cursor: string | null };

export type Role = Schemas['Role'];
export type User = Schemas['UserView'];
export type TokenAnswer = Schemas['TokenAnswer'];
export type PasswordStrength = Schemas['PasswordStrength'];
export type ApiKey = Schemas['ApiKey'];
export type ApiKeyList = Schemas['ApiKeyList'];
/** A new API key. This is the only answer that contains `key`. */
export type MadeApiKey = Schemas['MadeApiKey'];

export type Account = Schemas['Account'];
/** A new user. `password` is the generated first password, or null; no later answer contains it. */
export type ProvidedUser = Schemas['ProvidedUser'];
/** Changes of an account. Omitted fields stay as they are; a quota of null restores the default. */
export type AccountChange = Schemas['UserChange'];
export type Invite = Schemas['Invite'];
export type MadeInvite = Schemas['NewInviteAnswer'];
export type UserStorage = Schemas['UserStorage'];
export type Storage = Schemas['Storage'];
export type Throttled = Schemas['Page_Throttled']['items'][number];
export type AuditAction = NonNullable<NonNullable<operations['get_admin_audit']['parameters']['query']>['action']>;
export type AuditEntry = Schemas['Page_Entry']['items'][number];

/** An autosave in the list of autosaves. */
export type AutosaveEntry = Schemas['Autosave'];

export type Capabilities = Schemas['Capabilities'];
export type InstrumentSound = Schemas['InstrumentSound'];
export type BitDepth = Schemas['BitDepth'];
export type ChannelReport = Schemas['ChannelReport'];
export type ExportFormat = Schemas['Format'];
/** The options of an export that a preset contains. */
export type ExportPresetOptions = Omit<Schemas['FileOptions'], 'metadata'> & Schemas['SoundOptions'];
export type PresetSummary = Schemas['PresetSummary'];
export type BitRateKbps = NonNullable<Schemas['FileOptions']['bit_rate_kbps']>;
export type NormalizationReport = Schemas['NormalizationReport'];

export type ProjectEntry = Schemas['ProjectSummary'];
/** The song of a bundle or DAWproject file that the service has stored. */
export type StoredSong = Schemas['Imported'] | Schemas['DawprojectImported'];

export type SoundFontEntry = Schemas['SoundFont'];
export type SoundFontUpload = Schemas['SoundFontUpload'];
export type SoundFontRenderRequest = Schemas['SoundFontRenderRequest'];

/** A VST instrument or effect that a scan has found. */
export type VstPlugin = Schemas['VstPlugin'];
/** The plugin folders, and the usual folders of the system that can be added. */
export type PluginFolders = Schemas['PluginDirs'];
export type PluginScanResult = Schemas['ScanAnswer'];
/** A plugin with its parameters and programs. */
export type PluginParameterList = Schemas['ParameterList'];
/** A parameter of a plugin. Its values are normalized: 0..1. */
export type PluginParameter = Schemas['PluginParameter'];
export type ParametersRequest = Schemas['ParametersRequest'];
export type OpenWindowRequest = Schemas['OpenWindowRequest'];
export type OpenedWindow = Schemas['OpenedWindow'];
export type PresetFileRequest = Schemas['PresetFileRequest'];
export type PluginProblem = Schemas['PluginProblem'];
/** Whether a plugin of a song has a sound. */
export type PluginOutcome = Schemas['PluginOutcome'];

export type AudioFile = Schemas['AudioFile'];
export type AudioUpload = Schemas['UploadAnswer'];

export type RenderEntry = Schemas['RenderEntry'];
/** A rendered file with its receipt. */
export type FileWithReceipt = Schemas['FileWithReceipt'];
export type RenderResult = Schemas['RenderAnswer'];
/** Measurements by which a mix and its reference are compared. */
export type Measurements = Schemas['ReferenceAnswer'];
export type LoudnessCurve = Schemas['LoudnessCurve'];
export type LimiterReport = Schemas['LimiterReport'];
export type Task = Schemas['Task'];
/** The result of a task that freezes a track: the field `frozen` of the track. */
export type Frozen = { frozen: FrozenSound; left_out: Schemas['LeftOutOfRender'][]; warnings: string[] };

/** The result of a task that processes an audio file. */
export type ProcessedAudio = { file: AudioFile; is_stored: boolean };
export type AudioRecipe = Schemas['AudioRecipe'];

/** A failure as the service describes it (RFC 9457). */
export type Problem = Schemas['Problem'];
