import { getDomain } from 'tldts'

/**
 * The name that somebody registered below a public suffix: `example.co.uk` for `a.example.co.uk`. RFC 9989 finds
 * organisations by the tree walk; this list is the second opinion, and tells where a record has to be published.
 * @returns null for a public suffix itself
 */
export function registeredDomain(domain: string): string | null {
  return getDomain(domain, { allowPrivateDomains: true })
}
