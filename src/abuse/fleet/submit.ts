import type { SubmissionResult, Submission } from '../intake/commit.ts'
import type { Intake } from '../intake/intake.ts'
import type { RelayQueue } from '../relays/relay-queue.ts'
import type { FleetRecorder } from './bans/recorder.ts'

/**
 * Submits reports to the shared list and, when they have a token, to the fleet list of its
 * workspace. The shared list is the same with and without a token.
 * Other services and networks get them later, where the workspace wants that.
 * @returns the result of the shared list; everything is durable then
 */
export function submitWithFleet(
  intake: Intake,
  { recorder }: { recorder: FleetRecorder },
  queues: readonly Pick<RelayQueue, 'add'>[],
): (submission: Submission) => Promise<SubmissionResult> {
  return async (submission) => {
    const receipt = await intake.submit(submission)
    const { token, outcomes } = receipt
    if (token === null || outcomes.length === 0) return receipt
    const accepted = submission.reports.filter((_, index) => outcomes[index]?.ignored === false)
    const reports = accepted.map(({ subject, service, count }) => ({
      address: subject.key,
      service,
      count,
    }))
    const { workspaceId, ...named } = token
    await recorder.record({
      workspaceId,
      token: named,
      server: submission.reporter.address,
      reports,
    })
    const relayed = accepted.map(({ subject, ...report }) => ({ ...report, address: subject.ip }))
    for (const queue of queues) await queue.add(workspaceId, relayed)
    return receipt
  }
}
