/** Tests of the player with a fake engine. */
import type { EngineClient as Engine } from '@songfoundry/web-worklet';
import { beforeEach, describe, expect, it, vi } from 'vitest';

import { Api } from '../src/api/client';
import { Player } from '../src/engine/player.svelte';
import { setLoop } from '../src/project/loop';
import { emptyProject } from '../src/project/normalize';

const create = vi.hoisted(() => vi.fn());

vi.mock('@songfoundry/web-worklet', () => ({
  MAX_BANKS: 64,
  KEPT_BLOCKS_MAX: 6,
  STREAM_CHANNELS: 4,
  EngineClient: { create },
  EngineUnavailableError: class extends Error {
    readonly reason = 'no_wasm';
  },
}));
vi.mock('../src/engine/build-urls', () => ({ PROCESSOR_URL: '', WASM_URL: '' }));

const PROJECT = emptyProject();

type FakeEngine = Engine & { calls: string[]; fail: (detail: string) => void };

/** Makes an engine that records its calls. Its `play` waits for `resume`. */
function fakeEngine(resume: Promise<void> = Promise.resolve()): FakeEngine {
  const calls: string[] = [];
  let fail: (detail: string) => void = () => undefined;
  const engine = {
    calls,
    fail: (detail: string) => fail(detail),
    context: { sampleRate: PROJECT.sample_rate_hz, state: 'running', outputLatency: 0, baseLatency: 0 },
    hasEnded: false,
    onStatus: () => undefined,
    onRefused: () => undefined,
    onFailure: (listener: (detail: string) => void) => (fail = listener),
    onWantedAudio: () => undefined,
    watchReductions: () => undefined,
    setMasterGain: () => undefined,
    setMetronome: () => undefined,
    setBeats: () => undefined,
    setLoop: (loop: unknown) => calls.push(`loop ${JSON.stringify(loop)}`),
    setProject: () => {
      calls.push('session');
      return Promise.resolve({ trackIds: [], lengthFrames: 0 });
    },
    tickToFrame: (tick: number) => tick,
    seek: (frame: number) => calls.push(`seek ${frame}`),
    play: async () => {
      await resume;
      calls.push('play');
    },
    stop: () => calls.push('stop'),
    close: () => Promise.resolve(),
  };
  return engine as unknown as FakeEngine;
}

const HOST = {
  defaultSoundfontId: () => null,
  instrumentSound: () => 'client' as const,
  kindOf: () => null,
  audioFileName: () => null,
  reportFailure: (action: string): void => expect.fail(action),
};

function newPlayer(failed: (action: string, error: unknown) => void = (action) => expect.fail(action)): Player {
  return new Player({} as Api, { ...HOST, reportFailure: failed });
}

beforeEach(() => {
  create.mockReset();
});

