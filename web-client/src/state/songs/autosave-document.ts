/**
 * The form of an autosave: the project, with facts about the unsaved work in its field `client`.
 */
import type { Project } from '../../project/model';
import { normalizeProject } from '../../project/normalize';

/** Field with the revision on which the work is based. */
const BASE_REVISION = 'base_revision';
/** Field with the number of the edit in the window that wrote the autosave. */
const EDIT_NUMBER = 'edit_number';

/** Unsaved work that was read from the service or from this browser. */
export type UnsavedWork = {
  project: Project;
  /** The revision on which the work is based; null if the song was never saved. */
  baseRevision: number | null;
  editNumber: number;
};

export function autosaveDocument({ project, baseRevision, editNumber }: UnsavedWork): Project {
  return { ...project, client: { ...project.client, [BASE_REVISION]: baseRevision, [EDIT_NUMBER]: editNumber } };
}

/** Reads the document of an autosave. The edit number of an older page is 0. */
export function readAutosaveDocument(document: unknown): UnsavedWork {
  const { client, ...project } = normalizeProject(document);
  const { [BASE_REVISION]: base, [EDIT_NUMBER]: number, ...otherFields } = client ?? {};
  return {
    project: Object.keys(otherFields).length > 0 ? { ...project, client: otherFields } : project,
    baseRevision: typeof base === 'number' ? base : null,
    editNumber: typeof number === 'number' ? number : 0,
  };
}
