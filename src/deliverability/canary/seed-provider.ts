import { KNOWN_HOSTS } from '../../mail-credentials/providers.ts'
import { parseHost } from '../../net/address.ts'
import { registeredDomain } from '../../protocols/dmarc/public-suffix.ts'

/** Who filters the mail of a mailbox: a known provider by its IMAP server, else its domain. */
export function seedProvider(host: string): string {
  const known = KNOWN_HOSTS.find(({ hosts }) => hosts.includes(host.toLowerCase()))
  if (known) return known.id
  const parsed = parseHost(host)
  if (parsed.kind === 'ip') return parsed.address
  return registeredDomain(parsed.name) ?? parsed.name
}
