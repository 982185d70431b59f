import { describe, expect, it } from 'vitest';

import { BLOCK_FRAMES, BLOCK_VALUES, BlockRing, RING_BYTES } from '../src/live/block-ring';
import { laneValueAt } from '../src/live/lane-value';
import { LiveInsert, type InsertBuffers, type InsertPort } from '../src/live/live-insert';
import { LiveLink, type LinkSocket } from '../src/live/live-link';
import type { LiveLane, ToAudioThread, WorkerReport } from '../src/live/messages';

/** A service that multiplies blocks by a parameter `gain`, with a latency of some frames. */
class FakeService {
  readonly socket: LinkSocket & { readyState: number };
  readonly commands: Record<string, unknown>[] = [];
  answersBlocks = true;
  answersFlushes = true;
  /** Processed blocks that the client has not received. */
  readonly answers: ArrayBuffer[] = [];
  #gain = 2;
  #delayed: number[] = [];

  constructor(private readonly latencyFrames: number) {
    this.#delayed = new Array<number>(2 * latencyFrames).fill(0);
    this.socket = {
      readyState: 1,
      bufferedAmount: 0,
      binaryType: 'arraybuffer',
      onopen: null,
      onclose: null,
      onmessage: null,
      close: () => undefined,
      send: (message: unknown) => this.#receive(message as string | Float32Array),
    };
  }

  tell(answer: unknown): void {
    this.socket.onmessage?.call({} as WebSocket, { data: typeof answer === 'object' && answer instanceof ArrayBuffer ? answer : JSON.stringify(answer) } as MessageEvent);
  }

  deliver(): void {
    for (let answer = this.answers.shift(); answer; answer = this.answers.shift()) this.tell(answer);
  }

  open(): void {
    this.socket.onopen?.call({} as WebSocket, {} as Event);
  }

  drop(): void {
    this.socket.onclose?.call({} as WebSocket, { code: 1006, reason: '' } as CloseEvent);
  }

  #receive(message: string | Float32Array): void {
    if (typeof message === 'string') {
      const command = JSON.parse(message) as { cmd: string; value?: number };
      this.commands.push(command);
      if (command.cmd === 'chain') this.tell({ cmd: 'latency', total: this.latencyFrames, latencies: [this.latencyFrames] });
      if (command.cmd === 'SET_PARAM') this.#gain = command.value ?? 0;
      if (command.cmd === 'flush') {
        this.#delayed = new Array<number>(2 * this.latencyFrames).fill(0);
        if (this.answersFlushes) this.tell({ cmd: 'flush_done' });
      }
      return;
    }
    this.commands.push({ cmd: 'block' });
    this.#delayed.push(...message);
    const output = Float32Array.from(this.#delayed.splice(0, BLOCK_VALUES), (value) => value * this.#gain);
    if (this.answersBlocks) this.answers.push(output.buffer);
  }
}

const CHAIN = { sampleRateHz: 48_000, seed: 0, trackId: '', bpm: 120, effects: [{ id: 'v', type: 'vst2', plugin_id: 'x', params: { gain: 0.5 } }] };

/** Time after which a silent connection is given up, in milliseconds. */
const SILENCE_MS = 20_000;

/** An audio thread, a worker and services, without real threads. */
class Rig {
  services: FakeService[] = [];
  waiting: { action: () => void; ms: number }[] = [];
  /** The timers that notice the silence of a service. */
  watches: { action: () => void; ms: number }[] = [];
  report: WorkerReport | null = null;
  prepared = 0;
  readonly insert: LiveInsert;
  readonly link: LiveLink;
  readonly buffers: InsertBuffers = {
    input: [new Float32Array(BLOCK_FRAMES), new Float32Array(BLOCK_FRAMES)],
    output: [new Float32Array(BLOCK_FRAMES), new Float32Array(BLOCK_FRAMES)],
  };
  #frame = 0;

