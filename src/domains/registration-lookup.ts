import { setTimeout as pause } from 'node:timers/promises'
import type { PrivateTargets } from '../setting-values.ts'
import { Fault } from '../errors.ts'
import { getSmall, type SmallResponse } from '../net/http/get-small.ts'
import type { Resolver } from '../net/dns.ts'
import { RDAP_SERVERS, rdapUrl } from '../protocols/rdap-servers.ts'
import { parseRegistration, type Registration } from '../protocols/registration.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../time.ts'
import { createRecentEntries } from '../recent-entries.ts'

type RegistrationResult =
  | { status: 'found'; registration: Registration; server: string }
  /** `not-available`: no RDAP server is known for the suffix. `failed`: it gave no usable answer. */
  | { status: 'not-available'; reason: string }
  | { status: 'failed'; reason: string }

export type RegistrationLookup = {
  /** Asks the registry about a registered domain, or a cache. Never throws a Fault. */
  lookUp(domain: string, signal: AbortSignal): Promise<RegistrationResult>
}

type LookupDeps = {
  resolver: Resolver
  allowPrivate: PrivateTargets
  servers?: Readonly<Record<string, string>> | undefined
}

const MAX_CACHED_DOMAINS = 5_000
const MAX_SERVERS = 1_000
const FOUND_LIFETIME_MS = DAY_MS
const FAILED_LIFETIME_MS = 10 * MINUTE_MS

/** Registries ask for no more than about one query a second. */
const QUERY_SPACING_MS = SECOND_MS
/** Milliseconds to wait for a turn; beyond it the check goes on without the registration. */
const MAX_WAIT_MS = 4_000
const QUERY_TIMEOUT_MS = 6_000
/** Limits of the pause after 429, whatever `Retry-After` says. */
const MIN_PAUSE_MS = MINUTE_MS
const MAX_PAUSE_MS = HOUR_MS

/** Creates the RDAP client, which spares the registries: one query a second, with a cache. */
export function createRegistrationLookup(deps: LookupDeps): RegistrationLookup {
  const { servers = RDAP_SERVERS } = deps
  const cache = createRecentEntries<RegistrationResult>(MAX_CACHED_DOMAINS)
  /** When each server may be asked again, in `performance.now()`. */
  const freeAt = createRecentEntries<number>(MAX_SERVERS)

  async function waitForTurn(host: string, signal: AbortSignal): Promise<boolean> {
    const now = performance.now()
    const at = Math.max(now, freeAt.get(host) ?? 0)
    if (at - now > MAX_WAIT_MS) return false
    freeAt.set(host, at + QUERY_SPACING_MS)
    await pause(at - now, undefined, { signal }).catch(() => undefined)
    return !signal.aborted
  }

  async function ask(url: URL, signal: AbortSignal): Promise<RegistrationResult> {
    if (!(await waitForTurn(url.host, signal)))
      return failed(`${url.host} is busy with other lookups. Try again in a minute.`)
    const patience = AbortSignal.any([signal, AbortSignal.timeout(QUERY_TIMEOUT_MS)])
    try {
      const response = await getSmall(url, deps, patience, 'application/rdap+json')
      if (response.status === 429) freeAt.set(url.host, performance.now() + pauseOf(response))
      return interpret(url, response)
    } catch (error) {
      if (error instanceof Fault) return failed(error.message)
      throw error
    }
  }

  return {
    async lookUp(domain, signal) {
      const known = cache.get(domain)
      if (known) return known
      const url = rdapUrl(domain, servers)
      if (url === null)
        return {
          status: 'not-available',
          reason: `No registration service (RDAP) is known for .${domain.split('.').at(-1)}.`,
        }
      const result = await ask(url, signal)
      const ttl = result.status === 'found' ? FOUND_LIFETIME_MS : FAILED_LIFETIME_MS
      if (!signal.aborted) cache.set(domain, result, { ttl })
      return result
    },
  }
}

function interpret(url: URL, { status, body }: SmallResponse): RegistrationResult {
  if (status === 404) return failed(`${url.host} does not know the domain.`)
  if (status === 429) return failed(`${url.host} limits lookups. Try again later.`)
  if (status !== 200) return failed(`${url.host} returned HTTP status ${status}.`)
  const registration = parseRegistration(body.toString())
  return registration
    ? { status: 'found', registration, server: url.host }
    : failed(`The answer of ${url.host} is not RDAP.`)
}

function pauseOf({ retryAfter }: SmallResponse): number {
  const seconds = /^\d{1,9}$/.test(retryAfter ?? '') ? Number(retryAfter) : 0
  return Math.min(MAX_PAUSE_MS, Math.max(MIN_PAUSE_MS, seconds * SECOND_MS))
}

function failed(reason: string): RegistrationResult {
  return { status: 'failed', reason }
}
