/**
 * Runs the engine of the audio thread in a separate page, and reads the results of the native
 * parity test.
 */
import { createReadStream, readFileSync, statSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import type { EngineCommand, EngineReport, WantedAudio } from '../../../web-worklet/src/protocol';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const TARGET = process.env.CARGO_TARGET_DIR ?? join(ROOT, 'target');
const FOLDER = join(TARGET, 'parity');

/** A song of the native test. File names are relative to `songs`. */
export type SongCase = {
  name: string;
  session: string;
  reducedBank: string;
  wholeBank: string | null;
  songHash: string;
  startHash: string;
  /** SHA-256 of the song after a seek. */
  soughtHash: string;
};

export type SongManifest = {
  sampleRateHz: number;
  songFrames: number;
  startFrames: number;
  soughtFrame: number;
  cases: SongCase[];
};

/** A project of the native test. File names are relative to `projects`. */
export type ProjectCase = {
  name: string;
  /** The project document. */
  project: object;
  sampleRateHz: number;
  frames: number;
  startFrames: number;
  latencyFrames: number;
  bank: string | null;
  /** SHA-256 of the compiled session. */
  sessionHash: string;
  hash: string;
  startHash: string;
};

/** Recorded audio. The file has the floats of the left channel, then those of the right channel. */
export type Sound = {
  fileId: string;
  file: string;
  frames: number;
  channels: number;
  fileRateHz: number;
  /** Whether the audio is streamed. */
  isStreamed: boolean;
};

/** Sounds by the sample rate of the project. */
export type ProjectManifest = { sounds: Record<string, Sound[]>; cases: ProjectCase[] };

function manifest(folder: string): unknown {
  const path = join(FOLDER, folder, 'manifest.json');
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new Error(`${path} cannot be read; \`cargo test --package songfoundry-tests --test parity\` creates it`, { cause: error });
  }
}

/** Reads the results of the native test for songs. */
export function songManifest(): SongManifest {
  return manifest('songs') as SongManifest;
}

/** Reads the results of the native test for projects. */
export function projectManifest(): ProjectManifest {
  return manifest('projects') as ProjectManifest;
}

function sendFile(answer: ServerResponse, path: string, type: string): void {
  answer.writeHead(200, { 'content-type': type, 'content-length': statSync(path).size });
  createReadStream(path).pipe(answer);
}

function sendScript(answer: ServerResponse, path: string): void {
  const { outputText } = ts.transpileModule(readFileSync(path, 'utf8'), {
    compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext, verbatimModuleSyntax: true },
    fileName: path,
  });
  answer.writeHead(200, { 'content-type': 'text/javascript' });
  answer.end(outputText);
}

/**
 * Serves an empty page, the engine's modules under /web-worklet, and files of the cases under /case
 * and /bank.
 */
