import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { incidentsQuery, mutesQuery } from '../alerts/incidents/api.ts'
import { IncidentsSection } from '../alerts/incidents/incidents-section.tsx'
import { incidents as incidentMessages } from '../alerts/incidents/messages.ts'
import { list as messages } from '../alerts/messages.ts'
import { MutesSection } from '../alerts/silence/mutes.tsx'
import { AlertsSubNavigation } from '../alerts/sub-navigation.tsx'
import { Empty } from '../ui/feedback/empty.tsx'
import { LoadingOrError } from '../ui/feedback/loading.tsx'
import { Muted, Page } from '../ui/layout/page.tsx'

export function Screen() {
  const { data: incidents, error } = useQuery(incidentsQuery)
  const { data: muted, error: mutesError } = useQuery(mutesQuery)
  // Both at once, so that nothing moves.
  const isLoaded = incidents !== undefined && muted !== undefined
  return (
    <Page wide title={messages.title} lead={messages.lead}>
      <AlertsSubNavigation />
      <LoadingOrError there={isLoaded || undefined} error={error ?? mutesError} lines={4}>
        {incidentMessages.loading}
      </LoadingOrError>
      {isLoaded && incidents.total === 0 && <NoProblems />}
      {isLoaded && incidents.total > 0 && <IncidentsSection {...incidents} />}
      {isLoaded && <MutesSection mutes={muted} />}
    </Page>
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
