import { useState } from 'react'
import { CheckField, FieldRow, SelectField, TextField } from '../../ui/forms/form.tsx'
import { viewerTimeZone } from '../../ui/text/dates.ts'
import type { AlertChannelType, Channel } from '../api.ts'
import { ALERT_KINDS } from '../messages.ts'
import { sending as messages } from './messages.ts'
import { kindField } from './sending.ts'
import classes from './sending-fields.module.css'

export type SendingSettings = Pick<
  Channel,
  'kinds' | 'minSeverity' | 'quietHours' | 'criticalAnytime' | 'actionLinks'
>

export const SENDS_ALL: SendingSettings = {
  kinds: null,
  minSeverity: null,
  quietHours: null,
  criticalAnytime: false,
  actionLinks: true,
}

type SendingFieldsProps = { type: AlertChannelType; settings: SendingSettings }

/** Which alerts a channel sends, and when. */
export function SendingFields({ type, settings }: SendingFieldsProps) {
  const { kinds, minSeverity, actionLinks } = settings
  return (
    <>
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
      <SelectField
        name="minSeverity"
        label={messages.severity}
        defaultValue={minSeverity ?? ''}
        choices={[
          { value: '', label: messages.allSeverities },
          ...Object.entries(messages.severities).map(([value, label]) => ({ value, label })),
        ]}
      />
      <QuietFields settings={settings} />
      {type.hasActionLinks && (
        <CheckField
          name="actionLinks"
          label={messages.actionLinks}
          hint={messages.actionLinksHint}
          defaultChecked={actionLinks}
        />
      )}
    </>
  )
}

function QuietFields({ settings: { quietHours, criticalAnytime } }: { settings: SendingSettings }) {
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
        <>
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
            label={messages.criticalAnytime}
            defaultChecked={criticalAnytime}
          />
        </>
      )}
    </>
  )
}
