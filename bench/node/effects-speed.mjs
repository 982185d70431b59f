// Plays sessions with our engine as WebAssembly, in Node.js or a browser, as a worklet would: a render quantum a call.

const RATE_HZ = 48_000;
const CALL_FRAMES = 128;
/** Seconds that are played before the clock runs, so that the module is compiled with optimisation. */
const WARM_UP_SECS = 4;

/** The files that sessions play: `read` gives the bytes of one by its name. */
export async function material(read) {
  const [bank, left, right, lengths] = await Promise.all(['bank.sf2', 'left.f32', 'right.f32', 'lengths.json'].map(read));
  const floats = (bytes) => new Float32Array(bytes.slice().buffer);
  return { bank, left: floats(left), right: floats(right), lengths: JSON.parse(new TextDecoder().decode(lengths)) };
}

/** Time that `nowMs` counts for a second of a session. */
export function load({ initSync, WasmEngine }, module, { bank, left, right, lengths }, name, session, nowMs) {
  const { memory } = initSync({ module });
  const engine = new WasmEngine(RATE_HZ);
  engine.loadBank(0, bank);
  engine.loadAudio(0, left, right);
  engine.setSession(session);
  let loudest = 0;
  const play = (frames) => {
    engine.seek(0);
    engine.play();
    const output = engine.outputLeft();
    for (let done = 0; done < frames; done += CALL_FRAMES) {
      engine.process(CALL_FRAMES);
      loudest = Math.max(loudest, Math.abs(new Float32Array(memory.buffer, output, 1)[0]));
    }
  };
  play(WARM_UP_SECS * RATE_HZ);
  const startMs = nowMs();
  play(lengths[name]);
  const secs = (nowMs() - startMs) / 1000;
  engine.free();
  if (!(loudest > 0.001)) throw new Error(`${name} was silent`);
  return (secs * RATE_HZ) / lengths[name];
}
