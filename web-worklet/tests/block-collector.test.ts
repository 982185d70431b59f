import { expect, test } from 'vitest';
import { BlockCollector, INPUT_BLOCK_FRAMES, type InputBlock } from '../src/block-collector';

/** Adds quanta of 128 frames, whose samples count up from `start`. */
function addRamp(collector: BlockCollector, start: number, quanta: number, channels = 1): void {
  for (let quantum = 0; quantum < quanta; quantum++) {
    const frame = start + quantum * 128;
    const ramp = Float32Array.from({ length: 128 }, (_, index) => frame + index);
    collector.add(Array.from({ length: channels }, () => ramp), 128, frame);
  }
}

test('blocks carry the number of their first frame, and a flush posts the remainder', () => {
  const blocks: InputBlock[] = [];
  const collector = new BlockCollector(2, (block) => blocks.push(block));
  addRamp(collector, 256, 40);
  collector.flush();
  collector.flush();
  expect(blocks.map(({ frame, channels }) => [frame, channels[0]?.length])).toEqual([
    [256, INPUT_BLOCK_FRAMES],
    [256 + INPUT_BLOCK_FRAMES, 40 * 128 - INPUT_BLOCK_FRAMES],
  ]);
  for (const { frame, channels } of blocks) {
    for (const channel of channels) channel.forEach((value, index) => expect(value).toBe(frame + index));
  }
});

test('skipped frames end a block, and a missing input is silent', () => {
  const blocks: InputBlock[] = [];
  const collector = new BlockCollector(1, (block) => blocks.push(block));
  addRamp(collector, 0, 2);
  collector.add([], 128, 1024);
  collector.flush();
  expect(blocks.map(({ frame, channels }) => [frame, channels[0]?.length])).toEqual([
    [0, 256],
    [1024, 128],
  ]);
  expect(blocks[1]?.channels[0]?.every((value) => value === 0)).toBe(true);
});
