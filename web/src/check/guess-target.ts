/** A recognized input: an address to check on blocklists, or a domain for all other checks. */
export type CheckTarget = { kind: 'address' | 'domain'; name: string }

/**
 * Recognizes a domain, an IPv4 address, a web address (its host), or an email address (its domain).
 * The service validates the name.
 * @returns null when there is nothing to check
 */
export function guessTarget(typed: string): CheckTarget | null {
  const text = typed.trim()
  const host = hostOf(text).replace(/\.$/, '').toLowerCase()
  if (/^\d{1,3}(\.\d{1,3}){3}$/.test(host)) return { kind: 'address', name: host }
  if (!/^[^\s/@:]+\.[^\s/@:]*[^\s/@:\d.][^\s/@:]*$/.test(host)) return null
  return { kind: 'domain', name: host }
}

function hostOf(text: string): string {
  const withoutScheme = text.replace(/^([a-z][a-z\d+.-]*:\/\/|mailto:)/i, '')
  const authority = withoutScheme.split(/[/?#]/)[0] ?? ''
  return authority.replace(/^.*@/, '').replace(/:\d+$/, '')
}
