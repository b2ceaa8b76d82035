import { useQueryClient, type QueryKey } from '@tanstack/react-query'
import { useState } from 'react'
import { FieldRow, Form, TextField } from '../ui/forms/form.tsx'
import { useAccess } from '../workspaces/roles.ts'

type Props = {
  messages: Record<'cidr' | 'label' | 'submit', string>
  onAdd: (network: { cidr: string; label: string }) => Promise<unknown>
  /** The queries that the new network changes. */
  queryKey: QueryKey
}

/** Adds a network with a description to a list of the workspace. */
export function NetworkForm({ messages, onAdd, queryKey }: Props) {
  const access = useAccess()
  const queries = useQueryClient()
  const [added, setAdded] = useState(0)

  async function add({ cidr = '', label = '' }: Record<string, string>): Promise<void> {
    await onAdd({ cidr: cidr.trim(), label: label.trim() })
    setAdded(added + 1)
    await queries.invalidateQueries({ queryKey })
  }

  return (
    <Form {...access} key={added} onSubmit={add} submit={messages.submit}>
      <NetworkFields messages={messages} />
    </Form>
  )
}

/** The fields `cidr` and `label` of a form. */
export function NetworkFields({ messages }: { messages: Record<'cidr' | 'label', string> }) {
  return (
    <FieldRow>
      <TextField name="cidr" label={messages.cidr} placeholder="192.0.2.0/24" spellCheck={false} />
      <TextField name="label" label={messages.label} maxLength={200} />
    </FieldRow>
  )
}
