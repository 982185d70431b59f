/** Plays bursts through the output, and finds them in the blocks of the input. */
import type { InputBlock } from '@songfoundry/web-worklet';
import { agreedDelay, BURST_SECS, BURSTS, findSignal, latencySignal } from '../../project/latency-signal';

/** Pause before the first burst, in seconds, in which the output and the input settle. */
const LEAD_SECS = 0.3;

/** Result of a measurement; `frames` is null if the input did not hear the bursts. */
export type LatencyResult = { frames: number | null; rateHz: number; isSilent: boolean };

/**
 * Measures the frames between the output of a sound and its arrival in a block of the input. Calls
 * `watch` with a function for the blocks, and the function that it returns at the end.
 */
export async function measureLatency(context: AudioContext, watch: (receive: (block: InputBlock) => void) => () => void): Promise<LatencyResult> {
  const rateHz = context.sampleRate;
  const signal = latencySignal(rateHz);
  const startFrame = Math.ceil((context.currentTime + LEAD_SECS) * rateHz);
  const burstFrames = Math.round(BURST_SECS * rateHz);
  const recorded = new Float32Array(BURSTS * burstFrames);
  const sources = Array.from({ length: BURSTS }, (_, burst) => burstAt(context, signal, startFrame + burst * burstFrames));
  let stop = (): void => undefined;
  await new Promise<void>((resolve) => {
    stop = watch(({ frame, channels }) => {
      const [first = new Float32Array()] = channels;
      const offset = frame - startFrame;
      if (offset >= recorded.length) resolve();
      else if (offset + first.length > 0) recorded.set(first.subarray(Math.max(0, -offset), recorded.length - offset), Math.max(0, offset));
    });
  });
  stop();
  sources.forEach((source) => source.disconnect());
  const delays: (number | null)[] = [];
  for (let burst = 0; burst < BURSTS; burst++) {
    // The page stays responsive between the searches.
    await new Promise((resolve) => setTimeout(resolve));
    delays.push(findSignal(recorded.subarray(burst * burstFrames, (burst + 1) * burstFrames), signal));
  }
  return { frames: agreedDelay(delays, rateHz), rateHz, isSilent: recorded.every((value) => Math.abs(value) < 1e-4) };
}

/** Plays a burst that starts exactly at a frame of the audio context. */
function burstAt(context: AudioContext, signal: Float32Array<ArrayBuffer>, frame: number): AudioBufferSourceNode {
  const buffer = context.createBuffer(1, signal.length, context.sampleRate);
  buffer.copyToChannel(signal, 0);
  const source = context.createBufferSource();
  source.buffer = buffer;
  source.connect(context.destination);
  source.start(frame / context.sampleRate);
  return source;
}
