import { useQuery } from '@tanstack/react-query'
import { relaysQuery, type Relay } from '../attacks/relays/api.ts'
import { relays as messages } from '../attacks/relays/messages.ts'
import { RelayCard } from '../attacks/relays/relay-card.tsx'
import { ReportTable } from '../attacks/relays/report-table.tsx'
import { LoadingOrError } from '../ui/feedback/loading.tsx'
import { Page, Section, Stack } from '../ui/layout/page.tsx'

export function Screen() {
  const { data, error } = useQuery(relaysQuery)
  const nameOf = (service: string) => data?.find((one) => one.service === service)?.name ?? service
  return (
    <Page title={messages.title} lead={messages.lead}>
      <LoadingOrError there={data} error={error} lines={6}>
        {messages.loading}
      </LoadingOrError>
      {data && <Services relays={data} />}
      {data?.some(({ settings }) => settings !== null) && <ReportTable nameOf={nameOf} />}
    </Page>
  )
}

function Services({ relays }: { relays: Relay[] }) {
  return (
    <Section title={messages.services}>
      <Stack>
        {relays.map((relay) => (
          <RelayCard key={relay.service} relay={relay} />
        ))}
      </Stack>
    </Section>
  )
}
