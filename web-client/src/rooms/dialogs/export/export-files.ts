/** The files of an export: each part of the song in each format. */
import type { ExportFile, ExportOptions } from '../../../api/endpoints';
import type { ExportFormat } from '../../../api/types';
import { canShapeNoise, defaultQualityKey, qualityChoices, rateFor, type FormatCapabilities } from './export-formats';
import type { Section } from './song-parts';

/** Maximum number of files of an export, as in the service. */
export const FILES_MAX = 32;

/**
 * Returns the options of a further format: those of the chosen format that the further format also
 * supports, and the further format's default quality.
 */
function inFormat(options: ExportOptions, format: FormatCapabilities): Omit<ExportFile, 'range' | 'title'> {
  const { bitDepth, noiseShaping } = options;
  const sampleRateHz = rateFor(format, options.sampleRateHz) as ExportFile['sampleRateHz'];
  const depths = format.bit_depths;
  const depth = bitDepth !== null && depths.includes(bitDepth) ? bitDepth : (depths.at(-1) ?? null);
  const quality = qualityChoices(format).find(({ key }) => key === defaultQualityKey(format))?.quality ?? null;
  const isShaped = noiseShaping && canShapeNoise(depth, sampleRateHz);
  return { format: format.format, bitDepth: depth, quality, noiseShaping: isShaped, sampleRateHz };
}

/**
 * Returns the files of an export, the first one in the chosen format. With `sections`, there are
 * files for each section instead of the chosen part.
 */
export function filesOf(
  options: ExportOptions,
  moreFormats: readonly ExportFormat[],
  sections: readonly Section[] | null,
  formats: readonly FormatCapabilities[],
): [ExportFile, ...ExportFile[]] {
  const { format, bitDepth, quality, noiseShaping, sampleRateHz, range, title } = options;
  const firstFormat = { format, bitDepth, quality, noiseShaping, sampleRateHz };
  const further = formats.filter((capability) => capability.format !== format && moreFormats.includes(capability.format));
  const variants = [firstFormat, ...further.map((furtherFormat) => inFormat(options, furtherFormat))];
  const number = (index: number): string => String(index + 1).padStart(2, '0');
  const parts = sections?.map((section, index) => ({
    range: section.range,
    title: `${title} - ${number(index)} ${section.name}`,
  })) ?? [{ range, title }];
  const files = parts.flatMap((part) => variants.map((variant) => ({ ...variant, ...part })));
  return files as [ExportFile, ...ExportFile[]];
}
