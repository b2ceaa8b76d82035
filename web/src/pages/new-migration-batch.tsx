import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { batches, type ListDraft } from '../migrations/batches/api.ts'
import { ListForm } from '../migrations/batches/list-form.tsx'
import { form as messages } from '../migrations/batches/messages.ts'
import { CheckField, FieldRow, TextField } from '../ui/forms/form.tsx'
import { Disclosure } from '../ui/layout/disclosure.tsx'
import { Page } from '../ui/layout/page.tsx'
import { BackLink } from '../ui/navigation/back-link.tsx'
import { useAccess } from '../workspaces/roles.ts'

export function Screen() {
  const access = useAccess()
  const navigate = useNavigate()
  const queries = useQueryClient()

  async function create(list: ListDraft, values: Record<string, string>): Promise<void> {
    const { batch } = await batches.create({ ...list, ...optionsOf(values) })
    await queries.invalidateQueries({ queryKey: ['batches', 'list'] })
    await navigate({ to: '/migrations/batches/$id', params: { id: batch.id } })
  }

  return (
    <Page
      title={messages.title}
      above={<BackLink to="/migrations/batches">{messages.back}</BackLink>}
    >
      <ListForm
        {...access}
        submit={messages.submit}
        onSubmit={create}
        before={
          <TextField
            name="name"
            label={messages.name}
            hint={messages.nameHint}
            maxLength={200}
            autoComplete="off"
          />
        }
        after={<OptionFields />}
      />
    </Page>
  )
}

function OptionFields() {
  return (
    <Disclosure summary={messages.options}>
      <CheckField name="specialUse" label={messages.specialUse} defaultChecked />
      <CheckField name="deduplicate" label={messages.deduplicate} defaultChecked />
      <CheckField name="allMailOnce" label={messages.allMailOnce} />
      <TextField name="destPrefix" label={messages.prefix} autoComplete="off" />
      <FieldRow>
        <TextField
          name="sourceLimit"
          label={messages.sourceLimit}
          inputMode="numeric"
          defaultValue="10"
        />
        <TextField
          name="destinationLimit"
          label={messages.destinationLimit}
          inputMode="numeric"
          defaultValue="10"
        />
      </FieldRow>
    </Disclosure>
  )
}

function optionsOf(values: Record<string, string>) {
  return {
    name: (values['name'] ?? '').trim(),
    specialUse: values['specialUse'] === 'on',
    deduplicate: values['deduplicate'] === 'on',
    allMailOnce: values['allMailOnce'] === 'on',
    destPrefix: values['destPrefix'] ?? '',
    sourceLimit: Number(values['sourceLimit']),
    destinationLimit: Number(values['destinationLimit']),
  }
}
