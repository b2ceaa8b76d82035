import { CheckField, SelectField } from '../../ui/forms/form.tsx'
import type { AlertChannelType, Channel } from '../api.ts'
import { ALERT_KINDS } from '../messages.ts'
import { QuietFields } from '../quiet-fields.tsx'
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
  const { kinds, minSeverity, quietHours, criticalAnytime, actionLinks } = settings
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
      <QuietFields quietHours={quietHours} criticalAnytime={criticalAnytime} texts={messages} />
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
