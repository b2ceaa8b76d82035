import { Fault } from '../errors.ts'
import { parseHost } from '../net/address.ts'

/** The canonical form of a domain of a request. @throws Fault `invalid_request` */
export function requireDomain(text: string): string {
  const host = parseHost(text, 'domain')
  if (host.kind === 'name') return host.name
  const details = [{ path: 'domain', message: 'must be a domain name' }]
  throw new Fault('invalid_request', 'domain must be a domain name.', { details })
}
