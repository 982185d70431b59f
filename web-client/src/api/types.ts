/** Shapes of the service's answers, under /api/v1. */
import type { EffectKind } from '../project/effect-kinds';
import type { SampleRateHz } from '../project/model';

export type Role = 'admin' | 'user';
export type User = {
  id: string;
  username: string;
  role: Role;
  must_change_password: boolean;
  /** The desktop's administrator begins without one. */
  has_password: boolean;
};
/** Who is asking; `local` callers are the administrator without logging in. */
export type Me = User & { local: boolean };
export type Registration = 'open' | 'invite' | 'closed';
export type TokenAnswer = { access_token: string; token_type: 'bearer'; expires_in: number; user: User };
export type PasswordStrength = {
  /** 0 (guessed at once) to 4. */
  score: number;
  warning: string | null;
  suggestions: string[];
  accepted: boolean;
};

export type InstrumentSound = 'server' | 'client';
export type BitDepth = 'pcm16' | 'float32';

export type Capabilities = {
  version: string;
  environment: 'standalone' | 'container';
  render_engine: string;
  instrument_sound: InstrumentSound;
  soundfont_render: boolean;
  default_soundfont_id: string | null;
  plugin_formats: string[];
  export: { formats: string[]; bit_depths: BitDepth[]; sample_rates_hz: SampleRateHz[] };
  limits: {
    upload_max_bytes: number;
    project_max_bytes: number;
    midi_max_bytes: number;
    tail_max_secs: number;
    autosave_secs: number;
    revision_poll_secs: number;
  };
  registration: Registration;
  secure: boolean;
};

export type ProjectEntry = {
  project_id: string;
  name: string;
  revision: number;
  updated_at: string;
  size_bytes: number;
};
export type ProjectPage = { items: ProjectEntry[]; next_cursor: string | null };
export type SavedAnswer = { project_id: string; revision: number; updated_at: string };
export type RevisionEntry = { revision: number; updated_at: string; size_bytes: number };

export type TempRevision = { updated_at: string | null; client_id: string | null };
export type TempProject = { updated_at: string; client_id: string; project: unknown };
export type TempWritten = { updated_at: string; client_id: string };

export type Preset = { bank: number; program: number; name: string };
export type SoundFontEntry = {
  soundfont_id: string;
  name: string;
  source: 'system' | 'upload';
  format: 'sf2' | 'sf3';
  size_bytes: number;
  content_hash: string | null;
  default: boolean;
  usable: boolean;
  problem: string | null;
  /** Bad regions of the file, without which it is played. */
  skipped: { count: number; reasons: string[] };
  presets: Preset[];
};
export type SoundFontCatalog = { soundfonts: SoundFontEntry[]; scanned_at: string | null };

export type AudioFile = {
  id: string;
  name: string;
  sha256: string;
  sample_rate_hz: number;
  source_channels: number;
  channels: number;
  frames: number;
  duration_secs: number;
  warnings: string[];
};
export type AudioUpload = {
  files: (AudioFile & { already_there: boolean })[];
  refused: { name: string; problem: Problem }[];
};

export type EffectList = {
  effects: EffectKind[];
  vst_effects: { plugin_id: string; name: string; format: string }[];
  cache: { max_age_secs: number; scanned_at: string | null };
};

export type RenderReceipt = {
  peak: number;
  clipped_samples: number;
  silent_tracks: string[];
  engine_version: string;
  project_sha256: string;
  pcm_sha256: string;
  settings: Record<string, unknown>;
};
export type RenderResult = {
  render_id: string;
  audio_url: string;
  format: string;
  bit_depth: BitDepth;
  duration_secs: number;
  sample_rate_hz: number;
  lufs: number | null;
  true_peak_db: number | null;
  receipt: RenderReceipt;
};

export type TaskState = 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled';
export type Task<Result> = {
  id: string;
  kind: string;
  state: TaskState;
  progress: number;
  message: string | null;
  result: Result | null;
  error: { code?: string; detail?: string } | string | null;
};

export type MidiImport = { project: unknown; warnings: string[] };

/** A failure as the service describes it (RFC 9457). */
export type Problem = {
  type?: string;
  title?: string;
  status: number;
  detail: string;
  code: string;
  errors?: { pointer: string; detail: string }[];
};
