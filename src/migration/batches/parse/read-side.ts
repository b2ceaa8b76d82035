import { Fault } from '../../../errors.ts'
import { parseHost, trimInvisible } from '../../../net/address.ts'
import { breaksCommand } from '../../../net/imap/connection/command-encoding.ts'
import type { Administrator } from '../../../net/imap/connection/imap-sign-in.ts'
import type { AccountAddress } from '../../migrations.sql.ts'
import type { Field } from './columns.ts'

export type SideName = 'source' | 'destination'

/** The address of an account as far as a line has it. */
export type PartialAddress = Partial<AccountAddress>

/** Values for everything that a line does not have. */
export type SideDefaults = {
  host?: string
  port?: number
  secure?: boolean
  user?: string
  password?: string
  tlsVerify?: boolean
  /** Whose password opens the mailboxes. */
  administrator?: Administrator
  /** A sign-in at the provider, for lines without a password. */
  credentialId?: string
  /** The owners of mailboxes without a password sign in by a link. */
  owner?: boolean
  /** Kept of a side whose owner has signed in. */
  byOwner?: true
}

export type ReadSide = { address: PartialAddress; password: string; problems: string[] }

export const MAX_USER_CHARS = 500
export const MAX_PASSWORD_CHARS = 1_000
const MAX_HOST_CHARS = 255

/**
 * Reads one side of a line.
 * @param cellOf returns the value of a field, "" if the line has none
 * @param fallback the other side’s user and password, where they are used for this one
 */
export function readSide(
  side: SideName,
  cellOf: (field: Field) => string,
  defaults: SideDefaults,
  fallback: { user: string; password: string },
): ReadSide {
  const problems: string[] = []
  const value = (part: string) => trimInvisible(cellOf(`${side}${part}` as Field))
  const user =
    value('User') ||
    value('Email') ||
    trimInvisible(cellOf('user')) ||
    defaults.user ||
    fallback.user
  const own = cellOf(`${side}Password`) || cellOf('password') || defaults.password
  // The password of the source is not tried at a destination that has a sign-in.
  const credentialId = own ? undefined : defaults.credentialId
  const waitsForOwner = !own && credentialId === undefined && defaults.owner === true
  const password = own || (credentialId === undefined && !waitsForOwner ? fallback.password : '')
  const port = readPort(value('Port'), side, problems) ?? defaults.port
  const secure = readSecurity(value('Security'), port, side, problems) ?? defaults.secure
  const host = readHost(value('Host') || defaults.host || '', side, problems)
  if (user === '') problems.push(`The ${side} user is missing.`)
  if (user.length > MAX_USER_CHARS) problems.push(`The ${side} user is too long.`)
  if (password === '' && credentialId === undefined && !waitsForOwner)
    problems.push(`The ${side} password is missing.`)
  if (password.length > MAX_PASSWORD_CHARS) problems.push(`The ${side} password is too long.`)
  const { user: administrator = '', separator = '' } = defaults.administrator ?? {}
  if ([user, password, administrator, separator].some(breaksCommand))
    problems.push(`The ${side} user and password must not have control characters.`)
  const isImplicit = secure ?? port !== 143
  const address = {
    ...(host && { host }),
    port: port ?? (isImplicit ? 993 : 143),
    secure: isImplicit,
    ...(user && { user: user.slice(0, MAX_USER_CHARS) }),
    tlsVerify: defaults.tlsVerify ?? true,
    ...(defaults.administrator && { administrator: defaults.administrator }),
    ...(credentialId !== undefined && { credentialId }),
    ...(waitsForOwner && { waitsForOwner: true as const }),
    ...(defaults.byOwner && { byOwner: true as const }),
  }
  return { address, password, problems }
}

function readHost(text: string, side: SideName, problems: string[]): string | undefined {
  if (text === '') {
    problems.push(`The ${side} host is missing.`)
    return undefined
  }
  try {
    if (text.length > MAX_HOST_CHARS) throw new Fault('invalid_request', 'It is too long.')
    const host = parseHost(text)
    return host.kind === 'ip' ? host.address : host.name
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    problems.push(`The ${side} host is not valid.`)
    return undefined
  }
}

function readPort(text: string, side: SideName, problems: string[]): number | undefined {
  if (text === '') return undefined
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0
  if (port >= 1 && port <= 65_535) return port
  problems.push(`The ${side} port must be a number from 1 to 65535.`)
  return undefined
}

const IMPLICIT_TLS = new Set(['ssl', 'ssl/tls', 'imaps', 'implicit', 'true', 'yes', '1', 'on'])
const STARTTLS = new Set(['starttls', 'none', 'plain', 'imap', 'false', 'no', '0', 'off'])

/** Whether TLS is implicit. “tls” means STARTTLS to some programs and TLS to others: the port tells. */
function readSecurity(
  text: string,
  port: number | undefined,
  side: SideName,
  problems: string[],
): boolean | undefined {
  const word = text.toLowerCase()
  if (word === '') return undefined
  if (word === 'tls') return port !== 143
  if (IMPLICIT_TLS.has(word)) return true
  if (STARTTLS.has(word)) return false
  problems.push(`The ${side} security must be “ssl” or “starttls”.`)
  return undefined
}
