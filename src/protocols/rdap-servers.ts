import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../version.ts'

/** Base URLs of RDAP servers by suffix (`data/rdap-servers.json`). */
export const RDAP_SERVERS: Readonly<Record<string, string>> = (
  JSON.parse(readFileSync(join(ROOT, 'data', 'rdap-servers.json'), 'utf8')) as {
    servers: Record<string, string>
  }
).servers

/**
 * The URL of a registered domain at its registry (RFC 9082, 3.1.3), by the longest known suffix
 * (RFC 9224, 4).
 * @returns null when no RDAP server is known for its suffix
 */
export function rdapUrl(
  domain: string,
  servers: Readonly<Record<string, string>> = RDAP_SERVERS,
): URL | null {
  const labels = domain.split('.')
  for (let at = 1; at < labels.length; at++) {
    const suffix = labels.slice(at).join('.')
    if (Object.hasOwn(servers, suffix)) return new URL(`domain/${domain}`, servers[suffix])
  }
  return null
}
