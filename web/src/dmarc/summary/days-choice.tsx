import { Choice } from '../../ui/forms/choice.tsx'
import { SUMMARY_DAYS, type SummaryDays } from '../search.ts'

/** Over how many days is summed up. */
export function DaysChoice({
  days,
  onChange,
}: {
  days: SummaryDays
  onChange: (days: SummaryDays | undefined) => void
}) {
  return (
    <Choice
      size="normal"
      label="How long back"
      choices={SUMMARY_DAYS.map((span) => ({ value: String(span), name: `Last ${span} days` }))}
      value={String(days)}
      onChange={(value) => onChange(SUMMARY_DAYS.find((span) => String(span) === value))}
    />
  )
}
