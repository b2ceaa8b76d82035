import { X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import type { PeerCertificate } from 'node:tls'

/** Where a certificate names a host. */
export type NameMatch = 'alternative-name' | 'common-name' | 'none'

/**
 * Whether a certificate is for a host (RFC 9525, 6): a wildcard is the whole left-most label, and an
 * address is in a name of the kind “IP address”. Of certificates without DNS names the common name is
 * told apart, which OpenSSL accepts.
 */
export function matchName(certificate: X509Certificate, host: string): NameMatch {
  if (isIP(host) !== 0) return certificate.checkIP(host) === undefined ? 'none' : 'alternative-name'
  const matches = (subject: 'default' | 'never') =>
    certificate.checkHost(host, { subject, partialWildcards: false }) !== undefined
  if (matches('never')) return 'alternative-name'
  return matches('default') ? 'common-name' : 'none'
}

/**
 * The check of names for TLS connections (RFC 9525, 6). The common name does not count, as for
 * MTA-STS (RFC 8461, 3.3) and in browsers.
 * @returns why the certificate is not for the host
 */
export function checkIdentity(host: string, { raw }: PeerCertificate): Error | undefined {
  const name = host.replace(/\.$/, '')
  const match = matchName(new X509Certificate(raw), name)
  if (match === 'alternative-name') return undefined
  const message = `the certificate is not for ${name}${match === 'none' ? '' : ': only its common name is, which does not count'}`
  return Object.assign(new Error(message), { code: 'ERR_TLS_CERT_ALTNAME_INVALID' })
}
