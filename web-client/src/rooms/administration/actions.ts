import type { AuditAction } from '../../api/types';

/** Descriptions of the actions of the audit log, in the order of the menu. */
const ACTIONS: readonly (readonly [action: AuditAction, description: string])[] = [
  ['log_in', 'Logged in'],
  ['log_in_failed', 'Failed to log in'],
  ['log_out', 'Logged out'],
  ['log_out_everywhere', 'Logged out everywhere'],
  ['password_changed', 'Changed the password'],
  ['password_change_failed', 'Failed to change the password'],
  ['password_reset', 'Reset a password'],
  ['account_registered', 'Registered'],
  ['api_key_created', 'Made an API key'],
  ['render_shared', 'Made a link to an export'],
  ['api_key_deleted', 'Deleted an API key'],
  ['user_created', 'Added a user'],
  ['role_changed', 'Changed a role'],
  ['user_disabled', 'Disabled a user'],
  ['user_enabled', 'Enabled a user'],
  ['quota_changed', 'Changed a quota'],
  ['throttling_lifted', 'Ended waits after failed log-ins'],
  ['invite_created', 'Invited somebody'],
  ['invite_deleted', 'Withdrew an invitation'],
  ['task_cancelled', 'Cancelled a task'],
  ['scan_started', 'Started a scan'],
  ['plugin_dir_added', 'Added a plugin folder'],
  ['plugin_dir_removed', 'Removed a plugin folder'],
  ['project_deleted', 'Deleted a project'],
  ['audio_deleted', 'Deleted an audio file'],
  ['soundfont_deleted', 'Deleted a SoundFont'],
];

export const ACTION_CHOICES = ACTIONS.map(([value, label]) => ({ value, label }));

/** Returns the description of an action, or its name if it has no description. */
export function describeAction(action: string): string {
  return ACTIONS.find(([knownAction]) => knownAction === action)?.[1] ?? action.replaceAll('_', ' ');
}
