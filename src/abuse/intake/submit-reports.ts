import type { KnownToken } from './intake.sql.ts'
import type { Submission, SubmissionResult } from './commit.ts'
import type { Intake } from './intake.ts'
import type { AttackReport } from './record-report.ts'

/** Reports of one request with a token that the shared list has accepted. */
type AcceptedReports = {
  /** The token, with the workspace whose server reported. */
  token: KnownToken
  /** The address of the server. */
  server: string
  reports: AttackReport[]
}

/** Does more with accepted reports. What it stores is durable when it resolves. */
export type ReportFollower = (accepted: AcceptedReports) => Promise<void>

export type ReportIntake = {
  /**
   * Submits reports to the shared list, which is the same with and without a token, and then to the
   * followers in their order, when the reports have one.
   * @returns the result of the shared list; everything is durable then
   */
  submit(submission: Submission): Promise<SubmissionResult>
  /** Adds a follower, such as the fleet list of the workspace. */
  follow(follower: ReportFollower): void
}

export function createReportIntake(intake: Pick<Intake, 'submit'>): ReportIntake {
  const followers: ReportFollower[] = []
  return {
    async submit(submission) {
      const receipt = await intake.submit(submission)
      const { token, outcomes } = receipt
      if (token === null || outcomes.length === 0) return receipt
      const reports = submission.reports.filter((_, index) => outcomes[index]?.ignored === false)
      const accepted = { token, server: submission.reporter.address, reports }
      for (const follower of followers) await follower(accepted)
      return receipt
    },
    follow: (follower) => void followers.push(follower),
  }
}