describe('the player', () => {
  it('waits for the engine, plays and stops', async () => {
    const engine = fakeEngine();
    create.mockResolvedValue(engine);
    const player = newPlayer();
    void player.sync(PROJECT);
    const started = player.play();
    expect([player.state.kind, player.transport]).toEqual(['off', 'waiting']);
    await started;
    expect([player.state.kind, player.transport]).toEqual(['ready', 'playing']);
    player.stop();
    expect(player.transport).toBe('stopped');
    expect(engine.calls).toEqual(['session', 'seek 0', 'seek 0', 'play', 'stop']);
  });

  it('ends a loop that is switched off while the engine receives the song', async () => {
    const engine = fakeEngine();
    create.mockResolvedValue(engine);
    const player = newPlayer();
    const loop = { startTick: 0, endTick: 3840 };
    const setProject = engine.setProject.bind(engine);
    engine.setProject = (...parameters) => {
      void player.sync(setLoop(PROJECT, { ...loop, active: false }));
      return setProject(...parameters);
    };
    await player.sync(setLoop(PROJECT, { ...loop, active: true }));
    expect(engine.calls.filter((call) => call.startsWith('loop')).at(-1) ?? 'loop null').toBe('loop null');
  });

  it('makes a new session after an edit of the mix if plugins process the mix', async () => {
    vi.useFakeTimers();
    vi.stubGlobal('fetch', () => new Promise(() => undefined));
    try {
      for (const [effects, sessions] of [
        [[], 1],
        [[{ id: 'v', type: 'vst2', plugin_id: 'x' }], 2],
      ] as const) {
        const engine = fakeEngine();
        create.mockResolvedValueOnce(engine);
        const player = new Player(new Api('http://songs.test'), HOST);
        const song = { ...PROJECT, master: { ...PROJECT.master, effects: [...effects] } };
        await player.sync(song);
        await player.sync({ ...song, master: { ...song.master, volume_db: -6 } });
        await vi.advanceTimersByTimeAsync(400);
        expect(engine.calls.filter((call) => call === 'session')).toHaveLength(sessions);
        player.pluginSounds.stop();
      }
    } finally {
      vi.useRealTimers();
      vi.unstubAllGlobals();
    }
  });

  it('does not play if it is stopped while it waits', async () => {
    const engine = fakeEngine();
    create.mockResolvedValue(engine);
    const player = newPlayer();
    void player.sync(PROJECT);
    const started = player.play();
    player.stop();
    await started;
    expect(player.transport).toBe('stopped');
    expect(engine.calls).not.toContain('play');
  });

  it('stops the engine if it is stopped while the browser resumes the audio output', async () => {
    let resume: () => void = () => undefined;
    const engine = fakeEngine(new Promise((resolve) => (resume = resolve)));
    create.mockResolvedValue(engine);
    const player = newPlayer();
    await player.sync(PROJECT);
    const started = player.play();
    await vi.waitFor(() => expect(engine.calls).toEqual(['session', 'seek 0', 'seek 0']));
    player.stop();
    resume();
    await started;
    expect(player.transport).toBe('stopped');
    expect(engine.calls.slice(-2)).toEqual(['play', 'stop']);
  });

  it('is off after the engine has failed, and the next Play starts another engine', async () => {
    const [first, second] = [fakeEngine(), fakeEngine()];
    create.mockResolvedValueOnce(first).mockResolvedValueOnce(second);
    const failures: string[] = [];
    const player = newPlayer((action, error) => failures.push(`${action}: ${(error as Error).message}`));
    await player.sync(PROJECT);
    await player.play();
    first.fail('out of memory');
    expect([player.state.kind, player.transport]).toEqual(['off', 'stopped']);
    expect(failures).toEqual(['The sound engine failed: out of memory. Press Play to start it again.']);
    await player.play();
    expect([player.engine, player.transport]).toEqual([second, 'playing']);
  });

  it('stays unavailable if the browser cannot run the engine, even when SoundFonts change', async () => {
    create.mockImplementation(() => Promise.reject(new Error('it was refused')));
    const player = newPlayer();
    await player.sync(PROJECT);
    expect(player.state).toEqual({ kind: 'unavailable', reason: 'not_loaded', detail: 'it was refused.' });
    player.reloadSoundFonts();
    await player.play();
    expect([player.state.kind, player.transport]).toEqual(['unavailable', 'stopped']);
    expect(create).toHaveBeenCalledTimes(1);
  });

  it('makes a new session only for edits that need one', async () => {
    const engine = fakeEngine();
    create.mockResolvedValue(engine);
    const player = newPlayer();
    await player.sync(PROJECT);
    await player.sync({ ...PROJECT, name: 'Renamed' });
    expect(engine.calls).toEqual(['session', 'seek 0']);
    await player.sync({ ...PROJECT, tempo_map: [{ tick: 0, bpm: 90 }] });
    expect(engine.calls).toEqual(['session', 'seek 0', 'session', 'seek 0']);
  });
});
