// Times sessions with effects in Node.js: node effects.mjs PACKAGE FOLDER NAME...
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { load, material } from './effects-speed.mjs';

const [folder, files, ...names] = process.argv.slice(2);
const bindings = await import(pathToFileURL(resolve(folder, 'dsp_wasm.js')).href);
const module = new WebAssembly.Module(await readFile(resolve(folder, 'dsp_wasm_bg.wasm')));
const read = async (name) => new Uint8Array(await readFile(join(files, name)));
const played = await material(read);
const nowMs = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};
const loads = {};
for (const name of names) loads[name] = load(bindings, module, played, name, await read(`${name}.session`), nowMs);
console.log(JSON.stringify(loads));
