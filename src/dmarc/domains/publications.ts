import { isDeepStrictEqual } from 'node:util'
import { createDnsQueries, type DnsQueries } from '../../protocols/dns-queries.ts'
import { notifyChange } from '../../store/changes.ts'
import { createRecentEntries } from '../../recent-entries.ts'
import {
  DNS_TIMEOUT_MS,
  MAX_DNS_WAIT_MS,
  MAX_KNOWN_PUBLICATIONS,
  MAX_RUNNING_LOOKUPS,
} from '../limits.ts'
import type { DmarcDeps } from '../route-deps.ts'
import { findSafePolicy, listSelectorsOf } from './known-mail.ts'
import { findPublication, type Publication } from './publication.ts'
import { reportEmailOf } from './report-email.ts'
import type { DomainRow } from './dmarc-domains.sql.ts'

/** `checkedAt`: when DNS was queried; null if there is no answer yet. */
export type KnownPublication = { publication: Publication; checkedAt: Date | null }

/**
 * Milliseconds for which an answer that came too late for one response serves the next ones. A
 * dashboard requests it at once.
 */
const FRESH_MS = 5_000

/** What DNS publishes for DMARC domains, with the last answers in memory. */
export function createPublications(deps: DmarcDeps) {
  const { db, resolver, reportDomain, dnsWaitMs, findReportRecords } = deps
  const answers = createRecentEntries<KnownPublication>(MAX_KNOWN_PUBLICATIONS)
  const announced = createRecentEntries<KnownPublication>(MAX_KNOWN_PUBLICATIONS, { ttl: FRESH_MS })
  const running = new Map<string, { accountId: string; lookup: Promise<KnownPublication> }>()
  const questions = (signal = AbortSignal.timeout(DNS_TIMEOUT_MS)): DnsQueries =>
    createDnsQueries(resolver, signal)
  const read = (row: DomainRow, signal = AbortSignal.timeout(DNS_TIMEOUT_MS)) => {
    const reportEmail = reportEmailOf(row, reportDomain)
    const known = {
      reportEmailOf: async () => reportEmail,
      safePolicyOf: () => findSafePolicy(deps, row),
      selectorsSeen: () => listSelectorsOf(deps, row),
    }
    const proposed = findReportRecords(row.domain, known, signal)
    return findPublication(row.domain, reportEmail, questions(signal), proposed)
  }

  /** Waits for the answer of DNS, or until `DNS_TIMEOUT_MS`. */
  async function lookUp(row: DomainRow): Promise<KnownPublication> {
    const checkedAt = new Date()
    const publication = await read(row)
    const known = { publication, checkedAt }
    answers.set(row.id, known)
    announced.delete(row.id)
    return known
  }

  function lookUpOnce(row: DomainRow, accountId: string): Promise<KnownPublication> {
    const known = running.get(row.id)
    if (known) return known.lookup
    const lookup = lookUp(row).finally(() => running.delete(row.id))
    running.set(row.id, { accountId, lookup })
    return lookup
  }

  /** An account with many lookups has to wait for them, or it could start any number. */
  function isBusy(accountId: string): boolean {
    const own = [...running.values()].filter((one) => one.accountId === accountId)
    return own.length > MAX_RUNNING_LOOKUPS
  }

  /**
   * Waits for a short time; afterwards, the last answer is returned and the new one announced.
   * @param accountId the account that answers for the workspace
   */
  async function find(row: DomainRow, accountId: string): Promise<KnownPublication> {
    const late = announced.get(row.id)
    if (late) return late
    const last = answers.get(row.id)
    const lookup = lookUpOnce(row, accountId)
    const found = await Promise.race([
      lookup,
      ...(isBusy(accountId) ? [] : [wait(dnsWaitMs ?? MAX_DNS_WAIT_MS)]),
    ])
    if (found) return found
    const shown = last ?? {
      publication: await read(row, AbortSignal.abort()),
      checkedAt: null,
    }
    void lookup.then((answer) => announce(row, shown, answer)).catch(() => undefined)
    return shown
  }

  async function announce(row: DomainRow, shown: KnownPublication, answer: KnownPublication) {
    const isSame = isDeepStrictEqual(shown.publication, answer.publication)
    if (shown.checkedAt !== null && isSame) return
    announced.set(row.id, answer)
    await notifyChange(db, row.workspaceId, 'dmarc', row.id)
  }

  return { find, lookUp, questions }
}

function wait(milliseconds: number): Promise<null> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds, null))
}
