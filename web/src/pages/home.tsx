import { useQuery } from '@tanstack/react-query'
import { useDeferredValue, type ReactNode } from 'react'
import { CheckField } from '../check/check-field.tsx'
import { DomainsSection } from '../overview/domains-section.tsx'
import { FirstSteps } from '../overview/first-steps.tsx'
import { HostsSection } from '../overview/hosts-section.tsx'
import { InProgress } from '../overview/in-progress.tsx'
import { ProblemList } from '../overview/problem-list.tsx'
import { findInProgress } from '../overview/find-in-progress.ts'
import { overview as messages } from '../overview/messages.ts'
import { OverviewSkeleton } from '../overview/overview-skeleton.tsx'
import { RecentActivity } from '../overview/recent-activity.tsx'
import { useOverview, type OverviewData, type Progress } from '../overview/use-overview.ts'
import { accountQuery } from '../queries.ts'
import { Notice } from '../ui/feedback/notice.tsx'
import { Page, Section } from '../ui/layout/page.tsx'

/** Problems first, then the domains and hosts; work in progress and recent activity beside them. */
export function Screen() {
  // Rendered in short steps, between which the browser responds.
  const { data, isNew, progress, failures: errors } = useDeferredValue(useOverview())
  if (!data) return <OverviewSkeleton />
  const failures = errors.map((error) => (
    <Notice key={error} tone="unknown">
      {error}
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

/** A new account has no problems yet. */
function Welcome({ progress, children }: PartProps) {
  const { data: account } = useQuery(accountQuery)
  return (
    <Page wide title={messages.greeting(account?.name)}>
      {children}
      <CheckField />
      <FirstSteps isNew progress={progress} />
    </Page>
  )
}

function Overview({ data, progress, children }: PartProps & { data: OverviewData }) {
  const { count, problems, setup, administration, missing } = data.problems
  return (
    <Page
      wide
      title={messages.problemCount(count)}
      aside={<CheckField compact />}
      rail={
        <>
          <InProgress {...findInProgress(data)} />
          <RecentActivity alerts={data.alerts} />
          <FirstSteps isNew={false} progress={progress} />
        </>
      }
    >
      {children}
      {missing.length > 0 && <Notice tone="unknown">{messages.incomplete}</Notice>}
      {problems.length > 0 && <ProblemList problems={problems} />}
      {administration.length > 0 && (
        <Section title={messages.administration}>
          <ProblemList problems={administration} />
        </Section>
      )}
      {setup.length > 0 && (
        <Section title={messages.setup}>
          <ProblemList problems={setup} />
        </Section>
      )}
      <DomainsSection {...data.watched} />
      <HostsSection {...data.hosts} />
    </Page>
  )
}