  constructor(isShared: boolean, chainFrames = 100, lanes: LiveLane[] = [], bufferBlocks: number | null = null) {
    const rings = isShared ? { sent: new SharedArrayBuffer(RING_BYTES), returned: new SharedArrayBuffer(RING_BYTES) } : null;
    const sentBlocks = new BlockRing(rings?.sent);
    const returned = rings ? new BlockRing(rings.returned) : null;
    const port: InsertPort = {
      onmessage: null,
      postMessage: (message) => {
        if (message.type === 'prepare') return this.link.prepare(message.songFrame, message.nextNumber);
        message.headers.forEach((header, index) => sentBlocks.put(header, message.values.slice(index * BLOCK_VALUES, (index + 1) * BLOCK_VALUES), true));
        this.link.pump();
      },
    };
    const tell = (message: ToAudioThread): void => port.onmessage?.({ data: message } as MessageEvent<ToAudioThread>);
    this.link = new LiveLink(sentBlocks, {
      connect: () => {
        const service = new FakeService(chainFrames);
        this.services.push(service);
        return service.socket;
      },
      later: (action, ms) => (ms < SILENCE_MS ? this.waiting : this.watches).push({ action, ms }),
      onBlock: (number, values) => {
        if (returned) returned.put({ number, flags: 0, songFrame: 0 }, values, true);
        else tell({ type: 'block', number, values });
      },
      onPrepared: (songFrame) => tell({ type: 'prepared', songFrame }),
      onLatency: (latency) => tell({ type: 'latency', chainFrames: latency }),
      onReport: (report) => (this.report = report),
    }, bufferBlocks ?? 0);
    this.insert = new LiveInsert(port, rings, () => undefined, () => (this.prepared += 1), bufferBlocks);
    this.link.setChain(CHAIN, lanes);
    this.link.open();
    this.service.open();
  }

  get service(): FakeService {
    const service = this.services.at(-1);
    if (!service) throw new Error('no connection');
    return service;
  }

