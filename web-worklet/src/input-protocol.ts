/** Messages between the page and the processor of an audio input. */
import type { InputBlock } from './block-collector';

/** Name of the registered processor. */
export const INPUT_PROCESSOR_NAME = 'songfoundry-input';

/** Options of the processor's constructor. */
export type InputProcessorOptions = { channelCount: number };

/** A message to the processor: it posts what it has, or ends. */
export type InputCommand = 'flush' | 'end';

/** A message from the processor: a block, or null after the last block of a flush. */
export type InputReport = InputBlock | null;
