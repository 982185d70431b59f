/** Names of the formats and qualities of exported files. */
import type { BitDepth, Capabilities, ExportFormat } from '../../../api/types';
import type { FileQuality } from '../../../api/endpoints';

/** The options that a format supports. */
export type FormatCapabilities = Capabilities['export']['by_format'][number];

/** Returns the name of a format; its id if the service no longer has the format. */
export const exportFormatName = (formats: readonly FormatCapabilities[], format: ExportFormat): string =>
  formats.find((capability) => capability.format === format)?.name ?? format;

/** Returns the name of a bit depth, for example `16 bit, dithered`. */
export const depthName = (depth: BitDepth): string =>
  depth === 'float32' ? '32-bit float' : `${depth.replace('pcm', '')} bit, dithered`;

/**
 * Whether noise shaping has an effect. Only integers have quantization noise, and the service has
 * no noise-shaping filter for 96 kHz.
 */
export const canShapeNoise = (bitDepth: BitDepth | null, sampleRateHz: number): boolean =>
  bitDepth !== null && bitDepth !== 'float32' && sampleRateHz < 96_000;

/** The qualities of variable bit rates in the order of the menu; 10 is the best. */
const QUALITIES = [10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0];

/** Returns the key of a quality's menu item; empty without a quality. */
export const qualityKeyOf = (quality: FileQuality | null): string => {
  if (quality === null) return '';
  return 'bitRateKbps' in quality ? `rate-${quality.bitRateKbps}` : `quality-${quality.quality}`;
};

/** A quality with its name and the key of its menu item. */
export type QualityChoice = { key: string; name: string; quality: FileQuality };

/** Returns the qualities of a format for a menu; none for lossless formats. */
export function qualityChoices(format: FormatCapabilities): QualityChoice[] {
  const kind = format.format === 'mp3' ? 'constant' : 'on average';
  const rates = [...format.bit_rates_kbps].reverse().map((kbps) => ({
    name: `${kbps} kbit/s, ${kind}`,
    quality: { bitRateKbps: kbps },
  }));
  const variable = format.has_quality ? QUALITIES : [];
  const choices = [
    ...rates,
    ...variable.map((quality) => ({ name: `Quality ${quality} of 10, variable bit rate`, quality: { quality } })),
  ];
  return choices.map((choice) => ({ key: qualityKeyOf(choice.quality), ...choice }));
}

/** Returns the key of the menu item that is a format's default; empty for lossless formats. */
export const defaultQualityKey = (format: FormatCapabilities): string => {
  if (format.bit_rate_default_kbps !== null) return qualityKeyOf({ bitRateKbps: format.bit_rate_default_kbps });
  return qualityKeyOf(format.quality_default === null ? null : { quality: format.quality_default });
};

/** Returns the lowest sample rate of a format that is at least that of the song, or its highest. */
export const rateFor = (format: FormatCapabilities, songRateHz: number): number =>
  format.sample_rates_hz.find((rate) => rate >= songRateHz) ?? format.sample_rates_hz.at(-1) ?? songRateHz;
