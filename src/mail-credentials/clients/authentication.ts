import { createHash, X509Certificate } from 'node:crypto'
import { importPKCS8 } from 'jose'
import * as oidc from 'openid-client'
import type { MailProvider } from '../providers.ts'
import type { ClientCertificate } from './client-certificate.ts'

/** Microsoft recommends it; RS256 is its older form. */
const ALGORITHM = 'PS256'

/** How the client of this service authenticates itself at a provider. */
export async function authenticationOf({
  clientCertificate,
  clientSecret,
}: MailProvider): Promise<oidc.ClientAuth | undefined> {
  if (clientCertificate) return signingAuthentication(clientCertificate)
  // A secret is sent in the way that the library prefers.
  return clientSecret === undefined ? oidc.None() : undefined
}

/**
 * Authenticates with an assertion that the key of a certificate signs (RFC 7523, 2.2). The thumbprint
 * in its header names the certificate.
 */
async function signingAuthentication({
  certificate,
  privateKey,
}: ClientCertificate): Promise<oidc.ClientAuth> {
  const key = await importPKCS8(privateKey, ALGORITHM)
  const { raw } = new X509Certificate(certificate)
  const thumbprint = (hash: string) => createHash(hash).update(raw).digest('base64url')
  return (server, ...request) =>
    oidc.PrivateKeyJwt(key, {
      [oidc.modifyAssertion](header, payload) {
        Object.assign(header, {
          typ: 'JWT',
          x5t: thumbprint('sha1'),
          'x5t#S256': thumbprint('sha256'),
        })
        // Microsoft accepts the endpoint, not the issuer.
        payload['aud'] = server.token_endpoint ?? server.issuer
      },
    })(server, ...request)
}
