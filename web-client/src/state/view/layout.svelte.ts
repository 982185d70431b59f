/** Sizes and visibility of the parts of the page, stored in this browser. */
import { readStored, writeStored } from '../local-storage';

/**
 * Width in CSS pixels below which the page counts as narrow. Narrow pages have their own choice of
 * visible parts; at first only the editor is visible.
 */
const NARROW_PX = 1200;

type Sizes = { browserPx: number; headersPx: number; editorPx: number; mixerPx: number };
/** Whether each part of the page is visible. */
type Visibility = { browser: boolean; editor: boolean; mixer: boolean };
type StoredLayout = { sizes: Sizes; wide: Visibility; narrow: Visibility };

const LIMITS: Record<keyof Sizes, { min: number; max: number; initial: number }> = {
  browserPx: { min: 200, max: 420, initial: 252 },
  headersPx: { min: 196, max: 360, initial: 214 },
  editorPx: { min: 180, max: 640, initial: 316 },
  mixerPx: { min: 190, max: 1100, initial: 540 },
};

function isLayout(value: unknown): value is StoredLayout {
  const layout = value as Partial<StoredLayout> | null;
  const sizes = layout?.sizes;
  return (
    !!sizes &&
    (Object.keys(LIMITS) as (keyof Sizes)[]).every((sizeName) => Number.isFinite(sizes[sizeName])) &&
    [layout.wide, layout.narrow].every(
      (visibility) => !!visibility && [visibility.browser, visibility.editor, visibility.mixer].every((flag) => typeof flag === 'boolean'),
    )
  );
}

export class Layout {
  sizes = $state<Sizes>({
    browserPx: LIMITS.browserPx.initial,
    headersPx: LIMITS.headersPx.initial,
    editorPx: LIMITS.editorPx.initial,
    mixerPx: LIMITS.mixerPx.initial,
  });
  #wideVisibility = $state<Visibility>({ browser: true, editor: true, mixer: true });
  #narrowVisibility = $state<Visibility>({ browser: false, editor: true, mixer: false });
  isNarrow = $state(false);
  /** Whether the editor fills the page, without the arrangement and the mixer. */
  isEditorMaximized = $state(false);
  visiblePanels = $derived(this.isNarrow ? this.#narrowVisibility : this.#wideVisibility);

  constructor() {
    const storedLayout = readStored<StoredLayout | null>('layout', null, (value): value is StoredLayout | null =>
      isLayout(value),
    );
    if (storedLayout) {
      for (const sizeName of Object.keys(LIMITS) as (keyof Sizes)[]) this.resize(sizeName, storedLayout.sizes[sizeName]);
      this.#wideVisibility = storedLayout.wide;
      this.#narrowVisibility = storedLayout.narrow;
    }
    const media = window.matchMedia(`(max-width: ${NARROW_PX - 1}px)`);
    this.isNarrow = media.matches;
    media.addEventListener('change', () => (this.isNarrow = media.matches));
  }

  limits(sizeName: keyof Sizes): { min: number; max: number; initial: number } {
    return LIMITS[sizeName];
  }

  /** Sets a size in CSS pixels, limited to the range of {@link LIMITS}. */
  resize(sizeName: keyof Sizes, px: number): void {
    const { min, max } = LIMITS[sizeName];
    this.sizes[sizeName] = Math.round(Math.min(max, Math.max(min, px)));
  }

  toggle(part: keyof Visibility): void {
    this.visiblePanels[part] = !this.visiblePanels[part];
    this.remember();
  }

  toggleMaximizedEditor(): void {
    this.isEditorMaximized = !this.isEditorMaximized;
    if (this.isEditorMaximized) this.show('editor');
  }

  show(part: keyof Visibility): void {
    this.visiblePanels[part] = true;
    this.remember();
  }

  remember(): void {
    writeStored('layout', {
      sizes: $state.snapshot(this.sizes),
      wide: $state.snapshot(this.#wideVisibility),
      narrow: $state.snapshot(this.#narrowVisibility),
    });
  }
}
