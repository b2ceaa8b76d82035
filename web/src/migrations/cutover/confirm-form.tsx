import { FieldRow, Form, SelectField, TextField } from '../../ui/forms/form.tsx'
import { Disclosure } from '../../ui/layout/disclosure.tsx'
import { useQueryClient } from '@tanstack/react-query'
import { useAccess } from '../../workspaces/roles.ts'
import { cutoverQuery, cutovers, type StepName } from './api.ts'
import { cutover as messages } from './messages.ts'

/** Closes the open step by hand, with a note. */
export function ConfirmForm({ batchId, step }: { batchId: string; step: StepName }) {
  const access = useAccess()
  const queries = useQueryClient()
  return (
    <Disclosure summary={messages.confirm}>
      <Form
        {...access}
        kind="plain"
        submit={messages.confirm}
        check={missing}
        onSubmit={async ({ note = '', outcome }) => {
          await cutovers.confirm(batchId, step, {
            outcome: outcome === 'skipped' ? 'skipped' : 'confirmed',
            note: note.trim(),
          })
          await queries.invalidateQueries({ queryKey: cutoverQuery(batchId).queryKey })
        }}
      >
        <FieldRow>
          <SelectField
            name="outcome"
            label={messages.outcome}
            choices={[
              { value: 'confirmed', label: messages.confirmed },
              { value: 'skipped', label: messages.skipped },
            ]}
          />
          <TextField name="note" autoComplete="on" label={messages.note} maxLength={500} />
        </FieldRow>
      </Form>
    </Disclosure>
  )
}

function missing({ note }: Record<string, string>): Record<string, string> {
  return note?.trim() ? {} : { note: messages.needed }
}
