import type { Ranges } from '../ranges/ranges.ts'
import type { Reporter } from '../reputation/reporter.ts'
import type { Standing } from '../scoring/score.ts'
import type { Standings } from '../reputation/standings.ts'
import type { Subject } from '../subject.ts'
import { createLedger, type Ledger, type LedgerDeps } from './ledger.ts'
import type { Allowance } from './rate.ts'
import type { AppliedOutcome, AttackReport } from './record-report.ts'
import { findForGroup, writeGroup, type Found, type KnownToken, type Store } from './intake.sql.ts'

/** One request: one report, or many of a bulk. */
export type Submission = { reporter: Reporter; tokenHash: string | null; reports: AttackReport[] }

export type SubmissionResult = {
  allowance: Allowance
  /** One for each report; none when the source had used up its rate. */
  outcomes: AppliedOutcome[]
  /** The token is unknown: the reports count as anonymous. */
  unknownToken: boolean
  token: KnownToken | null
}

export type CommitDeps = LedgerDeps & {
  store: Store
  /** Of this instance, for counters that many write to. */
  lane: number
}

/**
 * Stores a group of requests with one query and one statement. The group is durable when it
 * resolves.
 * @throws with SQLSTATE 40001 when another instance was faster: repeat the group
 */
export async function commitGroup(
  deps: CommitDeps,
  group: Submission[],
  now: number,
): Promise<SubmissionResult[]> {
  const found = await findForGroup(deps.store, {
    addresses: unique(group.flatMap(({ reports }) => reports.map(({ subject }) => subject.key))),
    sources: unique(
      group.flatMap(({ reporter: { source, site } }) => (site === null ? source : [source, site])),
    ),
    reporters: unique(group.flatMap(({ reporter }) => reporter.key ?? [])),
    tokens: unique(group.flatMap(({ tokenHash }) => tokenHash ?? [])),
  })
  const ledger = createLedger(found, deps, now)
  const receipts = group.map((submission) => takeSubmission(submission, ledger, found, deps))
  const changes = ledger.changes()
  if (changes.usages.length > 0)
    await writeGroup(deps.store, changes, { now: new Date(now), lane: deps.lane })
  deps.standings.markSeen(
    changes.networks.map(({ network }) => network),
    now,
  )
  return receipts
}

const unique = (texts: string[]) => [...new Set(texts)]

function takeSubmission(
  submission: Submission,
  ledger: Ledger,
  found: Found,
  deps: LedgerDeps,
): SubmissionResult {
  const { reporter, tokenHash, reports } = submission
  const allowance = ledger.admit(reporter)
  const token = found.tokens.get(tokenHash ?? '') ?? null
  const tokenId = token?.id ?? null
  const unknownToken = tokenHash !== null && token === null
  if (!allowance.allowed) return { allowance, unknownToken, token, outcomes: [] }
  const isListed = reporter.key !== null && found.listed.has(reporter.key)
  const outcomes = reports.map((report) => {
    const standing = standingOf(reporter, report.subject, isListed, deps)
    return ledger.take(report, { reporter, tokenId, standing })
  })
  return { allowance, unknownToken, token, outcomes }
}

/** The weight of a reporter: none for its own addresses, or when it is listed itself. */
function standingOf(
  { address, neighbourhood, network }: Reporter,
  subject: Subject,
  isListed: boolean,
  { ranges, standings }: { ranges: Ranges; standings: Standings },
): Standing {
  if (neighbourhood === subject.neighbourhood) return 'mute'
  if (ranges.is('sensor', address)) return 'sensor'
  return isListed ? 'mute' : standings.of(network)
}
