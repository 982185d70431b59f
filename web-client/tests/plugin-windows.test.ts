import { beforeEach, describe, expect, it, vi } from 'vitest';
import { pictureScale } from '../src/rooms/plugin/plugin-picture-scale';
import { insidePage, layoutOf, rememberLayout, wholeInPage } from '../src/state/view/plugin-window-layout';

describe('the scale of a picture', () => {
  const room = { width: 1400, height: 800 };
  const scaleOf = (width: number, ratio: number, zoom = 1): ReturnType<typeof pictureScale> => pictureScale({ width, height: 100 }, room, ratio, zoom);

  it('covers whole pixels of the screen', () => {
    expect(scaleOf(600, 1)).toEqual({ scale: 1, isSharp: true });
    expect(scaleOf(600, 2)).toEqual({ scale: 1, isSharp: true });
    expect(scaleOf(600, 1.5)).toEqual({ scale: 2 / 1.5, isSharp: true });
    expect(scaleOf(600, 1.25)).toEqual({ scale: 1 / 1.25, isSharp: true });
    expect(scaleOf(600, 1, 2)).toEqual({ scale: 2, isSharp: true });
  });

  it('is smaller only where there is too little room', () => {
    expect(scaleOf(1400, 1, 2)).toEqual({ scale: 1, isSharp: true });
    expect(scaleOf(1750, 1)).toEqual({ scale: 0.8, isSharp: false });
    expect(scaleOf(1750, 2)).toEqual({ scale: 0.8, isSharp: false });
    expect(scaleOf(2500, 2)).toEqual({ scale: 0.5, isSharp: true });
    expect(pictureScale({ width: 100, height: 100 }, { width: -2, height: 50 }, 1, 1).scale).toBeGreaterThan(0);
  });
});

describe('the layout of windows', () => {
  beforeEach(() => {
    const stored = new Map<string, string>();
    vi.stubGlobal('localStorage', { getItem: (key: string) => stored.get(key) ?? null, setItem: (key: string, text: string) => stored.set(key, text) });
  });

  it('is remembered for each plugin of a song, and for the plugin in other songs', () => {
    expect(layoutOf('reverb track', 'reverb', 0)).toEqual({ x: 80, y: 70, isDocked: false, zoom: 1 });
    expect(layoutOf('reverb track', 'reverb', 2)).toMatchObject({ x: 136, y: 126 });
    rememberLayout('reverb track', 'reverb', { x: 5, y: 6, isDocked: true, zoom: 2 });
    rememberLayout('reverb master', 'reverb', { x: 7, y: 8, isDocked: false, zoom: 1 });
    expect(layoutOf('reverb track', 'reverb', 0)).toEqual({ x: 5, y: 6, isDocked: true, zoom: 2 });
    expect(layoutOf('reverb other', 'reverb', 0)).toEqual({ x: 7, y: 8, isDocked: false, zoom: 1 });
  });

  it('ignores damaged values', () => {
    localStorage.setItem('songfoundry.plugin-windows', '{"reverb":{"x":"5"}}');
    expect(layoutOf('reverb track', 'reverb', 0)).toMatchObject({ x: 80 });
  });

  it('keeps panels within the page', () => {
    const page = { width: 1024, height: 768 };
    expect(wholeInPage({ x: 900, y: 700 }, { width: 400, height: 200 }, page)).toEqual({ x: 624, y: 568 });
    expect(wholeInPage({ x: -5, y: 9 }, { width: 2000, height: 900 }, page)).toEqual({ x: 0, y: 0 });
    expect(insidePage({ x: 2000, y: -3 }, 1024, 768)).toEqual({ x: 964, y: 0 });
  });
});
