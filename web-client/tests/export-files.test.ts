import { describe, expect, it } from 'vitest';
import type { ExportOptions } from '../src/api/endpoints';
import { filesOf } from '../src/rooms/dialogs/export/export-files';
import type { FormatCapabilities } from '../src/rooms/dialogs/export/export-formats';

const options: ExportOptions = {
  format: 'wav',
  bitDepth: 'float32',
  quality: null,
  noiseShaping: true,
  sampleRateHz: 44_100,
  targetLufs: -14,
  truePeakDb: -1,
  channelCheck: true,
  range: { start_tick: 0, end_tick: 960 },
  trackIds: null,
  title: 'Song',
  moreFormats: [],
  eachSection: false,
  tags: { artist: '', album: '', genre: '', year: null, comment: '', isrc: '', cover: null },
};

const wav: FormatCapabilities = {
  format: 'wav',
  name: 'WAV',
  purpose: 'for mastering and editing',
  has_cover: false,
  bit_depths: ['pcm16'],
  sample_rates_hz: [44_100, 48_000, 96_000],
  bit_rates_kbps: [],
  has_quality: false,
  bit_rate_default_kbps: null,
  quality_default: null,
};

const formats: FormatCapabilities[] = [
  wav,
  { ...wav, format: 'flac', bit_depths: ['pcm16', 'pcm24'] },
  {
    format: 'opus',
    name: 'Opus',
    purpose: 'smallest, for the web',
    has_cover: true,
    bit_depths: [],
    sample_rates_hz: [48_000],
    bit_rates_kbps: [96, 160],
    has_quality: false,
    bit_rate_default_kbps: 160,
    quality_default: null,
  },
];

describe('the files of an export', () => {
  it('are one file in the chosen format', () => {
    const [file, ...further] = filesOf(options, ['wav'], null, formats);
    expect(further).toEqual([]);
    expect(file).toEqual({
      format: 'wav',
      bitDepth: 'float32',
      quality: null,
      noiseShaping: true,
      sampleRateHz: 44_100,
      range: options.range,
      title: 'Song',
    });
  });

  it('have the chosen options in further formats as far as these support them', () => {
    const [, flac, opus] = filesOf(options, ['opus', 'flac'], null, formats);
    expect(flac).toMatchObject({ format: 'flac', bitDepth: 'pcm24', quality: null, noiseShaping: true, sampleRateHz: 44_100 });
    expect(opus).toMatchObject({
      format: 'opus',
      bitDepth: null,
      quality: { bitRateKbps: 160 },
      noiseShaping: false,
      sampleRateHz: 48_000,
      title: 'Song',
    });
  });

  it('are each section in each format', () => {
    const sections = [
      { name: 'Intro', range: { start_tick: 0, end_tick: 10 } },
      { name: 'Verse', range: { start_tick: 10, end_tick: 30 } },
    ];
    const files = filesOf(options, ['flac'], sections, formats);
    expect(files.map(({ title, format, range }) => [title, format, range?.start_tick])).toEqual([
      ['Song - 01 Intro', 'wav', 0],
      ['Song - 01 Intro', 'flac', 0],
      ['Song - 02 Verse', 'wav', 10],
      ['Song - 02 Verse', 'flac', 10],
    ]);
  });
});
