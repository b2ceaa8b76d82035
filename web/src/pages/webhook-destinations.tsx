import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { CopyButton } from '../ui/actions/copy.tsx'
import { Empty } from '../ui/feedback/empty.tsx'
import { LoadingOrError } from '../ui/feedback/loading.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Card, Section, Stack } from '../ui/layout/page.tsx'
import { destinationsQuery } from '../webhooks/api.ts'
import { DeliveryList } from '../webhooks/forwarding/delivery-list.tsx'
import { DestinationCard } from '../webhooks/forwarding/destination-card.tsx'
import { DestinationForm } from '../webhooks/forwarding/destination-form.tsx'
import { ReplayPanel } from '../webhooks/forwarding/replay-panel.tsx'
import { EndpointPage } from '../webhooks/endpoint-page.tsx'
import { destinations as messages } from '../webhooks/messages.ts'

export function Screen() {
  const { id } = useParams({ from: '/own/hooks/$id/destinations' })
  const { data: destinations, error } = useQuery(destinationsQuery(id))
  const [secret, setSecret] = useState<string | null>(null)
  // A new form after each destination: its fields are empty again.
  const [created, setCreated] = useState(0)
  return (
    <EndpointPage id={id} title={messages.title} lead={messages.lead}>
      <LoadingOrError there={destinations} error={error} lines={3} shape="cards">
        {messages.loading}
      </LoadingOrError>
      <div role="status">{secret !== null && <NewSecret secret={secret} />}</div>
      {destinations && (
        <Section title={messages.yours}>
          {destinations.length === 0 && (
            <Empty icon="hook" title={messages.empty}>
              <p>{messages.emptyHint}</p>
            </Empty>
          )}
          <Stack rows>
            {destinations.map((destination) => (
              <DestinationCard
                key={destination.id}
                endpointId={id}
                destination={destination}
                onSecret={setSecret}
              />
            ))}
          </Stack>
        </Section>
      )}
      <Section title={messages.add}>
        <Card>
          <DestinationForm
            key={created}
            endpointId={id}
            destination={null}
            onDone={(made) => {
              setSecret(made)
              setCreated(created + 1)
            }}
          />
        </Card>
      </Section>
      {destinations && destinations.length > 0 && (
        <>
          <DeliveryList endpointId={id} destinations={destinations} />
          <ReplayPanel endpointId={id} destinations={destinations} />
        </>
      )}
    </EndpointPage>
  )
}

function NewSecret({ secret }: { secret: string }) {
  return (
    <Notice tone="info">
      {messages.secretHint} <code>{secret}</code>{' '}
      <CopyButton text={secret} what={messages.copySecret} />
    </Notice>
  )
}
