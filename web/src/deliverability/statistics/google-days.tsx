import { Table } from '../../ui/lists/table.tsx'
import { utcDayText } from '../../ui/text/dates.ts'
import type { PostmasterDay } from './api.ts'
import { statistics as messages } from './messages.ts'

/** What Google counted, newest first. */
export function GoogleDays({ days }: { days: PostmasterDay[] }) {
  return (
    <Table caption={messages.counts} quiet columns={messages.countColumns}>
      {days.toReversed().map((day) => (
        <DayRow key={day.day} day={day} />
      ))}
    </Table>
  )
}

function DayRow({ day }: { day: PostmasterDay }) {
  const [, rateColumn, errorsColumn, spfColumn, dkimColumn, dmarcColumn, tlsColumn] =
    messages.countColumns
  return (
    <tr>
      <th scope="row">{utcDayText(day.day)}</th>
      <td data-label={rateColumn}>
        {messages.percentage(day.spamRate)}
        {day.loops.map(({ id, spamRate }) => (
          <small key={id}>{messages.loop(id, spamRate)}</small>
        ))}
      </td>
      <td data-label={errorsColumn}>
        {messages.errors(day)}
        {day.errors.map(({ type, reason, count }) => (
          <small key={`${type} ${reason}`}>{messages.reason(reason, count)}</small>
        ))}
      </td>
      <td data-label={spfColumn}>{messages.share(day.spfRate)}</td>
      <td data-label={dkimColumn}>{messages.share(day.dkimRate)}</td>
      <td data-label={dmarcColumn}>{messages.share(day.dmarcRate)}</td>
      <td data-label={tlsColumn}>{messages.share(day.tlsInboundRate)}</td>
    </tr>
  )
}
