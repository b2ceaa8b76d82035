import { setTimeout as sleep } from 'node:timers/promises'
import { commitGroup, type CommitDeps, type SubmissionResult, type Submission } from './commit.ts'
import { createKeyedGroupCommit } from './report-commits.ts'
import { ensurePartitions } from './partitions.ts'
import { createLimitedSources, RATE } from './rate.ts'

export type Intake = {
  /**
   * Stores the reports of a request; resolves when they are durable.
   * @throws Fault `unavailable` when more reports arrive than can be stored
   */
  submit(submission: Submission): Promise<SubmissionResult>
  close(): Promise<void>
}

/** Reports in one commit, and reports that may wait for one. */
const MAX_REPORTS_PER_COMMIT = 1_000
const MAX_WAITING_REPORTS = 20_000

/** SQLSTATEs of the database: another instance was faster, or the day has no partition. */
const CONFLICT_SQLSTATES = new Set(['40001', '40P01'])
const NO_PARTITION = '23514'
const MAX_TRIES = 20

/**
 * @param clock milliseconds since 1970
 * @param onReceipt called with the result of every request, accepted or rejected
 */
export function createIntake(
  deps: CommitDeps,
  clock: () => number,
  onReceipt?: (receipt: SubmissionResult) => void,
): Intake {
  const turnedAway = createLimitedSources()
  const commits = createKeyedGroupCommit<Submission, SubmissionResult>({
    // Two groups with the same counter would wait for each other.
    commit: (group, slot) => commitWithRetries({ ...deps, lane: deps.lane + slot }, group, clock),
    sizeOf: ({ reports }) => reports.length,
    keysOf: ({ reporter: { source, site }, reports }) => [
      source,
      ...(site === null ? [] : [site]),
      ...reports.map(({ subject }) => subject.key),
    ],
    most: MAX_REPORTS_PER_COMMIT,
    patience: MAX_WAITING_REPORTS,
  })
  async function submitUnlessLimited(submission: Submission): Promise<SubmissionResult> {
    const { source } = submission.reporter
    const until = turnedAway.find(source, clock())
    if (until !== undefined) return rejectionUntil(until, clock())
    const receipt = await commits.submit(submission)
    if (receipt.allowance.remaining === 0)
      turnedAway.note(source, clock() + receipt.allowance.reset * 1000)
    return receipt
  }

  return {
    async submit(submission) {
      const receipt = await submitUnlessLimited(submission)
      onReceipt?.(receipt)
      return receipt
    },
    close: () => commits.close(),
  }
}

function rejectionUntil(until: number, now: number): SubmissionResult {
  const reset = Math.min(RATE.window / 1000, Math.max(1, Math.ceil((until - now) / 1000)))
  return {
    allowance: { allowed: false, remaining: 0, reset },
    outcomes: [],
    unknownToken: false,
    token: null,
  }
}

async function commitWithRetries(
  deps: CommitDeps,
  group: Submission[],
  clock: () => number,
): Promise<SubmissionResult[]> {
  for (let tries = 1; ; tries++) {
    try {
      return await commitGroup(deps, group, clock())
    } catch (error) {
      const { code = '' } = error as { code?: string }
      // The nightly job creates partitions in advance. If it has failed for a week, reports are
      // stored nevertheless.
      if (code === NO_PARTITION) await ensurePartitions(deps.store.db, clock())
      else if (!CONFLICT_SQLSTATES.has(code)) throw error
      if (tries === MAX_TRIES) throw error
      await sleep(Math.random() * tries)
    }
  }
}
