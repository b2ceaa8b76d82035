import type { Transaction } from 'kysely'
import { raiseAlert, raiseResolved } from '../alerts/raise.ts'
import type { DB } from '../store/tables.ts'
import type { PublicFeed } from './feed-catalogue.ts'
import { feedProblemAlert, feedResolvedAlert } from './messages.ts'
import { listAlertedWorkspaces, type FeedProblem } from './public-feeds.sql.ts'

type State = { problem: FeedProblem | null; problemText: string }

/** Alerts those who use a feed, and administrators, when a problem begins, changes or ends. */
export async function reportProblemChange(
  trx: Transaction<DB>,
  feed: PublicFeed,
  before: Pick<State, 'problem'>,
  after: State,
  at: Date,
): Promise<void> {
  const { problem, problemText } = after
  if (problem === before.problem) return
  const common = {
    key: `feed ${feed.id} ${problem ?? 'resolved'} ${at.toISOString()}`,
    incident: `feed/${feed.id}`,
    path: '/attacks/feeds',
    objects: [feed.id],
    at,
  }
  for (const workspaceId of await listAlertedWorkspaces(trx, feed.id)) {
    if (problem === null)
      await raiseResolved(trx, { workspaceId, kind: 'feed.resolved', ...common, ...feedResolvedAlert(feed) }) // prettier-ignore
    else
      await raiseAlert(trx, {
        workspaceId,
        kind: 'feed.held',
        phase: 'open',
        severity: 'warning',
        ...common,
        ...feedProblemAlert(feed, problem, problemText),
      })
  }
}
