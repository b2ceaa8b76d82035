import { Choice } from '../../ui/forms/choice.tsx'
import { shared } from '../messages.ts'
import { SUMMARY_DAYS, type SummaryDays } from '../search.ts'

type DaysChoiceProps = { days: SummaryDays; onChange: (days: SummaryDays | undefined) => void }

/** The number of days that a summary covers. */
export function DaysChoice({ days, onChange }: DaysChoiceProps) {
  return (
    <Choice
      size="normal"
      label={shared.days}
      choices={SUMMARY_DAYS.map((count) => ({
        value: String(count),
        name: shared.lastDays(count),
      }))}
      value={String(days)}
      onChange={(value) => onChange(SUMMARY_DAYS.find((count) => String(count) === value))}
    />
  )
}
