// Times spessasynth_core, a synthesizer in JavaScript: node spessasynth.mjs SONG BANK CALL_FRAMES
import { readFile } from 'node:fs/promises';
import {
  BasicMIDI,
  InterpolationTypes,
  SoundBankLoader,
  SpessaSynthProcessor,
  SpessaSynthSequencer,
} from 'spessasynth_core';

/**
 * Seconds that are played before the measurement, so that the synthesizer is compiled with
 * optimization.
 */
const WARM_UP_SECS = 10;
const RATE_HZ = 48_000;
const POLYPHONY = 256;

const [songFile, bankFile, calls] = process.argv.slice(2);
const callFrames = Number(calls);

/** A file as an ArrayBuffer of its exact length. */
async function bytes(path) {
  const file = await readFile(path);
  return file.buffer.slice(file.byteOffset, file.byteOffset + file.byteLength);
}

const song = BasicMIDI.fromArrayBuffer(await bytes(songFile));
const synth = new SpessaSynthProcessor(RATE_HZ, { maxBufferSize: callFrames, eventsEnabled: false, effectsEnabled: true });
synth.soundBankManager.addSoundBank(SoundBankLoader.fromArrayBuffer(await bytes(bankFile)), 'main');
await synth.processorInitialized;
synth.setSystemParameter('voiceCap', POLYPHONY);
synth.setSystemParameter('interpolationType', InterpolationTypes.hermite);

const left = new Float32Array(callFrames);
const right = new Float32Array(callFrames);
let loudest = 0;
function play(secs) {
  const sequencer = new SpessaSynthSequencer(synth);
  sequencer.loadNewSongList([song]);
  sequencer.play();
  for (let start = 0; start < secs * RATE_HZ; start += callFrames) {
    sequencer.processTick();
    left.fill(0);
    right.fill(0);
    synth.process(left, right, 0, callFrames);
    loudest = Math.max(loudest, Math.abs(left[0]));
  }
  sequencer.pause();
  synth.stopAllChannels(true);
}

play(WARM_UP_SECS);
const cpuBefore = process.cpuUsage();
play(song.duration);
const { user, system } = process.cpuUsage(cpuBefore);
if (!(loudest > 0.001)) throw new Error(`the song was silent: the measured peak is ${loudest}, expected more than 0.001`);
console.log(JSON.stringify({ cpu_secs: (user + system) / 1e6, sound_secs: song.duration }));
