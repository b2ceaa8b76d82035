import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { FieldRow, Form, SelectField } from '../ui/forms/form.tsx'
import { viewerTimeZone } from '../ui/text/dates.ts'
import { digestQuery, digests, type Digest } from './api.ts'
import { messages } from './messages.ts'

const hourText = (hour: number) => `${String(hour).padStart(2, '0')}:00`

/** The schedule of the viewer’s own digest. */
export function DigestForm({ digest }: { digest: Digest }) {
  const queries = useQueryClient()
  const [saved, setSaved] = useState(false)
  const [chosen, setChosen] = useState<string>(digest.frequency)
  const timeZone = digest.frequency === 'off' ? viewerTimeZone() : digest.timeZone
  const timeZones = [...new Set([timeZone, 'UTC', ...Intl.supportedValuesOf('timeZone')])]

  async function save(values: Record<string, string>): Promise<void> {
    const frequency = (values['frequency'] ?? 'off') as Digest['frequency']
    // The day of a weekly digest is kept while it has none.
    const weekday = Number(values['weekday'] ?? digest.weekday)
    const hour = Number(values['hour'] ?? digest.hour)
    const zone = values['timeZone'] ?? 'UTC'
    const changed = await digests.change({ frequency, weekday, hour, timeZone: zone })
    queries.setQueryData(digestQuery.queryKey, changed)
    setSaved(true)
  }

  return (
    <Form
      onSubmit={save}
      submit={messages.save}
      aside={<span role="status">{saved && messages.saved}</span>}
    >
      <FieldRow>
        <SelectField
          name="frequency"
          label={messages.frequency}
          defaultValue={digest.frequency}
          onChoose={setChosen}
          choices={Object.entries(messages.frequencies).map(([value, label]) => ({ value, label }))}
        />
        {chosen === 'weekly' && (
          <SelectField
            name="weekday"
            label={messages.weekday}
            defaultValue={String(digest.weekday)}
            choices={messages.weekdays.map((label, index) => ({ value: String(index + 1), label }))}
          />
        )}
        <SelectField
          name="hour"
          label={messages.hour}
          defaultValue={String(digest.hour)}
          choices={Array.from({ length: 24 }, (_, hour) => ({
            value: String(hour),
            label: hourText(hour),
          }))}
        />
        <SelectField
          name="timeZone"
          label={messages.timeZone}
          defaultValue={timeZone}
          choices={timeZones.map((zone) => ({ value: zone, label: zone }))}
        />
      </FieldRow>
    </Form>
  )
}
