import { useQueryClient } from '@tanstack/react-query'
import { Form, TextField } from '../../ui/forms/form.tsx'
import { useAccess } from '../../workspaces/roles.ts'
import { alerts, channelsQuery, type AlertChannelType, type Channel } from '../api.ts'
import { channel as messages, create } from './messages.ts'
import { SendingFields } from './sending-fields.tsx'
import { sendingOf } from './sending.ts'
import { wrongQuietHours } from '../quiet-hours.ts'
import { SettingFields } from './setting-fields.tsx'
import { changedSettings, wrongValues } from './setting-values.ts'

type EditFormProps = { channel: Channel; type: AlertChannelType; onDone: () => void }

/** Name, settings, events and quiet hours of a channel. Saved secrets are not filled in. */
export function EditForm({ channel, type, onDone }: EditFormProps) {
  const access = useAccess()
  const queries = useQueryClient()
  const { id, label, kinds } = channel
  const shown = channel.settings ?? {}
  const saved = new Set(
    type.fields.filter(({ name, secret }) => secret && name in shown).map(({ name }) => name),
  )

  function check(values: Record<string, string>): Record<string, string> {
    const settings = type.hasSettings ? wrongValues(type, values, saved) : {}
    return { ...settings, ...wrongQuietHours(values) }
  }
  async function save(values: Record<string, string>): Promise<void> {
    const settings = type.hasSettings ? changedSettings(type, shown, values) : {}
    const isChanged = Object.keys(settings).length > 0
    await alerts.change(id, { ...sendingOf(values, kinds, type), ...(isChanged && { settings }) })
    await queries.invalidateQueries(channelsQuery)
    onDone()
  }

  return (
    <Form {...access} onSubmit={save} submit={messages.save} check={check}>
      <TextField name="label" autoFocus label={create.label} defaultValue={label} maxLength={100} />
      {type.hasSettings && (
        <>
          <SettingFields type={type} required saved={shown} />
          <SettingFields type={type} required={false} saved={shown} />
        </>
      )}
      <SendingFields type={type} settings={channel} />
    </Form>
  )
}
