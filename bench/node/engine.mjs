// Times our engine as WebAssembly: node engine.mjs PACKAGE SESSION BANK LENGTH_FRAMES CALL_FRAMES
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * Seconds that are played before the measurement, so that the module is compiled with optimization.
 */
const WARM_UP_SECS = 10;
const RATE_HZ = 48_000;

const [folder, sessionFile, bankFile] = process.argv.slice(2);
const [lengthFrames, callFrames] = process.argv.slice(5).map(Number);
const { initSync, WasmEngine } = await import(pathToFileURL(resolve(folder, 'dsp_wasm.js')).href);
const module = new WebAssembly.Module(await readFile(resolve(folder, 'dsp_wasm_bg.wasm')));
const { memory } = initSync({ module });
const engine = new WasmEngine(RATE_HZ);
engine.loadBank(0, await readFile(bankFile));
engine.setSession(await readFile(sessionFile));

let loudest = 0;
function play(frames) {
  engine.seek(0);
  engine.play();
  const output = new Float32Array(memory.buffer, engine.outputLeft(), 1);
  for (let start = 0; start < frames; start += callFrames) {
    engine.process(callFrames);
    loudest = Math.max(loudest, Math.abs(output[0]));
  }
}

play(WARM_UP_SECS * RATE_HZ);
const cpuBefore = process.cpuUsage();
play(lengthFrames);
const { user, system } = process.cpuUsage(cpuBefore);
if (!(loudest > 0.001)) throw new Error(`the song was silent: the measured peak is ${loudest}, expected more than 0.001`);
console.log(JSON.stringify({ cpu_secs: (user + system) / 1e6, sound_secs: lengthFrames / RATE_HZ }));
