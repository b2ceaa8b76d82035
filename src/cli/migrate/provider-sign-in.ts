import { readConfig } from '../../config.ts'
import { REQUEST_TIMEOUT_MS } from '../../mail-credentials/limits.ts'
import { createMemoryTokens } from '../../mail-credentials/memory-tokens.ts'
import {
  createOAuthClient,
  type Grant,
  type OAuthClient,
} from '../../mail-credentials/oauth-client.ts'
import { toFault } from '../../mail-credentials/oauth-problem.ts'
import {
  configuredProviders,
  type MailProvider,
  type ProviderId,
} from '../../mail-credentials/providers.ts'
import type { FreshToken } from '../../mail-credentials/token-source.ts'
import type { Resolver } from '../../net/dns.ts'
import { createGuardedFetch } from '../../net/http/guarded-fetch.ts'
import { openLoopbackRedirect } from '../../net/http/loopback-redirect.ts'
import { MINUTE_MS } from '../../time.ts'
import { UsageError } from '../command.ts'

/** How long a sign-in in a browser of this machine may take. */
const BROWSER_LIMIT_MS = 10 * MINUTE_MS

/**
 * Finds a provider in the settings.
 * @throws UsageError when it is not set up, or not for this host
 */
export function requireProvider(id: ProviderId, host: string): MailProvider {
  const provider = configuredProviders(readConfig()).find((each) => each.id === id)
  if (!provider)
    throw new UsageError(
      `Set OAUTH_${id.toUpperCase()}_CLIENT_ID first: /docs/guide/mail-providers.html`,
    )
  if (!provider.hosts.includes(host.toLowerCase()))
    throw new UsageError(
      `A sign-in at ${provider.name} is for its servers only: ${provider.hosts.join(', ')}.`,
    )
  return provider
}

/**
 * Signs in to a mailbox at its provider: with a code on any device, otherwise in a browser of this
 * machine.
 * @throws Fault
 */
export async function signInAtProvider(
  provider: MailProvider,
  user: string,
  resolver: Resolver,
): Promise<FreshToken> {
  // The user of this terminal can connect to private addresses anyway.
  const guardedFetch = createGuardedFetch({ resolver, allowPrivate: true }, REQUEST_TIMEOUT_MS)
  const client = createOAuthClient(provider, guardedFetch)
  try {
    const hasCode = await client.offersDeviceCode()
    const grant = await (hasCode ? byCode(client, user) : byBrowser(client, user))
    return createMemoryTokens(client, grant)
  } catch (error) {
    throw toFault(error)
  }
}

async function byCode(client: OAuthClient, user: string): Promise<Grant> {
  const code = await client.startDevice()
  console.error(
    `To sign in as ${user}, open ${code.verification_uri} and enter the code ${code.user_code}.`,
  )
  return client.finishDevice(code, AbortSignal.timeout(code.expires_in * 1_000))
}

async function byBrowser(client: OAuthClient, user: string): Promise<Grant> {
  const redirect = await openLoopbackRedirect('Signed in. You can close this window.')
  try {
    const { url, checks } = await client.start(redirect.redirectUri, user)
    console.error(`To sign in as ${user}, open this address in a browser on this machine:\n${url}`)
    const limit = AbortSignal.timeout(BROWSER_LIMIT_MS)
    return await client.finish(await redirect.answer(limit), checks)
  } finally {
    redirect.close()
  }
}
