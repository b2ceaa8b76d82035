import { useQuery } from '@tanstack/react-query'
import { useDeferredValue, type ReactNode } from 'react'
import { DomainBox } from '../domains/domain-box.tsx'
import { DomainsSection } from '../overview/domains-section.tsx'
import { FirstSteps } from '../overview/first-steps.tsx'
import { HostsSection } from '../overview/hosts-section.tsx'
import { InProgress } from '../overview/in-progress.tsx'
import { IssueList } from '../overview/issue-list.tsx'
import { findInProgress, findIssues, issuesTitle, type OverviewData } from '../overview/issues.ts'
import { overview as messages } from '../overview/messages.ts'
import { OverviewSkeleton } from '../overview/overview-skeleton.tsx'
import { RecentActivity } from '../overview/recent-activity.tsx'
import { useOverview, type Progress } from '../overview/use-overview.ts'
import { accountQuery } from '../queries.ts'
import { Notice } from '../ui/feedback/notice.tsx'
import { Page } from '../ui/layout/page.tsx'

/** Issues first, then the domains and hosts; work in progress and recent activity beside them. */
export function Screen() {
  // Rendered in short steps, between which the browser responds.
  const { data, isNew, progress, problems } = useDeferredValue(useOverview())
  if (!data) return <OverviewSkeleton />
  const failures = problems.map((problem) => (
    <Notice key={problem} tone="unknown">
      {problem}
    </Notice>
  ))
  return isNew ? (
    <Welcome progress={progress}>{failures}</Welcome>
  ) : (
    <Overview data={data} progress={progress}>
      {failures}
    </Overview>
  )
}

type PartProps = { progress: Progress; children: ReactNode }

/** A new account has no issues yet. */
function Welcome({ progress, children }: PartProps) {
  const { data: account } = useQuery(accountQuery)
  return (
    <Page wide title={messages.greeting(account?.name)}>
      {children}
      <DomainBox />
      <FirstSteps isNew progress={progress} />
    </Page>
  )
}

function Overview({ data, progress, children }: PartProps & { data: OverviewData }) {
  const issues = findIssues(data)
  return (
    <Page
      wide
      title={issuesTitle(issues)}
      aside={<DomainBox compact />}
      rail={
        <>
          <InProgress {...findInProgress(data)} />
          <RecentActivity alerts={data.alerts} />
          <FirstSteps isNew={false} progress={progress} />
        </>
      }
    >
      {children}
      {issues.length > 0 && <IssueList issues={issues} />}
      <DomainsSection {...data.watched} />
      <HostsSection {...data.hosts} />
    </Page>
  )
}
