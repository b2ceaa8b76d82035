import type { LinkProps } from '@tanstack/react-router'
import type { AuditEntryRow } from './api.ts'

type Target = { to: NonNullable<LinkProps['to']>; params: Record<string, string> }

/** The screens of objects whose routes are below these paths. */
const SCREENS: [path: string, to: NonNullable<LinkProps['to']>][] = [
  ['/api/webhook/endpoints/:id', '/hooks/$id'],
  ['/api/v1/monitoring/hosts/:id', '/monitoring/$id'],
  ['/api/v1/dmarc/domains/:id', '/dmarc/$id'],
  ['/api/v1/delisting/:id', '/delisting/$id'],
  ['/api/v1/imap/migrate/:id', '/migrations/$id'],
  ['/api/v1/imap/batches/:id', '/migrations/batches/$id'],
  ['/api/v1/abuse/watched-networks/:id', '/attacks/networks/$id'],
  ['/api/v1/domains/:domain', '/domains/$domain'],
]

/** The screen of the object that an action changed; null without one, or once it is deleted. */
export function targetOf({ route, details }: AuditEntryRow): Target | null {
  const [method, path = ''] = route.split(' ')
  const screen = SCREENS.find(([of]) => path === of || path.startsWith(`${of}/`))
  if (!screen || (method === 'DELETE' && path === screen[0])) return null
  const [of, to] = screen
  const parameter = of.slice(of.lastIndexOf(':') + 1)
  const value = details[parameter]
  return typeof value === 'string' ? { to, params: { [parameter]: value } } : null
}

/** Fields that name the object of an action, the most telling first. */
const NAMES = ['name', 'label', 'domain', 'host', 'ip', 'address', 'email', 'account']

/** The name of the object that an action was about; null where the request had none. */
export function nameOf({ details }: AuditEntryRow): string | null {
  for (const field of NAMES) {
    const value = details[field]
    if (typeof value === 'string' && value !== '' && value !== HIDDEN) return value
  }
  return null
}

/** Stands for a value that may be secret. */
const HIDDEN = '…'

/** What an action changed: `responseStatus`, `200 → 202`. */
export function changesOf({ details }: AuditEntryRow): [field: string, change: string][] {
  const { changed } = details
  if (typeof changed !== 'object' || changed === null) return []
  return Object.entries(changed).map(([field, change]) => [field, String(change)])
}

/** Whether a name is an IP address, which has a page of its own. */
export const isAddress = (name: string) =>
  /^\d{1,3}(\.\d{1,3}){3}$/.test(name) || /^[\da-f:.]*:[\da-f:.]*:[\da-f:.]*$/i.test(name)
