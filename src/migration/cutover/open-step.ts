import type { BatchProofCounts } from '../proof/proofs.sql.ts'
import type { FinalPass, Watch } from './cutover-mailboxes.sql.ts'
import { hasHosts } from './cutover-mx.ts'
import type { StepName } from './steps.ts'
import type { CutoverRow } from './cutovers.sql.ts'

type Found = {
  row: CutoverRow
  watch: Watch
  finalPass: Omit<FinalPass, 'late'>
  proof: Pick<BatchProofCounts, 'mailboxes' | 'done' | 'waiting' | 'failed' | 'incomplete'>
}

/** What is still open in a step, and whether a person has to act. */
export type OpenStep = { needsAction: boolean; advice: string }

export function describeOpenStep(step: StepName, found: Found): OpenStep {
  return DESCRIPTIONS[step](found)
}

const DESCRIPTIONS: Record<StepName, (found: Found) => OpenStep> = {
  ttl: ({ row }) => {
    const { dns, targetTtl, domain } = row
    if (dns === null) return automatic('Looking up the present TTL at the name servers.')
    if (row.ttlLowAt !== null) return automatic('The TTL is low. Wait until every resolver has it.')
    if (dns.problem !== null) return action(dns.problem)
    const failed = dns.servers.find(({ problem }) => problem !== null)
    const high = dns.servers.filter(({ ttl }) => (ttl ?? 0) > targetTtl)
    if (high.length === 0 && failed) return action(`${failed.server}: ${failed.problem}`)
    const ttl = Math.max(0, ...high.map((each) => each.ttl ?? 0))
    return action(
      `Lower the TTL of the MX records of ${domain} from ${ttl} to ${targetTtl} seconds or less.`,
    )
  },
  switch: ({ row }) => {
    const { dns, domain, expectedMx, switchedAt, revertedAt } = row
    const wanted = expectedMx.join(', ')
    if (switchedAt === null || revertedAt !== null || dns === null) {
      const waiting = dns?.servers.filter((each) => !hasHosts(each, expectedMx)) ?? []
      const [first] = waiting
      const isPartly = first && waiting.length < (dns?.servers.length ?? 0)
      return action(
        isPartly
          ? `${first.server} does not have the new MX records of ${domain} yet: ${wanted}.`
          : `Change the MX records of ${domain} to: ${wanted}.`,
      )
    }
    return automatic(
      `Every name server has the new MX records. The resolver still has the old ones${dns.resolver.ttl === null ? '' : `, for up to ${dns.resolver.ttl} seconds`}.`,
    )
  },
  quiet: ({ row, watch }) => {
    if (watch.unwatched > 0)
      return action(
        `${mailboxes(watch.unwatched)} could not be checked. Fix the problems, so that the old inboxes are watched.`,
      )
    return automatic(
      `Wait until the old servers have received no new message for ${hours(row.quietHours)}.`,
    )
  },
  final_pass: ({ row, finalPass: { active, done, failed, mailboxes: all } }) => {
    if (row.finalStartedAt === null) return action('Start the final pass of all mailboxes.')
    if (failed > 0 && active === 0)
      return action(
        `${mailboxes(failed)} ${failed === 1 ? 'needs' : 'need'} attention. Fix the problems and retry.`,
      )
    return automatic(`${done} of ${mailboxes(all)} are done.`)
  },
  proof: ({ proof: { waiting, done, failed, incomplete, mailboxes: all } }) => {
    if (waiting > 0) return automatic(`The proofs of ${done} of ${mailboxes(all)} are made.`)
    if (incomplete > 0)
      return action(
        `Messages of ${mailboxes(incomplete)} are missing at the destination. See the proof, synchronize again, and request the proof again.`,
      )
    if (failed > 0) return action(`The proofs of ${mailboxes(failed)} could not be made.`)
    return action(`${mailboxes(all - done)} without a proof. Request the proof of the batch.`)
  },
}

const action = (advice: string): OpenStep => ({ needsAction: true, advice })
const automatic = (advice: string): OpenStep => ({ needsAction: false, advice })

function mailboxes(count: number): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? 'mailbox' : 'mailboxes'}`
}

function hours(count: number): string {
  return `${count} ${count === 1 ? 'hour' : 'hours'}`
}
