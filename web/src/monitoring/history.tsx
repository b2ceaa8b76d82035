import { AddressLink } from '../addresses/address-link.tsx'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { Ago } from '../ui/text/ago.tsx'
import { Choice } from '../ui/forms/choice.tsx'
import { Button } from '../ui/actions/button.tsx'
import { utcDayText } from '../ui/text/dates.ts'
import { Section, Muted, Row } from '../ui/layout/page.tsx'
import { PaginationLinks } from '../ui/navigation/pagination.tsx'
import { Table } from '../ui/lists/table.tsx'
import { LoadingOrError } from '../ui/feedback/loading.tsx'
import { historyQuery, type HostChange, type HostDetail, type HistorySearch } from './api.ts'
import { describeChange, history as messages } from './messages.ts'

/** The anchor of the change log. */
export const CHANGES = 'changes'

/** Changes of a host, newest first. */
export function HistorySection({ host: { id, lastCheckAt } }: { host: HostDetail }) {
  const { kind, page = 1, day } = useSearch({ from: '/own/monitoring/$id' })
  const navigate = useNavigate({ from: '/monitoring/$id' })
  const { data, error } = useQuery({
    ...historyQuery(id, { kind, page, day }, lastCheckAt),
    placeholderData: keepPreviousData,
  })
  const go = (search: HistorySearch) => void navigate({ search, replace: true, resetScroll: false })
  return (
    <Section
      id={CHANGES}
      title={messages.title}
      aside={
        <Row>
          {day && (
            <Button size="small" onClick={() => go({ kind })}>
              {messages.allDays(utcDayText(day))}
            </Button>
          )}
          <Choice
            label={messages.kind}
            choices={messages.kinds}
            value={kind ?? 'all'}
            onChange={(value) => go({ day, kind: value === 'all' ? undefined : value })}
          />
        </Row>
      }
    >
      <LoadingOrError there={data} error={error} lines={3}>
        {messages.loading}
      </LoadingOrError>
      {data?.pagination.total === 0 && (
        <Row>
          <Muted>{day ? messages.emptyDay : kind ? messages.emptyKind : messages.empty}</Muted>
          {(day ?? kind) && (
            <Button size="small" onClick={() => go({})}>
              {messages.showAll}
            </Button>
          )}
        </Row>
      )}
      {data && data.pagination.total > 0 && (
        <div>
          <Table caption={messages.title} quiet columns={messages.columns}>
            {data.events.map((change, index) => (
              <ChangeRow key={`${change.at} ${index}`} change={change} />
            ))}
          </Table>
          <PaginationLinks {...data.pagination} onGo={(to) => go({ kind, day, page: to })} />
        </div>
      )}
    </Section>
  )
}

function ChangeRow({ change }: { change: HostChange }) {
  const { at, name, ip, reason, baseline } = change
  return (
    <tr>
      <th scope="row">
        {name}
        {ip && (
          <small>
            <AddressLink address={ip} />
          </small>
        )}
      </th>
      <td>
        {describeChange(change)}
        {reason && <small>{reason}</small>}
      </td>
      <td>
        <Muted>
          <Ago at={at} />
          {baseline && <small>{messages.firstCheck}</small>}
        </Muted>
      </td>
    </tr>
  )
}
