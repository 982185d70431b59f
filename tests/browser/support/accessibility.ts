/** Checks the accessibility of what the page shows with axe-core. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from '@playwright/test';
import type { AxeResults } from 'axe-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/**
 * Returns the violations, one line for each element. An empty list means that axe found nothing.
 * `selector` limits the check to a part of the page.
 */
export async function violationsOf(page: Page, selector = 'html'): Promise<string[]> {
  // The debugger evaluates the text, so the page's content security policy does not refuse it.
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(AXE);
  const { violations } = await page.evaluate(async (context) => {
    const { axe } = window as unknown as { axe: { run: (context: string) => Promise<AxeResults> } };
    return axe.run(context);
  }, selector);
  return violations.flatMap(({ id, nodes }) => nodes.map(({ target, any, all }) => `${id}: ${target.join(' ')} (${[...any, ...all][0]?.message ?? ''})`));
}
