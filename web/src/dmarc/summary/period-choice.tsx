import { Choice } from '../../ui/forms/choice.tsx'
import { DayField } from '../../ui/forms/day-field.tsx'
import { shared } from '../messages.ts'
import { PERIOD_DAYS, periodOf, type Period } from '../search.ts'

type PeriodChoiceProps = {
  period: Period
  /** The days that are shown, from which a period of one's own begins. */
  range: { from: string; to: string } | undefined
  onChange: (period: Period) => void
}

const OWN = 'own'

/** The days that a summary covers: some until today, all, or from one day to another. */
export function PeriodChoice({ period, range, onChange }: PeriodChoiceProps) {
  const { days = 30, from, to } = period
  const isOwn = from !== undefined && to !== undefined
  return (
    <>
      <Choice
        size="normal"
        label={shared.days}
        choices={[
          ...PERIOD_DAYS.map((count) => ({
            value: String(count),
            name: count === 'all' ? shared.allDays : shared.lastDays(count),
          })),
          { value: OWN, name: shared.ownDays },
        ]}
        value={isOwn ? OWN : String(days)}
        onChange={(value) => {
          if (value !== OWN) onChange(periodOf(PERIOD_DAYS.find((one) => String(one) === value)))
          else if (range) onChange({ from: range.from, to: range.to })
        }}
      />
      {isOwn && (
        <>
          <DayField
            label={shared.firstDay}
            value={from}
            onChange={(day) => onChange({ from: day, to: day > to ? day : to })}
          />
          <DayField
            label={shared.lastDay}
            value={to}
            onChange={(day) => onChange({ from: day < from ? day : from, to: day })}
          />
        </>
      )}
    </>
  )
}