export async function startParityServer(banks: readonly string[]): Promise<{ url: string; close: () => Promise<void> }> {
  const server: Server = createServer((request, answer) => {
    const path = new URL(request.url ?? '/', 'http://localhost').pathname;
    try {
      if (path === '/') {
        answer.writeHead(200, { 'content-type': 'text/html' });
        answer.end('<!doctype html><title>Parity</title>');
      } else if (path.startsWith('/case/')) {
        sendFile(answer, join(FOLDER, path.slice('/case/'.length)), 'application/octet-stream');
      } else if (path.startsWith('/bank/')) {
        sendFile(answer, banks[Number(path.slice('/bank/'.length))] ?? '', 'application/octet-stream');
      } else if (path.endsWith('.wasm')) {
        sendFile(answer, join(ROOT, path), 'application/wasm');
      } else if (extname(path) === '.js') {
        sendFile(answer, join(ROOT, path), 'text/javascript');
      } else if (path.startsWith('/web-worklet/')) {
        sendScript(answer, join(ROOT, `${path}.ts`));
      } else {
        answer.writeHead(404).end();
      }
    } catch (error) {
      answer.writeHead(404).end(String(error));
    }
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}

/** A part of a session to render: `frames` frames from `startFrame`, in calls of `callFrames`. */
export type RenderRange = { startFrame: number; frames: number; callFrames: number };

/** The renders that the page does with one engine. */
export type RenderRequest = {
  /** A session's file and the ids of its tracks, or a project. */
  session: { file: string } | { project: object };
  /** The bank in slot 0. */
  bank: string | null;
  sounds: Sound[];
  sampleRateHz: number;
  ranges: RenderRange[];
};

export type RenderAnswer = {
  latencyFrames: number;
  /** SHA-256 of the session's bytes. */
  sessionHash: string;
  /** Parts of the project that are missing from the session. */
  leftOut: string[];
  /** SHA-256 of the samples of each range. */
  hashes: string[];
  /** Number of missing audio blocks. */
  underruns: number;
};

/** Renders a session with the audio thread's engine. This function runs in the page. */
export async function renderInPage(request: RenderRequest): Promise<RenderAnswer> {
  type Host = {
    receive(command: EngineCommand): void;
    render(left: Float32Array, right: Float32Array): void;
  };
  type EngineModule = {
    EngineHost: new (module: WebAssembly.Module, rate: number, post: (report: EngineReport) => void, nowMs: () => number) => Host;
  };
  type Bindings = {
    WasmEngine: new (rate: number) => { setSession(bytes: Uint8Array): void; latencyFrames: number };
    compileSession(
      project: object,
      bankSlots: object,
      defaultSlot: number,
      rate: number,
      audio: object,
    ): { bytes: Uint8Array<ArrayBuffer>; leftOut: string[] };
  };
  /** Maximum number of frames of a streamed file that the page sends in one message. */
  const PIECE_FRAMES = 16_384;
  /** Number of frames between two status reports. */
  const REPORT_FRAMES = 1536;
  const load = (path: string): Promise<unknown> => import(path);
  const { EngineHost } = (await load('/web-worklet/src/engine-host')) as EngineModule;
  const { WasmEngine, compileSession } = (await load('/web-worklet/pkg/dsp_wasm.js')) as Bindings;
  const fetchBytes = async (path: string): Promise<ArrayBuffer> => {
    const answer = await fetch(path);
    if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
    return answer.arrayBuffer();
  };
  const hashOf = async (data: BufferSource): Promise<string> => {
    const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', data));
    return [...digest].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  };
  const channels = await Promise.all(
    request.sounds.map(async ({ file, frames, channels: count }) => {
      const values = new Float32Array(await fetchBytes(`/case/projects/${file}`));
      return { left: values.subarray(0, frames), right: count === 2 ? values.subarray(frames) : null };
    }),
  );

  const failures: string[] = [];
  let requestedAudio: WantedAudio[] = [];
  let underruns = 0;
  const module = await WebAssembly.compile(await fetchBytes('/web-worklet/pkg/dsp_wasm_bg.wasm'));
  const post = (report: EngineReport): void => {
    if (report.type === 'reply' && report.error !== undefined) failures.push(report.error);
    if (report.type === 'failed') failures.push(report.detail);
    if (report.type === 'wanted') requestedAudio = report.wanted;
    if (report.type === 'status') underruns = report.underruns;
  };
  // The clock is constant, so only clips can cause underruns.
  const host = new EngineHost(module, request.sampleRateHz, post, () => 0);
  if (request.bank !== null) {
    const bank = await fetchBytes(request.bank);
    host.receive({ type: 'beginBank', request: 1, slot: 0, sizeBytes: bank.byteLength });
    host.receive({ type: 'addToBank', slot: 0, piece: new Uint8Array(bank) });
    host.receive({ type: 'endBank', request: 2, slot: 0 });
  }
  /**
   * Sends a whole file of interleaved floats in two pieces. The pieces may split a value.
   */
  const loadWhole = (slot: number, { left, right }: (typeof channels)[number]): void => {
    const interleaved = right === null ? left : new Float32Array(2 * left.length);
    if (right !== null) left.forEach((value, frame) => interleaved.set([value, right[frame] ?? 0], 2 * frame));
    const bytes = new Uint8Array(interleaved.buffer, interleaved.byteOffset, interleaved.byteLength);
    const end = Math.floor(bytes.length / 3);
    host.receive({ type: 'beginAudio', request: 3, slot, sizeBytes: bytes.length });
    for (const piece of [bytes.subarray(0, end), bytes.subarray(end)]) host.receive({ type: 'addToAudio', slot, piece });
    host.receive({ type: 'endAudio', request: 3, slot, channels: right === null ? 1 : 2 });
  };
  request.sounds.forEach(({ frames, isStreamed }, slot) => {
    const audio = channels[slot];
    if (isStreamed) host.receive({ type: 'streamAudio', request: 3, slot, frames });
    else if (audio) loadWhole(slot, audio);
  });

  const loadSession = async (): Promise<{ bytes: Uint8Array<ArrayBuffer>; leftOut: string[] }> => {
    if ('project' in request.session) {
      const files = request.sounds.map(({ fileId, frames, fileRateHz }, slot) => [fileId, { slot, frames, fileRateHz }]);
      return compileSession(request.session.project, {}, 0, request.sampleRateHz, Object.fromEntries(files));
    }
    return { bytes: new Uint8Array(await fetchBytes(request.session.file)), leftOut: [] };
  };
  const { bytes, leftOut } = await loadSession();
  host.receive({ type: 'setSession', request: 4, bytes });
  const latencyProbe = new WasmEngine(request.sampleRateHz);
  latencyProbe.setSession(bytes);
  const { latencyFrames } = latencyProbe;

  /**
   * Sends the blocks that the engine requested, one for each clip. Returns whether there were any.
   */
  const sendRequestedBlocks = (): boolean => {
    const pieces = requestedAudio;
    requestedAudio = [];
    for (const { slot, sourceFrame, frames } of pieces) {
      const { left, right } = channels[slot] ?? { left: new Float32Array(0), right: null };
      const end = sourceFrame + Math.min(PIECE_FRAMES, frames);
      const piece = left.slice(sourceFrame, end);
      host.receive({ type: 'fillAudio', slot, sourceFrame, left: piece, right: right?.slice(sourceFrame, end) ?? piece });
    }
    return pieces.length > 0;
  };
  const hashes: string[] = [];
  for (const { startFrame, frames, callFrames } of request.ranges) {
    host.receive({ type: 'stop' });
    host.receive({ type: 'seek', frame: startFrame });
    // As in the real page, clips receive their first blocks while the engine is stopped, before it
    // plays.
    const discardedOutput = new Float32Array(REPORT_FRAMES);
    do host.render(discardedOutput, discardedOutput);
    while (sendRequestedBlocks());
    host.receive({ type: 'play' });
    const totalFrames = latencyFrames + frames;
    const [left, right] = [new Float32Array(totalFrames), new Float32Array(totalFrames)];
    for (let done = 0; done < totalFrames; done += callFrames) {
      const end = Math.min(done + callFrames, totalFrames);
      host.render(left.subarray(done, end), right.subarray(done, end));
      sendRequestedBlocks();
    }
    const planarSamples = new Float32Array(2 * frames);
    planarSamples.set(left.subarray(latencyFrames), 0);
    planarSamples.set(right.subarray(latencyFrames), frames);
    hashes.push(await hashOf(planarSamples));
  }
  if (failures.length > 0) throw new Error(failures.join('; '));
  return { latencyFrames, sessionHash: await hashOf(bytes), leftOut, hashes, underruns };
}
