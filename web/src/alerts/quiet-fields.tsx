import { useState, type ReactNode } from 'react'
import { CheckField, FieldRow, SelectField, TextField } from '../ui/forms/form.tsx'
import { viewerTimeZone } from '../ui/text/dates.ts'
import { quiet as messages } from './messages.ts'

type QuietFieldsProps = {
  quietHours: { from: string; to: string; timeZone: string } | null
  criticalAnytime: boolean
  texts: { quietHint: string; criticalAnytime: string }
  /** Fields in front of the hours, such as days. */
  children?: ReactNode
}

/** The hours during which a channel or a rule sends nothing. */
export function QuietFields({ quietHours, criticalAnytime, texts, children }: QuietFieldsProps) {
  const [isQuiet, setQuiet] = useState(quietHours !== null)
  const timeZone = quietHours?.timeZone ?? viewerTimeZone()
  const timeZones = [...new Set([timeZone, 'UTC', ...Intl.supportedValuesOf('timeZone')])]
  return (
    <>
      <CheckField
        name="quiet"
        label={messages.quiet}
        hint={texts.quietHint}
        defaultChecked={isQuiet}
        onChoose={setQuiet}
      />
      {isQuiet && (
        <>
          {children}
          <FieldRow>
            <TextField
              name="from"
              label={messages.from}
              type="time"
              defaultValue={quietHours?.from ?? '22:00'}
            />
            <TextField
              name="to"
              label={messages.to}
              type="time"
              defaultValue={quietHours?.to ?? '07:00'}
            />
            <SelectField
              name="timeZone"
              label={messages.timeZone}
              defaultValue={timeZone}
              choices={timeZones.map((zone) => ({ value: zone, label: zone }))}
            />
          </FieldRow>
          <CheckField
            name="criticalAnytime"
            label={texts.criticalAnytime}
            defaultChecked={criticalAnytime}
          />
        </>
      )}
    </>
  )
}
