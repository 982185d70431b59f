// Plays sessions with our engine as WebAssembly, in Node.js or a browser, one render quantum per
// call as in an AudioWorklet.

export const RATE_HZ = 48_000;
const CALL_FRAMES = 128;
/**
 * Seconds that are played before the measurement, so that the module is compiled with optimization.
 */
const WARM_UP_SECS = 4;

/** Loads the files that sessions play. `read` returns the bytes of the file with a name. */
export async function loadFiles(readFile) {
  const [bank, audio, lengths] = await Promise.all(['bank.sf2', 'audio.f32', 'lengths.json'].map(readFile));
  return { bank, audio, lengths: JSON.parse(new TextDecoder().decode(lengths)) };
}

/**
 * Loads a session and plays its beginning. Returns a function that plays the session once, and its
 * length in seconds.
 */
export function prepareSession({ initSync, WasmEngine }, module, { bank, audio, lengths }, name, session) {
  const { memory } = initSync({ module });
  const engine = new WasmEngine(RATE_HZ);
  engine.loadBank(0, bank);
  engine.beginAudio(0, audio.length);
  engine.addToAudio(0, audio);
  engine.endAudio(0, 2);
  engine.setSession(session);
  const play = (frames) => {
    let loudest = 0;
    engine.seek(0);
    engine.play();
    const output = engine.outputLeft();
    for (let start = 0; start < frames; start += CALL_FRAMES) {
      engine.process(CALL_FRAMES);
      loudest = Math.max(loudest, Math.abs(new Float32Array(memory.buffer, output, 1)[0]));
    }
    if (!(loudest > 0.001)) throw new Error(`${name} was silent`);
  };
  play(WARM_UP_SECS * RATE_HZ);
  const playOnce = () => {
    play(lengths[name]);
    engine.free();
  };
  return { playOnce, soundSecs: lengths[name] / RATE_HZ };
}
