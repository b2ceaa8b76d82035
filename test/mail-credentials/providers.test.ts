import { PassThrough } from 'node:stream'
import * as consume from 'node:stream/consumers'
import * as oidc from 'openid-client'
import { describe, expect, it } from 'vitest'
import { readConfig } from '../../src/config.ts'
import { createLog } from '../../src/log.ts'
import { createOAuthClient } from '../../src/mail-credentials/oauth-client.ts'
import { describeFailure, explainRejection } from '../../src/mail-credentials/oauth-problem.ts'
import { configuredProviders, type ProviderId } from '../../src/mail-credentials/providers.ts'

const ALL = {
  OAUTH_GOOGLE_CLIENT_ID: 'g',
  OAUTH_MICROSOFT_CLIENT_ID: 'm',
  OAUTH_MICROSOFT_TENANT: 'organizations',
  OAUTH_YAHOO_CLIENT_ID: 'y',
  OAUTH_FASTMAIL_CLIENT_ID: 'f',
}

function providerOf(id: ProviderId) {
  const found = configuredProviders(readConfig(ALL)).find((each) => each.id === id)
  if (!found) throw new Error(`no ${id}`)
  return found
}

/** What providers publish, whose issuers Microsoft writes with a placeholder. */
const ISSUERS: Record<string, string> = {
  'https://accounts.google.com': 'https://accounts.google.com',
  'https://login.microsoftonline.com/organizations/v2.0':
    'https://login.microsoftonline.com/{tenantid}/v2.0',
}

async function authorizationUrl(id: ProviderId): Promise<Record<string, string>> {
  const client = createOAuthClient(providerOf(id), async (url) => {
    const issuer = ISSUERS[url.replace('/.well-known/openid-configuration', '')]
    return Response.json({ issuer, authorization_endpoint: 'https://example.com/authorize' })
  })
  const { url } = await client.start('https://portreeve.example/callback', 'alice@example.com')
  return Object.fromEntries(new URL(url).searchParams)
}

describe('the providers of mailboxes', () => {
  it('are asked for what their refresh tokens need', async () => {
    expect(await authorizationUrl('google')).toMatchObject({
      scope: 'https://mail.google.com/ openid email',
      access_type: 'offline',
      prompt: 'consent',
    })
    expect(await authorizationUrl('microsoft')).toMatchObject({
      scope: 'https://outlook.office.com/IMAP.AccessAsUser.All offline_access openid email profile',
      prompt: 'select_account',
      login_hint: 'alice@example.com',
    })
    expect(await authorizationUrl('yahoo')).toMatchObject({ scope: 'mail-r mail-w' })
    const fastmail = await authorizationUrl('fastmail')
    expect(fastmail['scope']).toContain('https://www.fastmail.com/dev/protocol-imap')
    expect(fastmail).not.toHaveProperty('nonce')
  })

  it('need settings that fit together', () => {
    const wrong = (settings: Record<string, string>) => () => readConfig(settings)
    expect(wrong({ OAUTH_OTHER_CLIENT_ID: 'x' })).toThrow(/OAUTH_OTHER_SCOPE is required/)
    const other = {
      OAUTH_OTHER_CLIENT_ID: 'x',
      OAUTH_OTHER_SCOPE: 'openid imap',
      OAUTH_OTHER_HOSTS: 'imap.example.com',
      OAUTH_OTHER_TOKEN_URL: 'https://auth.example.com/token',
    }
    expect(wrong(other)).toThrow(/OAUTH_OTHER_AUTHORIZATION_URL are required together/)
    expect(wrong(other)).toThrow(/OAUTH_OTHER_ISSUER is required/)
    expect(wrong({ OAUTH_MICROSOFT_TENANT: 'a/b' })).toThrow(/must be a tenant ID/)
  })

  it.each([
    ['invalid_grant', '', 'consent', 'has ended'],
    ['invalid_grant', 'AADSTS50173: The grant has expired', 'consent', 'AADSTS50173'],
    ['access_denied', 'AADSTS65004: User declined', 'consent', 'not allowed at Microsoft'],
    ['invalid_grant', 'AADSTS65001: not consented', 'consent', 'Your administrator'],
    ['consent_required', 'AADSTS90094: admin approval', 'consent', 'Your administrator'],
    ['interaction_required', 'AADSTS50076: use MFA', 'consent', 'multi-factor'],
    [
      'invalid_client',
      'AADSTS7000222: expired secret',
      'client',
      'An administrator of this service must correct',
    ],
    ['unauthorized_client', 'AADSTS700016: not found', 'client', 'unknown in this tenant'],
    ['invalid_request', 'AADSTS50011: reply address', 'client', 'redirect URI'],
    ['temporarily_unavailable', '', 'later', 'Try again later'],
    ['<b>odd</b>', 'AADSTSx', 'later', 'rejected the sign-in (boddb)'],
  ])('explain %s %s', (error, description, kind, text) => {
    const problem = explainRejection({ error, description }, providerOf('microsoft'))
    expect(problem).toMatchObject({ kind, message: expect.stringContaining(text) })
    expect(problem.needsApproval ?? false).toBe(text === 'Your administrator')
  })

  it('leave no tokens in the log when their response is odd', async () => {
    const provider = providerOf('yahoo')
    const client = createOAuthClient(provider, async () =>
      Response.json({ access_token: 'the-secret-token', token_type: 5, refresh_token: 'secret-2' }),
    )
    const error = await client.refresh('the-old-token').catch((thrown: unknown) => thrown)
    const direct = describeFailure(
      new oidc.ClientError('odd', { cause: { body: { access_token: 'the-secret-token' } } }),
      provider,
    )
    const written = new PassThrough()
    const log = createLog('info', written)
    log.error({ err: error }, 'failed')
    log.error({ err: direct }, 'failed')
    written.end()
    const text = await consume.text(written)
    expect(text).toContain('cannot be used')
    expect(text).not.toMatch(/secret|old-token/)
  })
})
