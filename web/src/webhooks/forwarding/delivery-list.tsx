import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../ui/actions/button.tsx'
import { Notice } from '../../ui/feedback/notice.tsx'
import { LoadingOrError } from '../../ui/feedback/loading.tsx'
import { Status, type Tone } from '../../ui/feedback/status.tsx'
import { SelectField } from '../../ui/forms/form.tsx'
import { Disclosure } from '../../ui/layout/disclosure.tsx'
import { Muted, Section, Stack } from '../../ui/layout/page.tsx'
import { Table } from '../../ui/lists/table.tsx'
import { ExactTime } from '../../ui/text/date-text.tsx'
import { VisuallyHidden } from '../../ui/text/visually-hidden.tsx'
import { useAccess } from '../../workspaces/roles.ts'
import { deliveriesQuery, destinationsOf, type Delivery, type Destination } from '../api.ts'
import { deliveries as messages } from '../messages.ts'
import { AttemptList } from './attempt-list.tsx'
import { destinationName } from './destination-values.ts'

const TONES: Record<Delivery['state'], Tone> = {
  waiting: 'info',
  sending: 'info',
  delivered: 'good',
  dead: 'bad',
  held: 'unknown',
  dropped: 'bad',
  unsendable: 'bad',
  cancelled: 'unknown',
}

type DeliveryListProps = { endpointId: string; destinations: Destination[] }

/** The newest deliveries of an endpoint. */
export function DeliveryList({ endpointId, destinations }: DeliveryListProps) {
  const [state, setState] = useState('')
  const [problem, setProblem] = useState('')
  const queries = useQueryClient()
  const { data: rows, error } = useQuery(deliveriesQuery(endpointId, state))
  const names = new Map(destinations.map((each) => [each.id, destinationName(each)]))

  async function retry(id: string): Promise<void> {
    setProblem('')
    try {
      await destinationsOf(endpointId).retry(id)
      await queries.invalidateQueries(deliveriesQuery(endpointId, state))
    } catch (fault) {
      setProblem((fault as Error).message)
    }
  }

  return (
    <Section title={messages.title}>
      <Stack>
        <SelectField
          name="state"
          label={messages.state}
          choices={[
            { value: '', label: messages.any },
            ...Object.entries(messages.states).map(([value, label]) => ({ value, label })),
          ]}
          onChoose={setState}
        />
        <LoadingOrError there={rows} error={error} lines={4}>
          {messages.loading}
        </LoadingOrError>
        {rows?.length === 0 && <Muted>{messages.empty}</Muted>}
        {rows && rows.length > 0 && (
          <Table caption={messages.title} quiet columns={[...messages.columns]}>
            {rows.map((delivery) => (
              <DeliveryRow
                key={delivery.id}
                endpointId={endpointId}
                delivery={delivery}
                name={names.get(delivery.destinationId) ?? ''}
                onRetry={retry}
              />
            ))}
          </Table>
        )}
        <div role="alert">{problem && <Notice tone="bad">{problem}</Notice>}</div>
      </Stack>
    </Section>
  )
}

type DeliveryRowProps = {
  endpointId: string
  delivery: Delivery
  name: string
  onRetry: (id: string) => Promise<void>
}

function DeliveryRow({ endpointId, delivery, name, onRetry }: DeliveryRowProps) {
  const access = useAccess()
  const { id, state, requestId, createdAt, attempts, status, error, uncertain, edited } = delivery
  const isOver = state !== 'waiting' && state !== 'sending' && state !== 'unsendable'
  return (
    <tr>
      <td>
        <Status tone={TONES[state]}>{messages.states[state]}</Status>
      </td>
      <td>{name}</td>
      <td>
        <Link to="/hooks/$id" params={{ id: endpointId }} search={{ request: requestId }}>
          <VisuallyHidden>{messages.request}</VisuallyHidden> <ExactTime at={createdAt} />
        </Link>
      </td>
      <td>
        {messages.attempts(attempts)}
        {status !== null && ` · ${status}`}
        {edited && ` · ${messages.edited}`}
        {uncertain && ` · ${messages.uncertain}`}
        {error !== null && state !== 'delivered' && ` · ${error}`}
        {attempts > 0 && (
          <Disclosure summary={messages.attemptList}>
            {() => <AttemptList endpointId={endpointId} id={id} />}
          </Disclosure>
        )}
      </td>
      <td>
        {isOver && (
          <Button {...access} size="small" kind="quiet" onClick={() => void onRetry(id)}>
            {messages.retry} <VisuallyHidden>{messages.retryAbout(createdAt)}</VisuallyHidden>
          </Button>
        )}
      </td>
    </tr>
  )
}
