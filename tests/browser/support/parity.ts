/** The engine of the audio thread in a page of its own, with the sessions that the native parity test left. */
import { createReadStream, readFileSync, statSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import type { EngineCommand, EngineReport } from '../../../web-worklet/src/protocol';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const TARGET = process.env.CARGO_TARGET_DIR ?? join(ROOT, 'target');
const FOLDER = join(TARGET, 'parity');

/** A song as the native test left it; file names are relative to its folder. */
export type ParityCase = {
  name: string;
  session: string;
  trackIds: string[];
  reducedBank: string;
  wholeBank: string | null;
  songHash: string;
  startHash: string;
};

export type Manifest = { sampleRateHz: number; songFrames: number; startFrames: number; cases: ParityCase[] };

/** What the native test found. */
export function manifest(): Manifest {
  const path = join(FOLDER, 'manifest.json');
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Manifest;
  } catch (error) {
    throw new Error(`${path} cannot be read; \`cargo test --package songfoundry-tests --test parity\` makes it`, { cause: error });
  }
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

/** Serves an empty page, the engine's modules under /web-worklet, and files of the cases under /case and /bank. */
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

/** One render to make in the page. */
export type RenderRequest = {
  session: string;
  bank: string;
  trackIds: string[];
  sampleRateHz: number;
  frames: number;
  /** Frames of each call; every one is a render of its own. */
  calls: number[];
};

/** Runs in the page: renders a session through the audio thread's engine; a SHA-256 for each of `calls`. */
export async function renderInPage(request: RenderRequest): Promise<string[]> {
  type Host = {
    take(command: EngineCommand): void;
    render(left: Float32Array, right: Float32Array): void;
  };
  type EngineModule = {
    EngineHost: new (module: WebAssembly.Module, rate: number, post: (report: EngineReport) => void) => Host;
  };
  type Bindings = { WasmEngine: new (rate: number) => { latencyFrames: number } };
  const load = (path: string): Promise<unknown> => import(path);
  const { EngineHost } = (await load('/web-worklet/src/engine-host')) as EngineModule;
  const { WasmEngine } = (await load('/web-worklet/pkg/dsp_wasm.js')) as Bindings;
  const bytes = async (path: string): Promise<ArrayBuffer> => {
    const answer = await fetch(path);
    if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
    return answer.arrayBuffer();
  };
  const module = await WebAssembly.compile(await bytes('/web-worklet/pkg/dsp_wasm_bg.wasm'));
  const session = new Uint8Array(await bytes(request.session));
  const bank = await bytes(request.bank);
  const failures: string[] = [];
  const host = new EngineHost(module, request.sampleRateHz, (report) => {
    if (report.type === 'reply' && report.error !== undefined) failures.push(report.error);
    if (report.type === 'failed') failures.push(report.detail);
  });
  host.take({ type: 'beginBank', request: 1, slot: 0, sizeBytes: bank.byteLength });
  host.take({ type: 'addToBank', slot: 0, piece: new Uint8Array(bank) });
  host.take({ type: 'endBank', request: 2, slot: 0 });
  host.take({ type: 'setSession', request: 3, bytes: session, trackIds: request.trackIds });
  const latency = new WasmEngine(request.sampleRateHz).latencyFrames;
  const hashes: string[] = [];
  for (const call of request.calls) {
    host.take({ type: 'stop' });
    host.take({ type: 'seek', frame: 0 });
    host.take({ type: 'play' });
    const total = latency + request.frames;
    const [left, right] = [new Float32Array(total), new Float32Array(total)];
    for (let done = 0; done < total; done += call) {
      host.render(left.subarray(done, Math.min(done + call, total)), right.subarray(done, Math.min(done + call, total)));
    }
    const both = new Float32Array(2 * request.frames);
    both.set(left.subarray(latency), 0);
    both.set(right.subarray(latency), request.frames);
    const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', both));
    hashes.push([...digest].map((byte) => byte.toString(16).padStart(2, '0')).join(''));
  }
  if (failures.length > 0) throw new Error(failures.join('; '));
  return hashes;
}
