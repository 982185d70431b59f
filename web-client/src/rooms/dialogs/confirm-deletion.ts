import { LazyPart } from '../../ui/lazy-part';

/** The properties of a question before something is deleted. */
export type ConfirmDeletionProps = {
  title: string;
  description: string;
  note: string;
  /** Text of the button that deletes. */
  confirmLabel: string;
  onconfirm: () => void;
  onclose: () => void;
};

export const CONFIRM_DELETION = new LazyPart<ConfirmDeletionProps>('The question before the deletion', () => import('./confirm-deletion.svelte'));
