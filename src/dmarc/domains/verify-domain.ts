import { discoverDmarc } from '../../protocols/dmarc/dmarc-discovery.ts'
import type { DnsQueries } from '../../protocols/dns-queries.ts'
import { notifyChange } from '../../store/changes.ts'
import type { Db } from '../../store/database.ts'
import { PROOF_GRACE_DAYS } from '../limits.ts'
import { sendsTo } from './publication.ts'
import {
  markChecked,
  markProven,
  markUnproven,
  type DomainRow,
  type VerifiedBy,
} from './dmarc-domains.sql.ts'

/**
 * The TXT record that proves a domain. It has its own name so that challenges of other services
 * cannot collide.
 */
export function challengeOf({ domain, challenge }: Pick<DomainRow, 'domain' | 'challenge'>) {
  return {
    name: `_portreeve-challenge.${domain}`,
    type: 'TXT' as const,
    value: `portreeve-verification=${challenge}`,
  }
}

type Verification = { row: DomainRow; problem: string | null }

/**
 * Checks whether the workspace's owner controls the domain, and records the result.
 * @returns the updated row, and why there is no proof
 */
export async function verifyDomain(
  db: Db,
  row: DomainRow,
  reportEmail: string | null,
  questions: DnsQueries,
): Promise<Verification> {
  const verification = await checkProof(db, row, reportEmail, questions)
  await notifyChange(db, row.workspaceId, 'dmarc', row.id)
  return verification
}

async function checkProof(
  db: Db,
  row: DomainRow,
  reportEmail: string | null,
  questions: DnsQueries,
): Promise<Verification> {
  const proof = await findProof(row, reportEmail, questions)
  if (proof === 'unknown') {
    await markChecked(db, row.id)
    return {
      row,
      problem:
        'The name servers of the domain did not respond. The verification status is unchanged. Try again later.',
    }
  }
  if (proof !== null) return { row: (await markProven(db, row.id, proof)) ?? row, problem: null }
  const { name, value } = challengeOf(row)
  const missing = `Not verified yet: ${name} has no TXT record “${value}”`
  const problem =
    reportEmail === null
      ? `${missing}. Publish it.`
      : `${missing}, and the DMARC record does not send reports to ${reportEmail}. Publish one of the two.`
  return { row: (await markUnproven(db, row.id, PROOF_GRACE_DAYS)) ?? row, problem }
}

/**
 * Null only if DNS answered that there is no proof; `unknown` without an answer, which changes
 * nothing.
 */
async function findProof(
  row: DomainRow,
  reportEmail: string | null,
  questions: DnsQueries,
): Promise<VerifiedBy | null | 'unknown'> {
  const { name, value } = challengeOf(row)
  const [challenge, discovery] = await Promise.all([
    questions.lookUpTxt(name),
    discoverDmarc(row.domain, questions),
  ])
  // Some control panels publish quotes around a text as part of it.
  if (challenge.texts.some((text) => text.replaceAll('"', '').trim() === value)) return 'txt'
  // A record of a parent domain is a proof too: the address in it belongs to this domain only.
  if (discovery.record && sendsTo(discovery.record, reportEmail)) return 'rua'
  return challenge.error || discovery.error ? 'unknown' : null
}
