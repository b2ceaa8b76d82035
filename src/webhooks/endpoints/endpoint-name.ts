import { Fault, invalidField } from '../../errors.ts'
import { MAX_NAME_CHARS, MIN_NAME_CHARS } from '../limits.ts'

/** Whose endpoints may have a name: of no account, of administrators, or of all accounts. */
export type NamePolicy = 'off' | 'admins' | 'all'

const TOKEN = /^[A-Za-z0-9]{10}$/
const NAME = new RegExp(`^[a-z0-9][a-z0-9-]{${MIN_NAME_CHARS - 2},${MAX_NAME_CHARS - 2}}[a-z0-9]$`)

/** Names that could be taken for something of the service. */
const RESERVED = new Set([
  'account',
  'accounts',
  'administrator',
  'by-name',
  'endpoint',
  'endpoints',
  'favicon',
  'healthz',
  'openapi',
  'password',
  'portreeve',
  'readyz',
  'security',
  'settings',
  'sign-in',
  'sign-up',
  'support',
  'webhook',
  'webhooks',
])

/** Whether a part of a URL can be the token of an endpoint. */
export const isToken = (text: string): boolean => TOKEN.test(text)

/** Whether a part of a URL can be the chosen name of an endpoint. */
export const isName = (text: string): boolean => NAME.test(text) && !isToken(text)

/**
 * @throws Fault `invalid_request` for what cannot be a name, `forbidden` where this account must not
 *   choose one
 */
export function requireName(name: string, policy: NamePolicy, isAdministrator: boolean): void {
  if (policy === 'off' || (policy === 'admins' && !isAdministrator))
    throw new Fault(
      'forbidden',
      policy === 'off'
        ? 'Webhook endpoints cannot have a chosen name here (WEBHOOK_NAMES).'
        : 'Only administrators can choose names of webhook endpoints (WEBHOOK_NAMES).',
    )
  const message = problemOf(name)
  if (message !== null) throw invalidField('name', message, 'The name')
}

function problemOf(name: string): string | null {
  if (isToken(name))
    return 'must not be ten letters and digits without a hyphen, the form of a token'
  if (!isName(name))
    return `must have ${MIN_NAME_CHARS} to ${MAX_NAME_CHARS} lower-case letters, digits and hyphens, with none at its ends`
  return RESERVED.has(name) ? 'is reserved' : null
}

export function nameTaken(name: string): Fault {
  const message = 'is taken, or was until less than 90 days ago'
  return new Fault('conflict', `The name “${name}” ${message}. Choose another one.`, {
    details: [{ path: 'name', message }],
  })
}
