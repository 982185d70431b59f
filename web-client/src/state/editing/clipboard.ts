/**
 * The clipboard for clips and tracks. It keeps its content when another song is opened, and shares
 * it with the other windows of this browser.
 */
import { isClipboardContent, type ClipboardContent } from '../../project/clipboard-content';
import { readStored, writeStored } from '../local-storage';

const STORAGE_KEY = 'clipboard';
/** Maximum length of content that other windows get. Browsers limit their storage to about 5 MB. */
const SHARED_MAX_CHARS = 1_000_000;

type Stamped = { stamp: number; content: ClipboardContent | null };

function isStamped(value: unknown): value is Stamped {
  const stamped = value as Partial<Stamped> | null;
  return typeof stamped?.stamp === 'number' && (stamped.content === null || isClipboardContent(stamped.content));
}

export class Clipboard {
  #own: Stamped = { stamp: 0, content: null };

  /** The content that was copied last, here or in another window; null if there is none. */
  get content(): ClipboardContent | null {
    const sharedContent = readStored<Stamped>(STORAGE_KEY, { stamp: 0, content: null }, isStamped);
    return sharedContent.stamp > this.#own.stamp ? sharedContent.content : this.#own.content;
  }

  copy(content: ClipboardContent): void {
    this.#own = { stamp: Date.now(), content };
    const isShared = JSON.stringify(content).length <= SHARED_MAX_CHARS;
    writeStored(STORAGE_KEY, isShared ? this.#own : null);
  }
}
