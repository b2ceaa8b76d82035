import type { Plan } from '../../config.ts'
import { DAY_MS } from '../../time.ts'

/** Workspaces that an account can own, by its plan, with the one that it begins with. */
export const WORKSPACES_BY_PLAN: Record<Plan, number> = {
  free: 1,
  starter: 3,
  pro: 10,
  business: 50,
  enterprise: 200,
}

export const MAX_MEMBERS = 500

/** Invitations of one workspace that nobody has accepted yet. */
export const MAX_OPEN_INVITATIONS = 100

export const INVITATION_LIFETIME_MS = 7 * DAY_MS

/** How long an owner can restore a deleted workspace. */
export const RESTORE_PERIOD_MS = 7 * DAY_MS

/**
 * Deleted workspaces that one account answers for and that can still be restored. Each keeps its data,
 * and the last one of a member is replaced by a new one.
 */
export const MAX_DELETED_WORKSPACES = 5
