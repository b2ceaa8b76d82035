/** What somebody typed, understood: an address to look up on blacklists, or a name with everything about it. */
export type Target = { kind: 'address' | 'domain'; name: string }

/**
 * Guesses what was meant: a domain, an IPv4 address, a web address (its host), or an e-mail address (its domain).
 * Whether the name is a good one is for the service to say.
 * @returns null when there is nothing in it to check
 */
export function guessTarget(typed: string): Target | null {
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
