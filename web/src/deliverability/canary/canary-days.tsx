import { useQuery } from '@tanstack/react-query'
import { LoadingOrError } from '../../ui/feedback/loading.tsx'
import { Muted } from '../../ui/layout/page.tsx'
import { Table } from '../../ui/lists/table.tsx'
import { utcDayText } from '../../ui/text/dates.ts'
import { canaryDaysQuery, type CanaryDay } from './api.ts'
import { canary as messages, providerName } from './messages.ts'

/** Outcomes of a canary by provider and day. A day without mails is not in it. */
export function CanaryDays({ id }: { id: string }) {
  const { data, error } = useQuery(canaryDaysQuery(id))
  return (
    <>
      <LoadingOrError there={data} error={error} lines={3} shape="table">
        {messages.loading}
      </LoadingOrError>
      {data && data.length === 0 && (
        <p>
          <Muted>{messages.noDays}</Muted>
        </p>
      )}
      {data && data.length > 0 && (
        <Table caption={messages.days} quiet columns={messages.dayColumns}>
          {rowsOf(data).map(({ day, provider, outcomes }) => (
            <tr key={`${day} ${provider}`}>
              <th scope="row">{utcDayText(day)}</th>
              <td data-label={messages.dayColumns[1]}>{providerName(provider)}</td>
              <td data-label={messages.dayColumns[2]}>
                {outcomes.map(messages.outcome).join(', ')}
              </td>
            </tr>
          ))}
        </Table>
      )}
    </>
  )
}

/** The newest day first. */
function rowsOf(days: CanaryDay[]): { day: string; provider: string; outcomes: CanaryDay[] }[] {
  const groups = Map.groupBy(days, ({ day, provider }) => `${day} ${provider}`)
  return [...groups.values()]
    .flatMap((outcomes) => {
      const [first] = outcomes
      return first ? [{ day: first.day, provider: first.provider, outcomes }] : []
    })
    .toReversed()
}
