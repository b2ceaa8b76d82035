import { getDomain } from 'tldts'

/**
 * The domain that was registered below a public suffix: `example.co.uk` for `a.example.co.uk`. RFC
 * 9989 finds organizational domains by the tree walk; this list is a second opinion, and decides
 * where a record has to be published.
 * @returns null for a public suffix itself
 */
export function registeredDomain(domain: string): string | null {
  return getDomain(domain, { allowPrivateDomains: true })
}
