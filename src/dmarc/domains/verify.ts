import { discoverDmarc } from '../../protocols/dmarc/dmarc-discovery.ts'
import type { DnsQueries } from '../../protocols/dns-queries.ts'
import { notifyChange } from '../../store/changes.ts'
import type { Db } from '../../store/database.ts'
import { PROOF_GRACE_DAYS } from '../limits.ts'
import { sendsTo } from './publish.ts'
import { markAsked, markProven, markUnproven, type DomainRow, type VerifiedBy } from './store.ts'

/** The TXT record that proves a domain. A name of our own: other services' challenges stand elsewhere. */
export function challengeOf({ domain, challenge }: Pick<DomainRow, 'domain' | 'challenge'>) {
  return { name: `_portreeve-challenge.${domain}`, type: 'TXT' as const, value: `portreeve-verification=${challenge}` }
}

type Looked = { row: DomainRow; problem: string | null }

/**
 * Looks for a proof that the account's owner holds the domain, and writes down what came of it.
 * @returns the row as it then is, and why there is no proof
 */
export async function verifyDomain(
  db: Db,
  row: DomainRow,
  reportEmail: string,
  questions: DnsQueries,
): Promise<Looked> {
  const looked = await look(db, row, reportEmail, questions)
  await notifyChange(db, row.accountId, 'dmarc', row.id)
  return looked
}

async function look(db: Db, row: DomainRow, reportEmail: string, questions: DnsQueries): Promise<Looked> {
  const proof = await proofOf(row, reportEmail, questions)
  if (proof === 'unknown') {
    await markAsked(db, row.id)
    return { row, problem: 'The name servers of the domain did not answer; nothing was changed.' }
  }
  if (proof !== null) return { row: (await markProven(db, row.id, proof)) ?? row, problem: null }
  const { name, value } = challengeOf(row)
  const problem = `Neither is there a TXT record “${value}” at ${name}, nor does the DMARC record send reports to ${reportEmail}.`
  return { row: (await markUnproven(db, row.id, PROOF_GRACE_DAYS)) ?? row, problem }
}

/** Null only where the DNS said so: silence proves nothing and takes nothing away. */
async function proofOf(
  row: DomainRow,
  reportEmail: string,
  questions: DnsQueries,
): Promise<VerifiedBy | null | 'unknown'> {
  const { name, value } = challengeOf(row)
  const [challenge, discovery] = await Promise.all([questions.lookUpTxt(name), discoverDmarc(row.domain, questions)])
  if (challenge.texts.some((text) => text.trim() === value)) return 'txt'
  // An ancestor's record proves it too: the address in it is this domain's alone.
  if (discovery.record && sendsTo(discovery.record, reportEmail)) return 'rua'
  return challenge.error || discovery.error ? 'unknown' : null
}
