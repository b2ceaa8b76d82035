import { readConfig } from '../../src/config.ts'
import { createOAuthClient } from '../../src/mail-credentials/oauth-client.ts'
import { OAuthRejected, toFault } from '../../src/mail-credentials/oauth-problem.ts'
import { configuredProviders, type ProviderId } from '../../src/mail-credentials/providers.ts'
import { runCases } from './run-cases.ts'

/** What a provider answers to a refresh. */
type Input = {
  provider: ProviderId
  reply: { status: number; body: unknown; headers?: Record<string, string> }
}

const CONFIG = readConfig({
  OAUTH_GOOGLE_CLIENT_ID: 'g',
  OAUTH_MICROSOFT_CLIENT_ID: 'm',
  OAUTH_YAHOO_CLIENT_ID: 'y',
  OAUTH_FASTMAIL_CLIENT_ID: 'f',
})

const ISSUERS: Record<string, string> = {
  google: 'https://accounts.google.com',
  microsoft: 'https://login.microsoftonline.com/{tenantid}/v2.0',
}

runCases('token-refresh.json', async ({ provider: id, reply }: Input) => {
  const provider = configuredProviders(CONFIG).find((each) => each.id === id)!
  const { status, body, headers } = reply
  const client = createOAuthClient(provider, async (url) =>
    url.includes('/.well-known/')
      ? Response.json({ issuer: ISSUERS[id], token_endpoint: 'https://provider.example/token' })
      : new Response(typeof body === 'string' ? body : JSON.stringify(body), {
          status,
          headers: {
            'content-type': typeof body === 'string' ? 'text/html' : 'application/json',
            ...headers,
          },
        }),
  )
  try {
    await client.refresh('the-old-token')
    return { outcome: 'refreshed' }
  } catch (error) {
    if (!(error instanceof OAuthRejected)) throw error
    return { outcome: outcomeOf(error), code: (toFault(error) as { code?: string }).code }
  }
})

function outcomeOf({ problem }: OAuthRejected): string {
  if (problem.kind === 'consent') return 'ended'
  return problem.isClientRejected ? 'client-rejected' : problem.kind
}