  /** Renders frames in quanta of 128. Returns the output, null for frames that had not arrived. */
  render(quanta: number, isPlaying = true): (number | null)[] {
    const output: (number | null)[] = [];
    for (let quantum = 0; quantum < quanta; quantum += 1) {
      const frames = this.insert.framesOfBlock(128);
      expect(frames).toBe(128);
      const hasOutput = this.insert.fill(this.buffers, frames);
      for (let frame = 0; frame < frames; frame += 1) output.push(hasOutput ? (this.buffers.output[0][frame] ?? 0) : null);
      const start = this.#frame;
      for (const side of this.buffers.input) for (let frame = 0; frame < frames; frame += 1) side[frame] = start + frame + 1;
      this.insert.take(this.buffers, frames, this.#frame, isPlaying);
      this.#frame += frames;
      this.link.pump();
      this.service.deliver();
    }
    return output;
  }

  /** Begins at a frame of the song, as Play does. */
  play(frame = 0): void {
    this.#frame = frame;
    this.insert.prepare(frame);
    this.insert.start();
  }
}

describe.each([
  ['in shared memory', true],
  ['by messages', false],
] as const)('a live chain %s', (_, isShared) => {
  it('returns the processed input after the reported latency, to the frame', () => {
    const rig = new Rig(isShared);
    rig.play();
    expect(rig.prepared).toBe(1);
    const output = rig.render(100);
    const { latencyFrames, lateBlocks } = rig.insert;
    expect([latencyFrames, lateBlocks]).toEqual([12 * BLOCK_FRAMES + 100, 0]);
    output.forEach((value, frame) => expect(value).toBe(frame < latencyFrames ? 0 : 2 * (frame - latencyFrames + 1)));
  });

  it('waits for late blocks as long as the user chose', () => {
    const rig = new Rig(isShared, 100, [], 240);
    rig.play();
    const expected = (frame: number): number => (frame < latencyFrames ? 0 : 2 * (frame - latencyFrames + 1));
    const { latencyFrames } = rig.insert;
    expect(latencyFrames).toBe(240 * BLOCK_FRAMES + 100);
    const { service } = rig;
    const deliver = service.deliver.bind(service);
    const output = rig.render(100);
    // The service stops for 200 blocks.
    service.deliver = () => undefined;
    output.push(...rig.render(400));
    service.deliver = deliver;
    output.push(...rig.render(600));
    expect(rig.insert.lateBlocks).toBe(0);
    expect(rig.link.report.droppedBlocks).toBe(0);
    expect(output.findIndex((value, frame) => value !== expected(frame))).toBe(-1);
  });

  it('sends automation before the block that it concerns, in batches of four blocks', () => {
    const lanes: LiveLane[] = [{ effect: 'v', param: 'gain', points: [{ frame: 0, value: 3, curve: 'step' }, { frame: 1024, value: 5, curve: 'step' }] }];
    const rig = new Rig(isShared, 0, lanes);
    rig.play();
    rig.render(2 * 11);
    const names = rig.service.commands.map(({ cmd, value }) => (cmd === 'SET_PARAM' ? `gain ${String(value)}` : cmd));
    expect(names).toEqual(['chain', 'flush', 'gain 3', 'block', 'block', 'block', 'block', 'gain 5', 'block', 'block', 'block', 'block'].slice(0, names.length));
    expect(names.filter((name) => name === 'block').length).toBeGreaterThanOrEqual(7);
  });

  it('caps the queue, counts late blocks, and catches up', () => {
    const rig = new Rig(isShared, 0);
    rig.play();
    rig.render(40);
    rig.service.answersBlocks = false;
    const missing = rig.render(160);
    expect(missing.at(-1)).toBeNull();
    expect(rig.link.report.queuedBlocks).toBe(32);
    expect(rig.link.report.droppedBlocks).toBeGreaterThan(0);
    expect(rig.insert.lateBlocks).toBeGreaterThan(30);
    // The buffer has grown, at most to 32 blocks.
    expect(rig.insert.latencyFrames).toBeGreaterThan(12 * BLOCK_FRAMES);
    expect(rig.insert.latencyFrames).toBeLessThanOrEqual(32 * BLOCK_FRAMES);
  });

  it('connects again with the chain and the values that were set since', () => {
    const rig = new Rig(isShared, 64);
    rig.play();
    rig.render(40);
    rig.link.setParameter('v', 'gain', 4);
    rig.service.drop();
    expect(rig.report?.connection.kind).toBe('lost');
    const { latencyFrames } = rig.insert;
    rig.render(40);
    // The input keeps the latency while the service is out of reach.
    expect(rig.insert.latencyFrames).toBe(latencyFrames);
    const [secondBlock] = rig.waiting.splice(0);
    expect(secondBlock?.ms).toBe(500);
    secondBlock?.action();
    rig.service.open();
    expect(rig.service.commands[0]).toMatchObject({ cmd: 'chain', effects: [{ id: 'v', params: { gain: 4 } }] });
    const output = rig.render(120);
    expect(output.at(-1)).not.toBeNull();
    expect(rig.service.commands[1]).toMatchObject({ cmd: 'flush' });
    expect((rig.service.commands[1] as { frame: number }).frame).toBeGreaterThan(0);
  });

  it('sends nothing while the song is stopped and silent', () => {
    const rig = new Rig(isShared, 0);
    rig.play();
    rig.buffers.input.forEach((side) => side.fill(0));
    for (let quantum = 0; quantum < 900; quantum += 1) {
      rig.insert.fill(rig.buffers, 128);
      rig.insert.take(rig.buffers, 128, 0, false);
      rig.link.pump();
      rig.service.deliver();
    }
    expect(rig.insert.lateBlocks).toBe(0);
    const { length } = rig.service.commands;
    for (let quantum = 0; quantum < 100; quantum += 1) rig.insert.take(rig.buffers, 128, 0, false);
    rig.link.pump();
    expect(rig.service.commands).toHaveLength(length);
    rig.render(16, false);
    expect(rig.service.commands.slice(length).map(({ cmd }) => cmd)).toContain('block');
  });
});

describe('the link', () => {
  it('tries a plugin that cannot be opened again, eight times', () => {
    const rig = new Rig(true);
    for (let attempt = 1; attempt <= 9; attempt += 1) {
      rig.service.tell({ cmd: 'plugin_failed', effect: 'v', code: 'no', detail: 'cannot be opened', restarting: false });
      expect(rig.report?.plugins).toEqual([['v', { kind: 'missing', detail: 'cannot be opened' }]]);
      const waiting = rig.waiting.splice(0);
      expect(waiting.map(({ ms }) => ms)).toEqual(attempt <= 8 ? [500] : []);
      waiting.forEach(({ action }) => action());
    }
    expect(rig.service.commands.filter(({ cmd }) => cmd === 'chain')).toHaveLength(9);
    rig.service.tell({ cmd: 'plugin_ready', effect: 'v', name: 'X', latency: 0 });
    expect(rig.report?.plugins).toEqual([['v', { kind: 'running' }]]);
  });

  it('says that a plugin is late, and that it restarts', () => {
    const rig = new Rig(true);
    rig.service.tell({ cmd: 'plugin_late', effect: 'v', detail: 'slow' });
    expect(rig.report?.plugins[0]?.[1].kind).toBe('late');
    rig.waiting.splice(0).forEach(({ action }) => action());
    expect(rig.report?.plugins[0]?.[1].kind).toBe('running');
    rig.service.tell({ cmd: 'plugin_failed', effect: 'v', detail: 'ended', restarting: true });
    expect(rig.report?.plugins[0]?.[1]).toEqual({ kind: 'restarting', detail: 'ended' });
    expect(rig.waiting).toEqual([]);
  });

  it('reports the limit that keeps the service from running a plugin, until another chain', () => {
    const rig = new Rig(true);
    rig.service.tell({ cmd: 'error', code: 'invalid_value', detail: 'a value' });
    expect(rig.report?.refusal).toBeNull();
    rig.service.tell({ cmd: 'error', code: 'too_many_plugins', detail: 'effect 0 is left out: the account runs 8 plugins' });
    expect(rig.report?.refusal).toBe('the account runs 8 plugins');
    rig.link.setChain({ sampleRateHz: 48_000, seed: 1, trackId: 'lead', bpm: 120, effects: [] }, []);
    expect(rig.report?.refusal).toBeNull();
    expect(rig.service.commands.at(-1)).toMatchObject({ cmd: 'chain', track_id: 'lead' });
  });

  it('reports the figures of the service', () => {
    const rig = new Rig(true);
    expect(rig.report?.service).toBeNull();
    rig.link.askForFigures();
    expect(rig.service.commands.at(-1)).toEqual({ cmd: 'stats' });
    rig.service.tell({ cmd: 'stats', blocks: 9, mean_ms: 0.5, p99_ms: 2, plugins: [{ late_blocks: 3 }, { late_blocks: 4 }] });
    expect(rig.link.report.service).toEqual({ meanMs: 0.5, p99Ms: 2, dryBlocks: 7 });
  });

  it('lets Play wait for a slow flush', () => {
    const rig = new Rig(true);
    rig.service.answersFlushes = false;
    rig.insert.prepare(500);
    expect(rig.prepared).toBe(0);
    rig.service.tell({ cmd: 'flush_done' });
    expect(rig.prepared).toBe(1);
    expect(rig.service.commands.at(-1)).toEqual({ cmd: 'flush', frame: 500 });
  });
});

describe('a service that does not answer', () => {
  const silences = (rig: Rig): void => rig.watches.splice(0).forEach(({ action }) => action());

  it('is left and asked again', () => {
    const rig = new Rig(true);
    rig.play();
    rig.render(40);
    // It owes nothing, for as long as it likes.
    for (let time = 0; time < 3; time += 1) silences(rig);
    expect(rig.report?.connection.kind).toBe('open');
    rig.service.answersBlocks = false;
    rig.render(40);
    silences(rig);
    silences(rig);
    expect(rig.report?.connection).toEqual({ kind: 'lost', detail: 'the service has not answered for 20 seconds' });
    const [silentService] = rig.services;
    rig.waiting.splice(0).forEach(({ action }) => action());
    rig.service.open();
    // Late messages and the end of the first connection do not concern the second one.
    silentService?.drop();
    silentService?.tell({ cmd: 'plugin_failed', effect: 'v', detail: 'old', restarting: false });
    expect(rig.report?.connection.kind).toBe('open');
    expect(rig.report?.plugins).toEqual([['v', { kind: 'opening' }]]);
    expect(rig.render(120).at(-1)).not.toBeNull();
  });

  it('is left even if it never accepts the connection', () => {
    const rig = new Rig(true);
    rig.service.drop();
    rig.waiting.splice(0).forEach(({ action }) => action());
    silences(rig);
    expect(rig.report?.connection.kind).toBe('lost');
    expect(rig.waiting).toHaveLength(1);
  });
});

describe('a start of playback', () => {
  it('waits until the chain is clear for the newest position', () => {
    const rig = new Rig(true);
    rig.service.answersFlushes = false;
    rig.insert.prepare(500);
    rig.insert.prepare(9000);
    rig.service.tell({ cmd: 'flush_done' });
    expect(rig.prepared).toBe(0);
    expect(rig.service.commands.at(-1)).toEqual({ cmd: 'flush', frame: 9000 });
    rig.service.tell({ cmd: 'flush_done' });
    expect(rig.prepared).toBe(1);
  });

  it('that was stopped while it waited leaves nothing for the next one', () => {
    const rig = new Rig(true);
    rig.insert.prepare(500);
    rig.insert.cancel();
    rig.insert.start();
    rig.render(20);
    expect(rig.service.commands.filter(({ cmd }) => cmd === 'flush')).toHaveLength(2);
  });

  it('that did not wait any longer is cleared by itself, and so is the next one', () => {
    const rig = new Rig(true);
    rig.service.answersFlushes = false;
    rig.play();
    rig.service.tell({ cmd: 'flush_done' });
    rig.service.answersFlushes = true;
    rig.render(20);
    const count = (): number => rig.service.commands.filter(({ cmd }) => cmd === 'flush').length;
    const flushes = count();
    // A seek during playback.
    rig.insert.start();
    rig.render(20);
    expect(count()).toBe(flushes + 1);
  });
});

describe('automation', () => {
  it('that ends or is overridden leaves the values of the export', () => {
    const lane: LiveLane = { effect: 'v', param: 'gain', points: [{ frame: 0, value: 3, curve: 'step' }] };
    const rig = new Rig(true, 0, [lane]);
    rig.play();
    rig.render(20);
    rig.link.setParameter('v', 'gain', 7);
    rig.render(20);
    const values = rig.service.commands.filter(({ cmd }) => cmd === 'SET_PARAM').map(({ value }) => value);
    expect(values).toEqual([3, 7, 3]);
    rig.link.setLanes([]);
    expect(rig.service.commands.at(-1)).toMatchObject({ cmd: 'chain', effects: [{ id: 'v', params: { gain: 7 } }] });
  });


  it('has the values of the engine between its points', () => {
    const points = [
      { frame: 100, value: 0, curve: 'linear' as const },
      { frame: 200, value: 1, curve: 'step' as const },
      { frame: 300, value: 3, curve: 0.5 },
      { frame: 400, value: 7, curve: 'linear' as const },
    ];
    expect([0, 100, 150, 200, 299, 300, 350, 400, 900].map((frame) => laneValueAt(points, frame))).toEqual([0, 0, 0.5, 1, 1, 3, 4, 7, 7]);
    expect(laneValueAt([], 0)).toBeNull();
  });
});
