import { useQuery } from '@tanstack/react-query'
import type { Role } from '../api.ts'
import { accountQuery } from '../queries.ts'
import { roles as messages } from './messages.ts'

/** From the most to the least powerful. */
export const ROLES = Object.keys(messages.names) as Role[]

/** Whether a role allows what the needed role allows. */
export function isAtLeast(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) <= ROLES.indexOf(needed)
}

/** Whether the signed-in account has at least this role in the workspace; false until loaded. */
export function useHasRole(needed: Role): boolean {
  const { data: account } = useQuery(accountQuery)
  return account ? isAtLeast(account.role, needed) : false
}

/**
 * Properties of the controls of an action that needs a role: disables them with the reason where
 * the signed-in account lacks it. Every action that the API would reject has them.
 */
export function useAccess(needed: Role = 'member'): { disabledReason?: string } {
  const { data: account } = useQuery(accountQuery)
  if (!account || isAtLeast(account.role, needed)) return {}
  return { disabledReason: messages.missing[needed] }
}
