import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { incidentsQuery, mutesQuery } from '../alerts/incidents/api.ts'
import { IncidentsSection } from '../alerts/incidents/incidents-section.tsx'
import { incidents as incidentMessages } from '../alerts/incidents/messages.ts'
import { list as messages } from '../alerts/messages.ts'
import { MutesSection } from '../alerts/silence/mutes.tsx'
import { AlertsSubNavigation } from '../alerts/sub-navigation.tsx'
import { ProblemList } from '../overview/problem-list.tsx'
import { overview as overviewMessages } from '../overview/messages.ts'
import { problemsQuery, type Problems } from '../overview/problems.ts'
import { Empty } from '../ui/feedback/empty.tsx'
import { LoadingOrError } from '../ui/feedback/loading.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Muted, Page } from '../ui/layout/page.tsx'

export function Screen() {
  const { data: incidents, error } = useQuery(incidentsQuery)
  const { data: muted, error: mutesError } = useQuery(mutesQuery)
  const { data: problems, error: problemsError, isPending } = useQuery(problemsQuery)
  // All at once, so that nothing moves.
  const isLoaded = incidents !== undefined && muted !== undefined && !isPending
  return (
    <Page wide title={messages.title} lead={messages.lead}>
      <AlertsSubNavigation />
      <LoadingOrError there={isLoaded || undefined} error={error ?? mutesError} lines={4}>
        {incidentMessages.loading}
      </LoadingOrError>
      {isLoaded && problemsError && <Notice tone="unknown">{problemsError.message}</Notice>}
      {isLoaded && problems && <OpenProblems {...problems} hasAlerts={incidents.total > 0} />}
      {isLoaded && incidents.total > 0 && <IncidentsSection {...incidents} />}
      {isLoaded && <MutesSection mutes={muted} />}
    </Page>
  )
}

/** The problems that the overview and the menu count. */
function OpenProblems({ count, problems, missing, hasAlerts }: Problems & { hasAlerts: boolean }) {
  const isIncomplete = missing.length > 0
  if (count === 0 && !isIncomplete && !hasAlerts) return <NoProblems />
  return (
    <>
      <div role="status">
        {isIncomplete && <Notice tone="unknown">{overviewMessages.incomplete}</Notice>}
        {(count > 0 || !isIncomplete) && (
          <Notice tone={count > 0 ? 'bad' : 'good'}>{overviewMessages.problemCount(count)}</Notice>
        )}
      </div>
      {problems.length > 0 && <ProblemList problems={problems} />}
    </>
  )
}

function NoProblems() {
  return (
    <Empty icon="bell" title={incidentMessages.empty}>
      <p>
        <Muted>{incidentMessages.emptyHint}</Muted>{' '}
        <Link to="/alerts/channels">{messages.yourChannels}</Link>
      </p>
    </Empty>
  )
}
