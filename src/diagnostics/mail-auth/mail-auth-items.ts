import { missingForBimi, type BimiFinding } from '../../protocols/mail/bimi.ts'
import {
  COMMON_SELECTORS,
  type DkimProbe,
  type SelectorFinding,
} from '../../protocols/dkim/probe-selectors.ts'
import type { Destination } from '../../protocols/dmarc/report-destinations.ts'
import type { DmarcDiscovery } from '../../protocols/dmarc/dmarc-discovery.ts'
import { explainTag } from '../../protocols/dmarc/dmarc-record.ts'
import { parseStsRecord, type FetchedPolicy } from '../../protocols/mail/mta-sts.ts'
import type { TxtLookup } from '../../protocols/dns-queries.ts'
import type { SpfEvaluation } from '../../protocols/spf/evaluate-spf.ts'
import { lastRecord, nodesOf, type SpfTree } from '../../protocols/spf/spf-tree.ts'
import { allOf } from '../../protocols/spf/spf-record.ts'
import { tagsObject } from '../../protocols/tag-list.ts'
import { parseTlsRpt } from '../../protocols/mail/tls-rpt.ts'
import type { MailAuthResult } from '../shapes.ts'

/** An item has an `error` only if a query failed. Without one, “not found” is certain. */
const failure = (error: string | null) => (error === null ? {} : { error })

export function dmarcItem(
  discovery: DmarcDiscovery,
  destinations: Destination[],
): MailAuthResult['dmarc'] {
  const { record, domain, policyDomain, effectivePolicy, organizationalDomain } = discovery
  const tags = record?.tags ?? []
  return {
    found: record !== null,
    record: record?.text ?? null,
    tags: tagsObject(tags),
    tagsExplained: tags.map((tag) => ({
      tag: tag.name,
      value: tag.value,
      meaning: explainTag(tag),
    })),
    inheritedFrom: policyDomain === domain ? null : policyDomain,
    effectivePolicy,
    organizationalDomain,
    destinations: destinations.map(({ tag, uri, name, authorized, error }) => {
      return { tag, uri, name, authorized, ...failure(error) }
    }),
    ...failure(discovery.error),
  }
}

/** Readers do not need more of a record that is unusually long. */
const MAX_ITEMS = 100

export function spfItem({ root, lookups, voidLookups }: SpfTree): MailAuthResult['spf'] {
  const last = lastRecord(root).record
  const all = last && allOf(last)
  return {
    found: root.record !== null,
    record: root.record?.text ?? null,
    lookups,
    voidLookups,
    all: all && `${all.qualifier}all`,
    errors: root.record?.errors.slice(0, MAX_ITEMS) ?? [],
    includes: nodesOf(root)
      .slice(1, MAX_ITEMS)
      .map(({ domain, via, depth, lookups: below, record, problem, error }) => {
        return {
          domain,
          via: via ?? '',
          depth,
          lookups: below,
          record: record?.text ?? null,
          problem,
          ...failure(error),
        }
      }),
    ...failure(root.error),
  }
}

type SenderItem = NonNullable<MailAuthResult['spf']['senders']>[number]

export function senderItem(
  ip: string,
  { result, matched, reason, explanation }: SpfEvaluation,
): SenderItem {
  return {
    ip,
    result,
    domain: matched?.domain ?? null,
    term: matched?.term ?? null,
    reason,
    explanation,
  }
}

/** Found keys first, then of the rest the most common, the requested and the incomplete ones. */
export function dkimItems({ findings }: DkimProbe, asked: string[]): MailAuthResult['dkim'] {
  const found = findings.filter(
    ({ key, fromWildcard, selector }) => key && (!fromWildcard || asked.includes(selector)),
  )
  const notable = ({ selector, alias }: SelectorFinding) =>
    asked.includes(selector) || COMMON_SELECTORS.includes(selector) || alias !== null
  return [
    ...found,
    ...findings.filter((finding) => !found.includes(finding) && notable(finding)),
  ].map(dkimItem)
}

function dkimItem(finding: SelectorFinding): MailAuthResult['dkim'][number] {
  const { selector, key, alias, provider, fromWildcard, tried, error } = finding
  if (!key) {
    const known = { selector, found: false, record: null, ...failure(tried ? error : 'TIMEOUT') }
    return alias === null ? known : { ...known, provider, alias }
  }
  const { text, keyType, bits, revoked, testing, errors } = key
  const facts = { keyType, keyBits: bits, revoked, testing, errors, wildcard: fromWildcard }
  return { selector, found: true, record: text, provider, alias, ...facts }
}

export function mtaStsItem(
  { texts, error }: TxtLookup,
  fetched: FetchedPolicy | null,
): MailAuthResult['mtaSts'] {
  const record = texts.map(parseStsRecord).find((parsed) => parsed !== null)
  const applied = record ? fetched : null
  const {
    mode = null,
    mx = [],
    maxAge = null,
  } = applied && 'policy' in applied ? applied.policy : {}
  return {
    found: record !== undefined,
    record: record?.text ?? null,
    id: record?.id ?? null,
    policy: applied && 'policy' in applied ? { mode, mx, maxAge } : null,
    ...(applied && 'failure' in applied ? { policyError: applied.failure } : {}),
    ...failure(error),
  }
}

export function tlsRptItem({ texts, error }: TxtLookup): MailAuthResult['tlsRpt'] {
  const record = texts.map(parseTlsRpt).find((parsed) => parsed !== null)
  return {
    found: record !== undefined,
    record: record?.text ?? null,
    rua: record?.rua ?? [],
    ...failure(error),
  }
}

export function bimiItem(
  { records, error }: BimiFinding,
  dmarc: DmarcDiscovery,
): MailAuthResult['bimi'] {
  const [record = null] = records
  const { text = null, logo = null, certificate = null } = record ?? {}
  const missing = [
    ...missingForBimi(record, dmarc),
    ...(records.length > 1 ? ['a single BIMI record instead of several'] : []),
  ]
  return { found: record !== null, record: text, logo, certificate, missing, ...failure(error) }
}
