import { useQuery } from '@tanstack/react-query'
import { CheckBox } from '../check/check-box.tsx'
import { FirstSteps } from '../overview/first-steps.tsx'
import { RecentActivity } from '../overview/recent-activity.tsx'
import { IssueList } from '../overview/issue-list.tsx'
import { findIssues, findInProgress, issuesTitle } from '../overview/issues.ts'
import { InProgress } from '../overview/in-progress.tsx'
import { useOverview } from '../overview/use-overview.ts'
import { HostsSection } from '../overview/hosts-section.tsx'
import { accountQuery } from '../queries.ts'
import { Notice } from '../ui/feedback/notice.tsx'
import { Page } from '../ui/layout/page.tsx'
import { Loading } from '../ui/feedback/loading.tsx'

/** What needs the person, before anything else; then what goes on, what is watched, and what happened. */
export function Screen() {
  const { data: account } = useQuery(accountQuery)
  const { things, isNew, problems } = useOverview()
  const greeting = account?.name ? `Good to see you, ${account.name}` : 'Good to see you'
  if (!things) {
    return (
      <Page title="Overview">
        <Loading lines={4}>Looking around …</Loading>
      </Page>
    )
  }
  // Who has begun nothing misses nothing yet.
  const needs = isNew ? [] : findIssues(things)
  return (
    <Page title={isNew ? greeting : issuesTitle(needs)}>
      {problems.map((problem) => (
        <Notice key={problem} tone="unknown">
          {problem}
        </Notice>
      ))}
      {needs.length > 0 && <IssueList needs={needs} />}
      <CheckBox />
      <InProgress {...findInProgress(things)} />
      <HostsSection hosts={things.hosts} />
      <RecentActivity />
      <FirstSteps isNew={isNew} />
    </Page>
  )
}
