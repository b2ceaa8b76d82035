import { useQuery } from '@tanstack/react-query'
import { DomainBox } from '../domains/domain-box.tsx'
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
import { overview as messages } from '../overview/messages.ts'

/** Issues first, then work in progress, monitored hosts and recent activity. */
export function Screen() {
  const { data: account } = useQuery(accountQuery)
  const { data, isNew, progress, problems } = useOverview()
  const greeting = messages.greeting(account?.name)
  if (!data) {
    return (
      <Page title={messages.title}>
        <Loading lines={4}>{messages.loading}</Loading>
      </Page>
    )
  }
  // A new account has no issues yet.
  const issues = isNew ? [] : findIssues(data)
  return (
    <Page title={isNew ? greeting : issuesTitle(issues)}>
      {problems.map((problem) => (
        <Notice key={problem} tone="unknown">
          {problem}
        </Notice>
      ))}
      {issues.length > 0 && <IssueList issues={issues} />}
      {isNew && <FirstSteps isNew progress={progress} />}
      <DomainBox />
      <InProgress {...findInProgress(data)} />
      <HostsSection hosts={data.hosts} />
      <RecentActivity />
      {!isNew && <FirstSteps isNew={false} progress={progress} />}
    </Page>
  )
}
