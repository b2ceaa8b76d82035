import type { AccountAddress } from '../migrations.sql.ts'

/** The server of an account, with a port that is not the usual one: another program may listen there. */
export function serverOf({ host, port }: AccountAddress): string {
  if (port === 993 || port === 143) return host
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}

/** An account as owners agree to it: with the administrator, whose name can be part of the user’s. */
export function describeAccount(address: AccountAddress): string {
  const { user, administrator } = address
  const as = administrator ? `, opened by ${administrator.user}` : ''
  return `${user} on ${serverOf(address)}${as}`
}
