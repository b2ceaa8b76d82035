import { useState } from 'react'
import { SelectField, TextField } from '../../ui/forms/form.tsx'
import { CHOSEN_TIME, localMinute, tomorrow, type DurationChoice } from './durations.ts'
import { durations as messages } from './messages.ts'

/** How long: one of several durations, or until a date and time. */
export function DurationFields({ choices }: { choices: DurationChoice[] }) {
  const [chosen, setChosen] = useState(choices[0]?.value)
  return (
    <>
      <SelectField name="duration" label={messages.label} choices={choices} onChoose={setChosen} />
      {chosen === CHOSEN_TIME && (
        <TextField
          name="until"
          label={messages.until}
          type="datetime-local"
          defaultValue={localMinute(tomorrow())}
        />
      )}
    </>
  )
}
