import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import {
  AreaField,
  CheckField,
  FieldRow,
  Form,
  SelectField,
  TextField,
} from '../../ui/forms/form.tsx'
import { Disclosure } from '../../ui/layout/disclosure.tsx'
import { Stack } from '../../ui/layout/page.tsx'
import { useAccess } from '../../workspaces/roles.ts'
import { destinationsOf, destinationsQuery, type Destination } from '../api.ts'
import { headersText } from '../endpoint-settings.ts'
import {
  DESTINATION_ORDERS,
  DESTINATION_SIGNINGS,
  destinationForm as messages,
} from '../messages.ts'
import { parseDestination, validateDestination } from './destination-values.ts'

type DestinationFormProps = {
  endpointId: string
  /** The destination to edit; null for a new one. */
  destination: Destination | null
  /** Called with the secret of a new destination. */
  onDone: (secret: string | null) => void
}

export function DestinationForm({ endpointId, destination, onDone }: DestinationFormProps) {
  const access = useAccess()
  const queries = useQueryClient()

  async function save(values: Record<string, string>): Promise<void> {
    const settings = parseDestination(values)
    const destinations = destinationsOf(endpointId)
    let secret: string | null = null
    if (destination) await destinations.change(destination.id, settings)
    else secret = (await destinations.create(settings)).secret
    await queries.invalidateQueries(destinationsQuery(endpointId))
    onDone(secret)
  }

  return (
    <Form
      guarded
      {...access}
      onSubmit={save}
      submit={destination ? messages.save : messages.create}
      check={validateDestination}
    >
      <TextField
        name="label"
        label={messages.label}
        defaultValue={destination?.label ?? ''}
        placeholder={messages.labelExample}
        maxLength={100}
      />
      <TextField
        name="url"
        label={messages.url}
        hint={messages.urlHint}
        defaultValue={destination?.url ?? ''}
        placeholder="https://shop.example.com/hooks"
        maxLength={2_000}
        spellCheck={false}
      />
      <Disclosure summary={messages.advanced}>
        <AdvancedFields destination={destination} />
      </Disclosure>
    </Form>
  )
}

function AdvancedFields({ destination }: Pick<DestinationFormProps, 'destination'>) {
  const [mode, setMode] = useState<string>(destination?.order.mode ?? 'none')
  return (
    <Stack>
      <SelectField
        name="sign"
        label={messages.sign}
        hint={messages.signHint}
        choices={DESTINATION_SIGNINGS}
        defaultValue={destination?.sign ?? 'standard'}
      />
      <FieldRow>
        <SelectField
          name="order.mode"
          label={messages.order}
          choices={DESTINATION_ORDERS}
          defaultValue={mode}
          onChoose={setMode}
        />
        {mode === 'key' && (
          <TextField
            name="order.key"
            label={messages.orderKey}
            hint={messages.orderKeyHint}
            defaultValue={destination?.order.key ?? ''}
            maxLength={200}
            spellCheck={false}
          />
        )}
      </FieldRow>
      <FieldRow>
        <TextField
          name="concurrency"
          label={messages.concurrency}
          inputMode="numeric"
          defaultValue={String(destination?.concurrency ?? 5)}
        />
        <TextField
          name="perMinute"
          label={messages.perMinute}
          inputMode="numeric"
          defaultValue={String(destination?.perMinute ?? '')}
        />
        <TextField
          name="timeoutSeconds"
          label={messages.timeout}
          inputMode="numeric"
          defaultValue={String(destination?.timeoutSeconds ?? 20)}
        />
      </FieldRow>
      <AreaField
        name="headers"
        label={messages.headers}
        hint={messages.headersHint}
        rows={2}
        defaultValue={headersText(destination?.headers ?? [])}
      />
      <AreaField
        name="when"
        label={messages.conditions}
        hint={messages.conditionsHint}
        rows={2}
        defaultValue={JSON.stringify(destination?.when ?? {})}
      />
      <AreaField
        name="change"
        label={messages.change}
        hint={messages.changeHint}
        rows={2}
        defaultValue={destination?.change ? JSON.stringify(destination.change) : ''}
      />
      <TextField
        name="finalStatuses"
        label={messages.finalStatuses}
        hint={messages.finalStatusesHint}
        defaultValue={destination?.finalStatuses.join(', ') ?? ''}
      />
      <CheckField
        name="skipRepeats"
        label={messages.skipRepeats}
        hint={messages.skipRepeatsHint}
        defaultChecked={destination?.skipRepeats ?? false}
      />
    </Stack>
  )
}
