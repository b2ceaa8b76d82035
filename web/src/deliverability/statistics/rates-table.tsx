import { Table } from '../../ui/lists/table.tsx'
import { utcDayText } from '../../ui/text/dates.ts'
import type { SpamRates } from './api.ts'
import { rateText, statistics as messages } from './messages.ts'

/** The numbers of the chart, newest first. */
export function RatesTable({ rates }: { rates: SpamRates }) {
  const { days, providers, dmarc, listings } = rates
  const names = providers.map(({ name }) => name)
  return (
    <Table
      caption={messages.chart}
      quiet
      columns={[messages.dayColumn, ...names, messages.failures, messages.listings]}
    >
      {days.toReversed().map((day) => {
        const failing = dmarc.find((row) => row.day === day)
        const listing = listings.find((row) => row.day === day)
        return (
          <tr key={day}>
            <th scope="row">{utcDayText(day)}</th>
            {providers.map((provider) => (
              <td key={`${provider.provider} ${provider.source}`} data-label={provider.name}>
                {rateText(provider.days.find((row) => row.day === day))}
              </td>
            ))}
            <td data-label={messages.failures}>
              {failing ? messages.failuresOf(failing.failures, failing.messages) : messages.noData}
            </td>
            <td data-label={messages.listings}>
              {listing ? messages.listedOf(listing.listed, listing.hosts) : messages.noData}
            </td>
          </tr>
        )
      })}
    </Table>
  )
}
