import { utcMinuteText, utcPeriodText } from '../../ui/text/dates.ts'
import { shared } from '../messages.ts'

/** The UTC days that a report covers; hovering shows the exact times. */
export function PeriodText({ begin, end }: { begin: string; end: string }) {
  const exact = shared.exactPeriod(utcMinuteText(new Date(begin)), utcMinuteText(new Date(end)))
  return (
    <time dateTime={begin} title={exact}>
      {utcPeriodText(begin, end)}
    </time>
  )
}
