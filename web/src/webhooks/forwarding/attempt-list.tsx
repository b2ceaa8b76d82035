import { useQuery } from '@tanstack/react-query'
import { LoadingOrError } from '../../ui/feedback/loading.tsx'
import { Table } from '../../ui/lists/table.tsx'
import { ExactTime } from '../../ui/text/date-text.tsx'
import { deliveryQuery } from '../api.ts'
import { deliveries as messages } from '../messages.ts'

/** The attempts of a delivery, with how long each phase took. */
export function AttemptList({ endpointId, id }: { endpointId: string; id: string }) {
  const { data, error } = useQuery(deliveryQuery(endpointId, id))
  return (
    <>
      <LoadingOrError there={data} error={error} lines={2}>
        {messages.loading}
      </LoadingOrError>
      {data && (
        <Table caption={messages.attemptList} quiet columns={messages.attemptColumns}>
          {data.attempts.map((attempt) => (
            <tr key={attempt.number}>
              <td>
                <ExactTime at={attempt.at} />
              </td>
              <td>{attempt.error ?? attempt.status}</td>
              <td>{messages.timings(attempt.durationMs, attempt)}</td>
              <td>{attempt.address}</td>
            </tr>
          ))}
        </Table>
      )}
    </>
  )
}
