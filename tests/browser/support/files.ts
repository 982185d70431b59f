/** Files that a user drags from a file manager to the page. */
import type { JSHandle, Page } from '@playwright/test';

/** Returns the dragged files, for the events of the page. */
export function draggedFiles(page: Page, files: Record<string, Buffer>): Promise<JSHandle<DataTransfer>> {
  return page.evaluateHandle(
    (encodedFiles) => {
      const transfer = new DataTransfer();
      for (const [name, encoded] of encodedFiles) {
        const bytes = Uint8Array.from(atob(encoded), (character) => character.charCodeAt(0));
        transfer.items.add(new File([bytes], name));
      }
      return transfer;
    },
    Object.entries(files).map(([name, file]) => [name, file.toString('base64')] as const),
  );
}

/** Drops a file on the page. */
export async function dropFile(page: Page, name: string, bytes: Buffer): Promise<void> {
  const dataTransfer = await draggedFiles(page, { [name]: bytes });
  for (const type of ['dragenter', 'dragover', 'drop']) {
    await page.dispatchEvent('body', type, { dataTransfer });
  }
}
