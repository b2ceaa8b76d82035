import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { CheckField, FieldRow, Form, SelectField, TextField } from '../ui/forms/form.tsx'
import { viewerTimeZone } from '../ui/text/dates.ts'
import { alerts, channelsQuery, type Channel } from './api.ts'
import classes from './settings-form.module.css'
import { kindField, settingsOf, wrongSettings } from './settings.ts'
import { ALERT_KINDS, settings as messages } from './messages.ts'
import { useAccess } from '../workspaces/roles.ts'

type SettingsFormProps = { channel: Channel; onDone: () => void }

/** Label, events and quiet hours of a channel. */
export function SettingsForm({ channel, onDone }: SettingsFormProps) {
  const access = useAccess()
  const queries = useQueryClient()
  const { id, label, kinds } = channel

  async function save(values: Record<string, string>): Promise<void> {
    await alerts.change(id, settingsOf(values, kinds))
    await queries.invalidateQueries(channelsQuery)
    onDone()
  }

  return (
    <Form {...access} onSubmit={save} submit={messages.save} check={wrongSettings}>
      <TextField
        name="label"
        label={messages.label}
        defaultValue={label}
        maxLength={100}
        autoComplete="off"
      />
      <fieldset className={classes.kinds}>
        <legend>{messages.events}</legend>
        {Object.entries(ALERT_KINDS).map(([kind, { name }]) => (
          <CheckField
            key={kind}
            name={kindField(kind)}
            label={name}
            defaultChecked={kinds === null || kinds.includes(kind)}
          />
        ))}
      </fieldset>
      <QuietFields channel={channel} />
    </Form>
  )
}

function QuietFields({ channel: { quietHours } }: { channel: Channel }) {
  const [isQuiet, setQuiet] = useState(quietHours !== null)
  const timeZone = quietHours?.timeZone ?? viewerTimeZone()
  const timeZones = [...new Set([timeZone, 'UTC', ...Intl.supportedValuesOf('timeZone')])]
  return (
    <>
      <CheckField
        name="quiet"
        label={messages.quiet}
        hint={messages.quietHint}
        defaultChecked={isQuiet}
        onChoose={setQuiet}
      />
      {isQuiet && (
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
      )}
    </>
  )
}
