// Times sessions with effects in Node.js: node effects.mjs PACKAGE FOLDER NAME...
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { loadFiles, prepareSession } from './effects-speed.mjs';

const [folder, files, ...names] = process.argv.slice(2);
const bindings = await import(pathToFileURL(resolve(folder, 'dsp_wasm.js')).href);
const module = new WebAssembly.Module(await readFile(resolve(folder, 'dsp_wasm_bg.wasm')));
const readEffectFile = async (name) => new Uint8Array(await readFile(join(files, name)));
const sources = await loadFiles(readEffectFile);
const loads = {};
for (const name of names) {
  const { playOnce, soundSecs } = prepareSession(bindings, module, sources, name, await readEffectFile(`${name}.session`));
  const cpuBefore = process.cpuUsage();
  playOnce();
  const { user, system } = process.cpuUsage(cpuBefore);
  loads[name] = (user + system) / 1e6 / soundSecs;
}
console.log(JSON.stringify(loads));
