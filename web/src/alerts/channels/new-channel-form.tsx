import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ApiError } from '../../api.ts'
import { Form, TextField } from '../../ui/forms/form.tsx'
import { Disclosure } from '../../ui/layout/disclosure.tsx'
import { Stack } from '../../ui/layout/page.tsx'
import { useAccess } from '../../workspaces/roles.ts'
import { alerts, channelsQuery, type AlertChannelType, type CreatedAlertChannel } from '../api.ts'
import { create as messages, test as testMessages } from './messages.ts'
import { SENDS_ALL, SendingFields } from './sending-fields.tsx'
import { wrongQuietHours } from '../quiet-hours.ts'
import { SettingFields } from './setting-fields.tsx'
import { newChannelOf, wrongValues } from './setting-values.ts'
import { TestOutcome, type TestState } from './test-outcome.tsx'

type NewChannelFormProps = {
  type: AlertChannelType
  onCreated: (channel: CreatedAlertChannel) => void
}

/** The form for a channel of a service, as the API describes the service. */
export function NewChannelForm({ type, onCreated }: NewChannelFormProps) {
  const access = useAccess()
  const queries = useQueryClient()
  const [tested, setTested] = useState<TestState>(null)

  async function add(values: Record<string, string>): Promise<void> {
    setTested(null)
    const created = await alerts.add(newChannelOf(type, values))
    await queries.invalidateQueries(channelsQuery)
    onCreated(created)
  }
  /** Errors of fields belong to the form; the service’s own are the outcome of the test. */
  async function test(values: Record<string, string>): Promise<void> {
    setTested(null)
    try {
      setTested({ responses: await alerts.testNew(newChannelOf(type, values)) })
    } catch (error) {
      if (!isOutcome(error)) throw error
      setTested({ error })
    }
  }

  return (
    <Stack>
      <Form
        guarded
        {...access}
        onSubmit={add}
        submit={messages.submit}
        {...(type.hasSettings && { also: { submit: testMessages.sendUnsaved, onSubmit: test } })}
        check={(values) => ({ ...wrongValues(type, values), ...wrongQuietHours(values) })}
      >
        <SettingFields type={type} required />
        <TextField
          name="label"
          label={messages.label}
          hint={messages.labelHint}
          placeholder={messages.labelExample}
          maxLength={100}
        />
        <Disclosure summary={messages.more}>
          <Stack>
            <SettingFields type={type} required={false} />
            <SendingFields type={type} settings={SENDS_ALL} />
          </Stack>
        </Disclosure>
      </Form>
      <TestOutcome state={tested} type={type} />
    </Stack>
  )
}

function isOutcome(error: unknown): error is ApiError {
  return error instanceof ApiError && error.code.startsWith('upstream_')
}
