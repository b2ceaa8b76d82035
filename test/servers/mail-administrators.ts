import type { IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { decodeJwt, exportPKCS8, generateKeyPair, jwtVerify } from 'jose'
import { errors, type ClientMetadata, type Provider } from 'oidc-provider'

const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer'

/** An application that opens mailboxes with a secret, as at Microsoft. */
export const MAIL_APP = { clientId: 'mail-app', clientSecret: 'the-secret-of-the-mail-app' }

const SERVICE_ACCOUNT = { clientId: '1000000001', email: 'mover@project.iam.test' }

export const administratorClients: ClientMetadata[] = [
  {
    client_id: MAIL_APP.clientId,
    client_secret: MAIL_APP.clientSecret,
    redirect_uris: [],
    response_types: [],
    grant_types: ['client_credentials'],
    token_endpoint_auth_method: 'client_secret_post',
    scope: 'imap',
  },
  {
    client_id: SERVICE_ACCOUNT.clientId,
    redirect_uris: [],
    response_types: [],
    grant_types: [JWT_BEARER],
    token_endpoint_auth_method: 'none',
  },
]

/**
 * Adds the grant with which a service account gets tokens of any mailbox (RFC 7523), as at Google.
 * @returns the key file of the service account
 */
export async function addServiceAccounts(
  provider: Provider,
  state: { isDelegated: boolean; administratorTokens: number },
): Promise<string> {
  const { publicKey, privateKey } = await generateKeyPair('RS256', { extractable: true })
  provider.on('grant.success', ({ oidc }) => {
    if (oidc.entities.ClientCredentials) state.administratorTokens += 1
  })
  provider.registerGrantType(
    JWT_BEARER,
    async (context) => {
      const { oidc } = context
      const { payload } = await jwtVerify(String(oidc.params?.['assertion']), publicKey, {
        issuer: SERVICE_ACCOUNT.email,
        audience: `${provider.issuer}/token`,
      }).catch(() => {
        throw new errors.InvalidGrant('Invalid JWT Signature.')
      })
      if (!state.isDelegated) throw new errors.UnauthorizedClient('not delegated')
      const accountId = payload.sub ?? ''
      if (accountId.startsWith('nobody')) throw refusedUser()
      const grant = new provider.Grant({ accountId, clientId: SERVICE_ACCOUNT.clientId })
      const scope = String(payload['scope'])
      grant.addOIDCScope(`openid ${scope}`)
      const token = new provider.AccessToken({
        accountId,
        client: oidc.client,
        grantId: await grant.save(),
        gty: JWT_BEARER,
        scope,
      })
      state.administratorTokens += 1
      const accessToken = await token.save()
      context.body = {
        access_token: accessToken,
        expires_in: token.expiration,
        token_type: 'Bearer',
      }
    },
    ['assertion'],
  )
  return JSON.stringify({
    type: 'service_account',
    client_email: SERVICE_ACCOUNT.email,
    client_id: SERVICE_ACCOUNT.clientId,
    private_key_id: 'key-1',
    private_key: await exportPKCS8(privateKey),
    // Not used: a key is for its provider only.
    token_uri: 'https://attacker.test/token',
  })
}

function refusedUser(): errors.InvalidGrant {
  const error = new errors.InvalidGrant('')
  error.error_description = 'Invalid email or User ID'
  return error
}

/**
 * Names the client of an assertion, which authenticates itself; the provider asks for its name.
 * @returns the assertion with which another client authenticates itself
 */
export async function nameServiceAccount(
  request: IncomingMessage & { body?: Record<string, string> },
): Promise<string | undefined> {
  const body = Object.fromEntries(new URLSearchParams(await text(request)))
  const { iss } = body['assertion'] ? decodeJwt(body['assertion']) : {}
  request.body = {
    ...body,
    ...(iss === SERVICE_ACCOUNT.email && { client_id: SERVICE_ACCOUNT.clientId }),
  }
  return body['client_assertion']
}
